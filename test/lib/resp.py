"""A plain client of the lock service: it sends words, and returns replies exactly as they arrived."""
import socket

PATIENCE_S = 60


class Wrong(str):
    """An error reply."""


class Push(list):
    """An out-of-band message of version 3."""


class Closed(Exception):
    """The node has ended the connection."""


def encode(*words):
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


class Client:
    """`address`: the path of a socket, or (host, port). `wrap` adds TLS to the connection."""

    def __init__(self, address, patience=PATIENCE_S, wrap=None):
        family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        try:
            self.socket.settimeout(patience)
            self.socket.connect(address)
            self.socket = wrap(self.socket) if wrap else self.socket
        except OSError:
            self.socket.close()
            raise
        self.left = b""

    def send(self, *words):
        self.socket.sendall(encode(*words))

    def send_bytes(self, data):
        self.socket.sendall(data)

    def call(self, *words):
        self.send(*words)
        return self.read()

    def _more(self):
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            raise Closed()
        self.left += data

    def _line(self):
        while b"\r\n" not in self.left:
            self._more()
        line, self.left = self.left.split(b"\r\n", 1)
        return line

    def _bytes(self, size):
        while len(self.left) < size + 2:
            self._more()
        data, end, self.left = self.left[:size], self.left[size:size + 2], self.left[size + 2:]
        assert end == b"\r\n", end
        return data

    def read(self):
        """Returns the next reply. Texts are str if they are UTF-8."""
        line = self._line()
        sign, rest = line[:1], line[1:]
        if sign == b"+":
            return rest.decode()
        if sign == b"-":
            return Wrong(rest.decode())
        if sign == b":":
            return int(rest)
        if sign == b"$":
            return None if rest == b"-1" else self._text(self._bytes(int(rest)))
        if sign == b"_":
            assert rest == b"", line
            return None
        if sign == b"*":
            return [self.read() for _ in range(int(rest))]
        if sign == b">":
            return Push(self.read() for _ in range(int(rest)))
        if sign == b"%":
            return {self.read(): self.read() for _ in range(int(rest))}
        raise AssertionError(f"no reply: {line!r}")

    @staticmethod
    def _text(data):
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data

    def quiet(self, seconds=0.1):
        """Checks that nothing has arrived and that nothing arrives during this time."""
        if self.left:
            return False
        self.socket.settimeout(seconds)
        try:
            self._more()
            return False
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(PATIENCE_S)

    def closed(self):
        """Waits for the end of the connection, and discards data that arrives before it."""
        try:
            while True:
                self.left = b""
                self._more()
        except Closed:
            return True

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
