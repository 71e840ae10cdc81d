"""Runs baton web for tests: the process, plain requests, and event streams."""
import json
import os
import socket
import subprocess

from baton import BATON, LEAKS
from cluster import PATIENCE_S, environment

PROGRAM = os.path.join(os.path.dirname(BATON), "baton-web")


class Web:
    """A `baton web` that ends with the test: `test.enterContext(Web(...))`."""

    def __init__(self, *words, env=None):
        self.process = subprocess.Popen([BATON, "web", "--listen", "127.0.0.1:0", *words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, text=True, env=environment(**LEAKS, **(env or {})))
        self.address = self.process.stdout.readline().strip()
        self.port = int(self.address.rsplit(":", 1)[1].rstrip("/"))
        self.host = f"127.0.0.1:{self.port}"

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def exchange(self, bytes_):
        """Sends bytes on a new connection. Returns everything that the server sends until it closes."""
        with self.connect() as connection:
            connection.sendall(bytes_)
            answer = b""
            try:
                while part := connection.recv(1 << 16):
                    answer += part
            except ConnectionResetError:
                pass
            return answer

    def request(self, path, method="GET", body=b"", **headers):
        """Returns the status, the headers and the body. In the names of headers, an underscore stands for a hyphen."""
        headers = {"Host": self.host, "Connection": "close",
                   **{name.replace("_", "-"): value for name, value in headers.items()}}
        if body or method == "POST":
            headers["Content-Length"] = str(len(body))
        head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
        answer = self.exchange(head.encode() + body)
        head, _, rest = answer.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        return int(lines[0].split()[1]), dict(line.lower().split(": ", 1) for line in lines[1:]), rest

    def code(self, path, method="GET", body=b"", **headers):
        return self.request(path, method, body, **headers)[0]

    def json(self, path, **headers):
        return json.loads(self.request(path, **headers)[2])

    def metrics(self):
        """Returns the samples of a scrape: name with labels -> value."""
        code, _, text = self.request("/metrics")
        assert code == 200
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
                for line in text.decode().splitlines() if not line.startswith("#")}

    def fds(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def rss_kb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("VmRSS")).split()[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        code = self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        assert code == 0, f"baton web ended with {code}"


class Stream:
    """An event stream. `feed` takes bytes as they arrive; `next` waits for the next event."""

    def __init__(self, web):
        self.connection = web.connect()
        self.connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: {web.host}\r\n\r\n".encode())
        self.raw = b""
        self.text = b""
        self.head = None
        self.events = []

    def feed(self, bytes_):
        self.raw += bytes_
        if self.head is None and b"\r\n\r\n" in self.raw:
            self.head, _, self.raw = self.raw.partition(b"\r\n\r\n")
        while self.head is not None:
            size, found, rest = self.raw.partition(b"\r\n")
            if not found or len(rest) < int(size, 16) + 2:
                break
            self.text += rest[:int(size, 16)]
            self.raw = rest[int(size, 16) + 2:]
        *whole, self.text = self.text.split(b"\n\n")
        for block in whole:
            fields = dict(line.split(": ", 1) for line in block.decode().split("\n") if ": " in line)
            if "event" in fields:
                self.events.append((fields["event"], json.loads(fields["data"])))

    def next(self, *kinds):
        """Returns the data of the next event of one of these kinds; without kinds, (kind, data) of the next event."""
        while True:
            while self.events:
                kind, data = self.events.pop(0)
                if not kinds:
                    return kind, data
                if kind in kinds:
                    return data
            part = self.connection.recv(1 << 16)
            assert part, "the stream has ended"
            self.feed(part)

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
