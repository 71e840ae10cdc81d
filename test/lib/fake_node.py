"""A fake node, which sends answers and events that a real one rarely sends."""
import contextlib
import fcntl
import socket
import struct
import termios
import threading


class FakeNode:
    """Answers like a node, except for commands whose answer the test sets; None ends the connection, and a function returns the
    answer. The path may be (host, port). Remembers all commands, and which connections have subscribed."""

    def __init__(self, path, answers, lease_ms=3000):
        hello = [b"node", b"fake", b"lease_ms", lease_ms]
        self.answers = {"HELLO": b"*%d\r\n" % len(hello) + b"".join(
            b":%d\r\n" % item if isinstance(item, int) else b"$%d\r\n%s\r\n" % (len(item), item) for item in hello),
            "CLIENT": b"+OK\r\n", "CLIENT LEASES": b"-ERR CLIENT knows no leases\r\n", "UNLOCK": b":1\r\n", **answers}
        self.path, self.commands, self.threads, self.subscribers, self.clients = path, [], [], [], []
        self.listener = socket.socket(socket.AF_UNIX if isinstance(path, str) else socket.AF_INET)
        self.listener.bind(path)
        self.listener.listen()

    def take(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.clients.append(client)
            self.threads.append(threading.Thread(target=self.serve, args=(client,)))
            self.threads[-1].start()

    def serve(self, client):
        with client, client.makefile("rb") as stream:
            while line := stream.readline():
                words = []
                for _ in range(int(line[1:])):
                    words.append(stream.read(int(stream.readline()[1:]) + 2)[:-2].decode())
                self.commands.append(words)
                if words[0] == "SUBSCRIBE":
                    name = words[1].encode()
                    self.subscribers.append(client)
                    client.sendall(b"*3\r\n$9\r\nsubscribe\r\n$%d\r\n%s\r\n:1\r\n" % (len(name), name))
                    continue
                answer = self.answers.get(" ".join(words[:2]), self.answers.get(words[0], b""))
                if callable(answer):
                    answer = answer()
                if answer is None:
                    client.shutdown(socket.SHUT_RDWR)
                    return
                if answer:
                    client.sendall(answer)

    def publish(self, name, message):
        for client in self.subscribers:
            words = [b"message", name.encode(), message.encode()]
            client.sendall(b"*3\r\n" + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))

    def unread(self):
        """Returns how much published data is still unread, in no particular unit."""
        return sum(struct.unpack("i", fcntl.ioctl(client, termios.TIOCOUTQ, bytes(4)))[0] for client in self.subscribers)

    def __enter__(self):
        self.threads.append(threading.Thread(target=self.take))
        self.threads[0].start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.threads[0].join()
        for client in self.clients:
            with contextlib.suppress(OSError): # the client may have ended already
                client.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.listener.close()
