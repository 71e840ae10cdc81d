"""Shared by the tests of run, lock, elect, observe and break: a node, and processes that are watched from outside."""
import json
import os
import shutil
import signal
import subprocess
import unittest

from baton import BATON
from cluster import until
from running import PATIENCE, Node


def stat_of(pid):
    """Returns the state, parent, group and session of a process, or None if it no longer exists."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return fields[0], int(fields[1]), int(fields[2]), int(fields[3])


def is_alive(pid):
    stat = stat_of(pid)
    return stat is not None and stat[0] not in "ZX"


def program_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
        return file.read().strip()


def with_in_environment(*texts):
    """Returns the processes whose environment had all these variables when they started."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                environment = file.read()
            if name.isdigit() and all(text.encode() in environment for text in texts) and is_alive(int(name)):
                found.append(int(name))
        except OSError:
            pass
    return found


class ServiceTest(unittest.TestCase):
    """Each test gets a node and a folder. Every process that it starts is ended."""

    lease = "3s"

    def setUp(self):
        self.node = Node("--name", "alpha", "--lease", self.lease)
        self.folder, self.environment = self.node.folder, self.node.environment
        self.addCleanup(shutil.rmtree, self.folder)
        self.node.start()
        self.addCleanup(self.end_node)
        self.addCleanup(self.end_all)

    def end_node(self):
        if self.node.process is not None:
            self.node.process.send_signal(signal.SIGCONT)
            self.assertEqual(self.node.stop(), 0, self.node.log())

    def end_all(self):
        for pid in with_in_environment(self.node.socket):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def commands(self, lock):
        """Returns the processes of all commands that were run under the lock here."""
        return with_in_environment(f"BATON_LOCK={lock}\0", f"BATON_SOCKET={self.node.socket}\0")

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name):
        """Returns the content of a file, as soon as it has a complete line."""
        def whole():
            try:
                with open(self.path(name), encoding="utf-8") as file:
                    text = file.read()
            except FileNotFoundError:
                return None
            return text if text.endswith("\n") else None
        return until(f"{name} is written", whole)

    def start(self, *words, **options):
        """Starts baton with these words."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
                   "env": self.environment, "cwd": self.folder, **options}
        process = subprocess.Popen([BATON, *words], **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.wait(PATIENCE)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()

    def finish(self, process, stdin=None):
        """Waits for the end of a process. Returns (exit code, stdout, stderr)."""
        out, err = process.communicate(stdin, timeout=PATIENCE)
        return process.returncode, out, err

    def run_baton(self, *words, **options):
        return self.finish(self.start(*words, **options))

    def with_status(self, *words, **options):
        """Runs baton run. Returns (exit code, the reports of --status-fd, stderr)."""
        read, write = os.pipe()
        process = self.start("run", "--status-fd", str(write), *words, pass_fds=[write], **options)
        os.close(write)
        code, _, err = self.finish(process)
        with open(read, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count("\n"), 1)
        return code, json.loads(text), err

    def hold(self, lock):
        """Holds the lock; close the input of the result to release it."""
        holder = self.start("lock", lock, stdin=subprocess.PIPE)
        holder.fence = int(holder.stdout.readline())
        return holder

    def let_go(self, holder):
        holder.stdin.close()
        self.assertEqual(holder.wait(PATIENCE), 0)

    def wait_for_waiters(self, lock, count=1):
        """Waits until this many clients wait for the lock at the node."""
        def there():
            status = self.status(lock)
            return status["locks"] and len(status["locks"][0]["waiters"]) >= count
        until(f"{count} wait for {lock}", there)

    def status(self, pattern="*"):
        return json.loads(self.run_baton("status", pattern, "--json")[1])
