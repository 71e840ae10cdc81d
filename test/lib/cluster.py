"""Clusters of real daemons for tests: each has its own folder, ports and sockets, and leaves nothing behind."""
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from baton import BATON, LEAKS
from resp import Client, Closed, Wrong

SANITIZED = os.environ.get("SANITIZE", "none") != "none"
# A lease so long that it does not end while a test watches a silent node, even on a busy machine.
LONG_LEASE = ("--lease", "30s" if SANITIZED else "15s")
PATIENCE_S = 60  # how long to wait for an event that must happen; it is never a limit under test


PORTS_FIRST, PORTS_BLOCK, PORTS_BLOCKS = 15000, 50, 340  # below 32768, above which outgoing connections get their ports
_drawing = threading.Lock()


def _ports():
    """Draws ports in blocks. A file lock, kept until this process ends, makes a block this
    process's own. (Blocks that were derived from the process's number alone overlapped when a test
    drew more than one.)"""
    folder = os.path.join(tempfile.gettempdir(), f"baton-test-ports-{os.getuid()}")
    os.makedirs(folder, exist_ok=True)
    for number in range(os.getpid(), os.getpid() + PORTS_BLOCKS):
        block = number % PORTS_BLOCKS
        file = open(os.path.join(folder, str(block)), "w", encoding="ascii") # pylint: disable=consider-using-with
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            continue
        _kept.append(file)
        yield from range(PORTS_FIRST + block * PORTS_BLOCK, PORTS_FIRST + (block + 1) * PORTS_BLOCK)
    raise AssertionError("no block of ports is left")


_kept = []
_drawn = _ports()


def free_port(kind=socket.SOCK_STREAM):
    """Returns a free port of 127.0.0.1, which no test of this machine gets as long as this process lives."""
    with _drawing:
        for port in _drawn:
            with socket.socket(socket.AF_INET, kind) as probe:
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    continue
                return port
    raise AssertionError("all ports were drawn")


def until(what, predicate, patience=PATIENCE_S):
    """Asks repeatedly until the predicate returns something true, and returns that. The longer it
    has waited, and the longer an answer takes, the less often it asks: otherwise questions that
    start a process would keep a processor busy."""
    begun = time.monotonic()
    while True:
        asked = time.monotonic()
        found = predicate()
        if found:
            return found
        now = time.monotonic()
        assert now < begun + patience, f"not within {patience} s: {what() if callable(what) else what}"
        time.sleep(max(0.01, min(0.1, (now - begun) / 50), min(0.2, 3 * (now - asked))))


def environment(**more):
    """Returns the environment of the tests, without variables that a daemon would obey."""
    kept = {name: value for name, value in os.environ.items()
            if name not in ("NOTIFY_SOCKET", "JOURNAL_STREAM", "BATON_SOCKET")}
    return {**kept, **more}


def takes_clients(path):
    """Retries, because a socket exists a moment before it accepts connections."""
    try:
        Client(path).close()
        return True
    except OSError:
        return False


