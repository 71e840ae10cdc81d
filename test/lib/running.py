"""A node that runs during a test, and programs that use it."""
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile

from baton import BATON, LEAKS

PATIENCE = 60  # a limit in seconds; a correct program needs milliseconds


class Node:
    """A cluster of one node on a Unix socket in its own folder. With `test.enterContext` it ends with the test."""

    def __init__(self, *words):
        self.folder = tempfile.mkdtemp(prefix="baton-test-")
        self.socket = os.path.join(self.folder, "socket")
        self.words = words
        self.environment = {**os.environ, "BATON_SOCKET": self.socket}
        self.process = None

    def start(self):
        """Returns when the node says that it serves."""
        path = os.path.join(self.folder, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, \
                open(os.path.join(self.folder, "log"), "ab") as log:
            notify.bind(path)
            notify.settimeout(PATIENCE)
            self.process = subprocess.Popen([BATON, "node", "--name", "n1", "--socket", self.socket, *self.words],
                                            env={**os.environ, "NOTIFY_SOCKET": path, **LEAKS},
                                            stdin=subprocess.DEVNULL, stderr=log)
            while b"READY=1" not in notify.recv(4096):
                pass
        os.unlink(path)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self.process = None
        return code

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8") as file:
            return file.read()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        code = self.stop() if self.process is not None else 0
        log = self.log()
        shutil.rmtree(self.folder)
        assert code == 0, f"baton node ended with {code}:\n{log}"


class Program:
    """A program that a test talks to line by line."""

    def __init__(self, *words, environment=None):
        self.process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def line(self):
        """Returns the next line that it prints, without its end."""
        text = b""
        while not text.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                raise AssertionError(f"{self.process.args} says nothing more after {text!r}")
            byte = os.read(self.process.stdout.fileno(), 1)
            if byte == b"":
                raise AssertionError(f"{self.process.args} ended after {text!r}: {self.process.stderr.read().decode()}")
            text += byte
        return text.decode().rstrip("\n")

    def tell(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        """Closes its input and waits for its end. Returns the exit code, and the rest of its output and errors."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out.decode(), err.decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


def redis_cli(node, *words):
    """Runs one command on its own connection."""
    return subprocess.run(["redis-cli", "-s", node.socket, *map(str, words)], capture_output=True, text=True, check=True,
                          timeout=PATIENCE).stdout.rstrip("\n")
