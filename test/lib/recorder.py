"""Runs clients that each run a command under a lock, and records a history of what they did (history.py). The command is
test/system/insider.c."""
import itertools
import json
import mmap
import os
import random
import signal
import struct
import subprocess
import threading
import time

from baton import BATON
from cluster import environment
from service import with_in_environment

INSIDER = os.path.join(os.environ.get("BUILD", os.path.dirname(BATON)), "test", "insider")
LOCKS_MAX, HOLDS_MAX = 512, 1 << 20  # the same as in the insider


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Attempt:
    """One `baton run` while it is running."""

    def __init__(self, hold, lock, node, process):
        self.hold, self.lock, self.node, self.process = hold, lock, node, process
        self.meddled = False  # at most one fault for each client: after two, perhaps nobody could stop the command

    def keepers(self):
        """Returns the processes of `baton run`, its guardian and the command; None for one that does not exist."""
        run = self.process.pid
        guardian = next(iter(children_of(run)), None)
        return run, guardian, next(iter(children_of(guardian)), None) if guardian else None

    def processes(self):
        """Returns all these processes, and the command's children."""
        found = [self.process.pid]
        for pid in found:
            found += children_of(pid)
        return found


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def send(pid, number):
    """Sends a signal to a process that may have ended. Returns whether it existed."""
    try:
        os.kill(pid, number)
        return True
    except (ProcessLookupError, TypeError):
        return False


class Recorder:
    def __init__(self, folder):
        self.folder = folder
        self.path = os.path.join(folder, "history.jsonl")
        self.file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with open(os.path.join(folder, "shared"), "w+b") as shared:
            shared.truncate(8 * (LOCKS_MAX + HOLDS_MAX))
            self.shared = mmap.mmap(shared.fileno(), 0)
        self.numbers = itertools.count(1)
        self.running = {}
        self.lock = threading.Lock()

    def note(self, ev, t=None, **fields):
        line = json.dumps({"t": now_ns() if t is None else t, "ev": ev, **fields}) + "\n"
        assert os.write(self.file, line.encode()) == len(line)

    def attempt(self, client, lock, node, ms, manner="", options=()):
        """Runs the insider under a lock. Returns the exit code of `baton run`."""
        hold = next(self.numbers)
        assert hold < HOLDS_MAX
        read, write = os.pipe()
        self.note("asked", hold=hold, client=client, lock=f"l{lock}", node=node.name)
        words = [BATON, "run", "-S", node.socket, "--status-fd", str(write), *options, f"l{lock}", "--",
                 INSIDER, self.folder, str(hold), str(lock), str(ms), manner or "-"]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[write],
                              env=environment(BATON_NEMESIS=self.folder)) as process:
            os.close(write)
            with self.lock:
                self.running[hold] = Attempt(hold, lock, node, process)
            with open(read, encoding="utf-8") as file:
                text = file.read()
            code = process.wait()
        with self.lock:
            del self.running[hold]
        status = json.loads(text) if text.endswith("\n") else {}
        self.note("answered", hold=hold, code=code, lost=status.get("lost"), fence=status.get("fence") if status.get("acquired") else None)
        return code

    def holders(self):
        """Returns the attempts that are inside."""
        with self.lock:
            return [attempt for hold, attempt in self.running.items() if self.alive_ns(hold) != 0]

    def alive_ns(self, hold):
        return struct.unpack_from("=Q", self.shared, 8 * (LOCKS_MAX + hold))[0]

    def greatest(self, lock):
        """Returns the greatest fence that the register of a lock has seen."""
        return struct.unpack_from("=Q", self.shared, 8 * lock)[0]

    def processes(self):
        """Returns the remaining processes of all clients."""
        return with_in_environment(f"BATON_NEMESIS={self.folder}\0")

    def finish(self):
        """Ends the history, after every client has ended. Returns the processes that are still there."""
        for pid in self.processes():
            send(pid, signal.SIGCONT)
        end = time.monotonic() + 10
        while self.processes() and time.monotonic() < end:
            time.sleep(0.05)
        left = self.processes()
        for pid in left:
            send(pid, signal.SIGKILL)
        for hold in range(1, next(self.numbers)):
            if self.alive_ns(hold) != 0:
                self.note("gone", t=self.alive_ns(hold), hold=hold)
        self.note("end")
        os.close(self.file)
        return left


class Crowd:
    """Clients that ask for random locks until they are told to end, each in its own thread."""

    def __init__(self, recorder, nodes, clients, locks, lease_ms, seed):
        self.recorder, self.nodes, self.locks, self.lease_ms = recorder, nodes, locks, lease_ms
        self.over = threading.Event()
        self.failures = []
        self.threads = [threading.Thread(target=self.guarded, args=(number, random.Random(seed * 1000 + number)), daemon=True)
                        for number in range(clients)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def guarded(self, number, draw):
        try:
            self.client(number, draw)
        except BaseException as failure: # pylint: disable=broad-exception-caught
            self.failures.append(f"client {number}: {type(failure).__name__}: {failure}")

    def client(self, number, draw):
        while not self.over.wait(draw.expovariate(10)):
            # Most holds are short. Some outlast a lease, so that many faults find a holder.
            ms = draw.choice((5, 20, 100, *(round(part * self.lease_ms) for part in (0.5, 1.5, 3))))
            manner = ("c" if draw.random() < 0.3 else "") + ("t" if draw.random() < 0.5 else "")
            options = ["-w", f"{draw.randint(1, 20)}s"] if draw.random() < 0.9 else ["-n"]
            code = self.recorder.attempt(number, draw.randrange(self.locks), draw.choice(self.nodes), ms, manner, options)
            if code == 69: # no node answers, so wait a while before the next attempt
                self.over.wait(0.2)

    def end(self, patience=60):
        self.over.set()
        end = time.monotonic() + patience
        for thread in self.threads:
            if thread.ident is not None:
                thread.join(max(0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in self.threads)
