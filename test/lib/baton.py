"""Shared by tests: runs baton and reads its output."""
import hashlib
import json
import os
import signal
import subprocess

BATON = os.environ.get("BATON", os.path.join(os.path.dirname(__file__), "../../build/baton"))
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


def obey_signals():
    """Stops ignoring signals. A test that a shell starts in the background ignores Ctrl-C, and every process it starts would
    too."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


obey_signals()


def fingerprint(program=BATON):
    """Returns a text that differs from one build of the program to another."""
    with open(program, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


class Result:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    def __repr__(self):
        return f"exit {self.code}\n{self.out}{self.err}"


def baton(*words, stdin=""):
    """Runs baton. A word may contain several words, separated by blanks."""
    arguments = [part for word in words for part in str(word).split()]
    return Result(subprocess.run([BATON, *arguments], input=stdin, capture_output=True, text=True, check=False))


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