class Node:
    def __init__(self, folder, name, options, prefix=(), env=None):
        self.name = name
        self.socket = os.path.join(folder, name + ".sock")
        self.log_path = os.path.join(folder, name + ".log")
        self.data = os.path.join(folder, name + ".data")
        self.options = list(options)
        self.prefix = list(prefix)
        self.env = env or {}
        self.named = True # whether --name is given at the start
        self.process = None
        self.killed = False

    def start(self):
        assert self.process is None
        self.killed = False
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, BATON, "node", *(["--name", self.name] if self.named else []), "--socket", self.socket,
                 *self.options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(**LEAKS, **self.env))
        return self

    def client(self, version=2):
        client = Client(self.socket)
        if version != 2:
            client.call("HELLO", version)
        return client

    def status(self, *words):
        with self.client() as client:
            return json.loads(client.call("STATUS", *words))

    def members(self):
        """Returns the members by name, asked as `baton member list` asks, without a process for each question; none if the node
        cannot tell."""
        try:
            with self.client() as client:
                told = client.call("MEMBER", "LIST")
        except (OSError, Closed):
            return {}
        return {} if isinstance(told, Wrong) else {member["name"]: member for member in json.loads(told)["members"]}

    def serves(self):
        assert self.process.poll() is None, f"{self.name} has ended:\n{self.log()}"
        try:
            return self.status()["waiting_for"] is None
        except (OSError, Closed): # a node drops its clients when it becomes part of a cluster
            return False

    def answers(self):
        return takes_clients(self.socket)

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def says(self, text, patience=PATIENCE_S):
        """Waits for a line in the node's log."""
        until(lambda: f"'{text}' in the log of {self.name}:\n{self.log()}", lambda: text in self.log(), patience)

    def signal(self, number):
        os.kill(self.process.pid, number)
        if number == signal.SIGKILL:
            self.killed = True
            self.wait()

    def wait(self):
        code = self.process.wait(PATIENCE_S)
        self.process = None
        return code

    def terminate(self):
        """Waits until the node has started: before that, SIGTERM would end it like any process."""
        until(f"{self.name} has begun or ended", lambda: os.path.exists(self.socket) or self.process.poll() is not None)
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGTERM)

    def end(self):
        """Sends SIGTERM. Returns the exit code."""
        self.terminate()
        return self.wait()

    def fds(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def rss_kb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


class Cluster:
    """`count` nodes n1, n2, …, all with the same options. `peers_of(cluster, index)` may give each of them other addresses. With
    several nodes each has a data directory; a single node keeps everything in memory."""

    def __init__(self, count, *options, peers_of=None, each=None):
        self.folder = tempfile.mkdtemp(prefix="baton-test-")
        width = len(str(count))
        self.names = [f"n{number:0{width}d}" for number in range(1, count + 1)]
        self.ports = [free_port() for _ in range(count)]
        self.nodes = []
        for index, name in enumerate(self.names):
            node = Node(self.folder, name, options)
            if count > 1:
                node.options += ["--data", node.data, "--listen", f"127.0.0.1:{self.ports[index]}", "--peers",
                                 peers_of(self, index) if peers_of else self.peers()]
            node.options += each(index) if each else []
            self.nodes.append(node)

    def peers(self, ports=None):
        return ",".join(f"{name}=127.0.0.1:{port}" for name, port in zip(self.names, ports or self.ports))

    def __getitem__(self, index):
        return self.nodes[index]

    def __iter__(self):
        return iter(self.nodes)

    def start(self):
        for node in self.nodes:
            node.start()
        return self.ready()

    def ready(self):
        for node in self.nodes:
            until(lambda node=node: f"{node.name} serves:\n{self.logs()}", node.serves)
        return self

    def logs(self):
        return "".join(f"--- {node.name}\n{node.log()}" for node in self.nodes if os.path.exists(node.log_path))

    def end(self):
        """Lets all nodes leave. Each must exit with 0 and without a sanitizer's report. Then removes the folder."""
        codes = {}
        try:
            for node in self.nodes:
                if node.process is not None and node.process.poll() is None:
                    os.kill(node.process.pid, signal.SIGCONT)
                    node.terminate()
            for node in self.nodes:
                if node.process is not None:
                    codes[node.name] = node.wait()
            logs = self.logs()
            assert not any(codes.values()), f"exits {codes}\n{logs}"
            assert "Sanitizer" not in logs and "runtime error" not in logs, logs
            left = {name for name in os.listdir(self.folder) if name.endswith(".sock")}
            killed = {node.name + ".sock" for node in self.nodes if node.killed}
            patient = {node.name + ".sock" for node in self.nodes
                       if os.path.exists(node.log_path) and "nothing is granted for" in node.log()}
            assert killed <= left <= killed | patient, f"{left} is left behind\n{logs}"
        finally:
            self.clear()

    def clear(self):
        for node in self.nodes:
            if node.process is not None and node.process.poll() is None:
                node.process.kill()
                node.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.clear()
            raise

    def __exit__(self, kind, *_):
        if kind is not None:
            print(self.logs())
        self.end()
