"""Shared by tests: runs baton and reads its output."""
import atexit
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading

BATON = os.environ.get("BATON", os.path.join(os.path.dirname(__file__), "../../build/baton"))
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
# The environment in which a sanitized server looks for leaks, although commands do not (test/meson.build).
LEAKS = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "").replace(":detect_leaks=0", "")}


def obey_signals():
    """Stops ignoring signals. A test that a shell starts in the background ignores Ctrl-C, and every process it starts would
    too."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


obey_signals()
os.umask(0o022) # a node refuses files that its group can write


def fingerprint(program=BATON):
    """Returns a text that differs from one build of the program to another."""
    with open(program, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit {self.code}\n{self.out}{self.err}"


def memory_file(text=""):
    file = open(os.memfd_create("stream"), "w+b", buffering=0)
    file.write(text.encode())
    file.seek(0)
    return file


class Forks:
    """Runs commands of the laboratory in forks of one process that is linked from baton's objects (forks.c), because starting the
    program takes most of the processor time of a short command. Options of sanitizers are read only when that process starts."""
    COMMANDS = ("algorithms", "check", "choose", "compare", "help", "replay", "sim")
    UNLIKE = re.compile(r"--open|/dev/std")  # words that need the program itself, or pipes
    LONGEST = 90000  # bytes of a request

    def __init__(self):
        self.program = os.path.join(os.path.dirname(BATON), "test", "forks")
        self.exists = os.path.exists(self.program)  # not where baton is installed
        self.process = self.socket = None
        self.lock = threading.Lock()

    def start(self):
        self.socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self.process = subprocess.Popen([self.program, str(other.fileno())], pass_fds=[other.fileno()])  # pylint: disable=consider-using-with
        atexit.register(self.end)

    def end(self):
        atexit.unregister(self.end)
        self.socket.close()
        self.process.wait()
        self.process = None

    def run(self, words, stdin):
        """Returns the result, or None if a program must be started for it."""
        if not self.exists or not words or words[0] not in self.COMMANDS or any(map(self.UNLIKE.search, words)):
            return None
        variables = (f"{name}={value}" for name, value in os.environ.items())
        request = b"".join(os.fsencode(text) + b"\0" for text in (os.getcwd(), BATON, *words, "", *variables))
        if len(request) > self.LONGEST or not self.lock.acquire(blocking=False):
            return None
        try:
            if self.process is None:
                self.start()
            with memory_file(stdin) as into, memory_file() as out, memory_file() as err:
                socket.send_fds(self.socket, [request], [into.fileno(), out.fileno(), err.fileno()])
                answer = self.socket.recv(16)
                assert answer, f"{self.program} has ended"
                texts = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode() for file in (out, err)]
                return Result(os.waitstatus_to_exitcode(int.from_bytes(answer, sys.byteorder)), *texts)
        except BaseException: # a late answer must not be taken for that to the next request
            if self.process is not None:
                self.process.kill()
                self.end()
            raise
        finally:
            self.lock.release()


forks = Forks()


def baton(*words, stdin="", fork=True):
    """Runs baton. A word may contain several words, separated by blanks. Without `fork` the program is started."""
    arguments = [part for word in words for part in str(word).split()]
    if fork and (result := forks.run(arguments, stdin)):
        return result
    done = subprocess.run([BATON, *arguments], input=stdin, capture_output=True, text=True, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def report(*words, expect=0):
    """Runs baton with --json and returns the object. `expect` is the exit code; None allows any."""
    result = baton(*words, "--json")
    assert expect is None or result.code == expect, result
    return json.loads(result.out)


def sim(*words, expect=0):
    return report("sim", *words, expect=expect)


def check(*words, expect=0):
    return report("check", *words, expect=expect)


def no_violation_over(seeds, *words):
    """Does many runs. On a failure, shows the seed that reproduces it."""
    for run in sim(*words, f"--seeds {seeds}")["runs"]:
        assert run["violations"] == 0, f"baton sim {' '.join(words)} --seed {run['seed']}"
