"""What the tests share: running baton, and reading what it says."""
import json
import os
import subprocess

BATON = os.environ.get("BATON", os.path.join(os.path.dirname(__file__), "../../build/baton"))
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


class Result:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    def __repr__(self):
        return f"exit {self.code}\n{self.out}{self.err}"


def baton(*words, stdin=""):
    """Runs baton; a word may hold several, separated by blanks."""
    arguments = [part for word in words for part in str(word).split()]
    return Result(subprocess.run([BATON, *arguments], input=stdin, capture_output=True, text=True, check=False))


def report(*words, expect=0):
    """Runs baton with --json and gives the object; expect: the exit, None: whichever."""
    result = baton(*words, "--json")
    assert expect is None or result.code == expect, result
    return json.loads(result.out)


def sim(*words, expect=0):
    return report("sim", *words, expect=expect)


def check(*words, expect=0):
    return report("check", *words, expect=expect)


def no_violation_over(seeds, *words):
    """Many runs; fails with the seed that replays it."""
    for run in sim(*words, f"--seeds {seeds}")["runs"]:
        assert run["violations"] == 0, f"baton sim {' '.join(words)} --seed {run['seed']}"
