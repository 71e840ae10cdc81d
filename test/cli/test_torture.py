"""Tests baton torture: its report, its replays, and that it notices a broken assumption."""
import os
import re
import signal
import subprocess
import tempfile
import unittest

from baton import BATON, baton, report
from cluster import until

FIELDS = ["runs", "violations", "seeds_violated", "grants", "views", "lapses", "faults", "events", "seconds"]
# Clocks that are wrong by 15 %, and the options that make such an error matter.
BROKEN = "torture --faults clock,pause,crash --time 40s"
SEEDS = 10  # of these seeds, 1 and 8 are violated


def catches(pid, number):
    """Tells whether the process has a handler for that signal."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        caught = re.search(r"^SigCgt:\s*(\w+)$", file.read(), re.M).group(1)
    return int(caught, 16) >> (number - 1) & 1


class Torture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broken = baton(f"{BROKEN} --seeds 1..{SEEDS}")

    def test_fields_of_the_report(self):
        run = report("torture --seeds 1..3 --time 20s")
        self.assertEqual(list(run), FIELDS)
        self.assertEqual((run["runs"], run["violations"], run["seeds_violated"]), (3, 0, []))
        self.assertGreater(run["grants"], 100)
        self.assertGreater(sum(run["faults"].values()), 3)
        self.assertNotIn("clock", run["faults"])

    def test_one_node_and_no_faults(self):
        run = report("torture --seeds 1..2 --nodes 1 --faults none --time 10s")
        self.assertEqual((run["violations"], run["faults"], run["lapses"]), (0, {}, 0))
        self.assertEqual(run["views"], 2)

    def test_a_clock_beyond_its_bound_is_found_and_shrunk(self):
        done = self.broken
        self.assertEqual((done.code, done.err), (1, ""))
        self.assertRegex(done.out, r"(?m)^seed \d+: VIOLATED, at ")
        command = re.search(r"^  baton (torture .*)$", done.out, re.M).group(1)
        faults = re.search(r" --only ([\d,]+)$", command).group(1).split(",")
        self.assertLessEqual(len(faults), 12)
        again = baton(command)
        self.assertEqual(again.code, 1)
        self.assertIn(re.search(r"VIOLATED, (.*)", done.out).group(1), again.out)

    def test_the_same_seed_gives_the_same_trace_and_another_another(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = []
            for name, seed in (("a", 5), ("b", 5), ("c", 6)):
                path = os.path.join(folder, name)
                self.assertEqual(baton(f"torture --seeds {seed}..{seed} --time 20s --trace {path}").code, 0)
                with open(path, encoding="utf-8") as file:
                    texts.append(file.read())
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])
        self.assertIn("everything is mended", texts[0])

    def test_the_real_log_runs_and_the_same_seed_gives_the_same_trace(self):
        first, second, other = (baton(f"torture --engine {engine} --seeds 5..5 --time 20s --trace -").out
                                for engine in ("raft", "raft", "atomic"))
        told = [out[:out.index("neilsen, 5 nodes")] for out in (first, second, other)]
        self.assertEqual(told[0], told[1])
        self.assertNotEqual(told[0], told[2])
        self.assertRegex(told[0], r"leads in term \d+")

    def test_a_trace_ends_with_the_violation_that_is_told(self):
        seed = report(f"{BROKEN} --seeds 1..{SEEDS}", expect=1)["seeds_violated"][0]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace")
            done = baton(f"{BROKEN} --seeds {seed}..{seed} --trace {path}")
            with open(path, encoding="utf-8") as file:
                last = file.read().splitlines()[-1]
        self.assertEqual(re.search(r"VIOLATED, (.*)", done.out).group(1), re.search(r"VIOLATION (.*)", last).group(1))
        self.assertIn("with all its faults", done.out)
        self.assertNotIn("are enough", done.out)

    def test_an_interrupt_tells_how_far_it_got(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            words = [BATON, *"torture --seeds 1..1000000 --time 20s --threads 1".split()]
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                until("a handler", lambda: catches(process.pid, number))
                process.send_signal(number)
                out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, -number)
            runs = re.fullmatch(r"baton torture: interrupted after (\d+) of 1000000 seeds\n", err).group(1)
            self.assertIn(f" {runs} run", out)

    def test_an_assertion_tells_its_seed_and_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            # A single seed is traced into a pipe that nobody reads, so that the signal comes within its run.
            words = [BATON, *f"torture --seeds 12..12 --engine atomic --faults crash --trace {folder}/pipe".split()]
            os.mkfifo(f"{folder}/pipe")
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                with open(f"{folder}/pipe", encoding="utf-8") as pipe:
                    self.assertNotEqual(pipe.readline(), "")
                    process.send_signal(signal.SIGABRT) # as abort() does
                    err = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, -signal.SIGABRT)
        self.assertRegex(err, r"\Atorture: seed 12, engine atomic; this repeats the run:\n"
                              r"  baton torture --seeds 12\.\.12 .* --engine atomic --faults crash\n\Z")

    def test_a_replay_names_its_engine(self):
        command = re.search(r"^  baton (torture .*)$", self.broken.out, re.M).group(1) # raft is the default
        self.assertIn(" --engine raft ", command)
        self.assertEqual(baton(command).code, 1)

    def test_a_fault_that_is_left_out_does_not_change_the_others(self):
        def faults(words):
            out = baton(f"torture --seeds 7..7 --trace - {words}").out
            return re.findall(r"fault (\d+): (.*)", out)

        every = faults("")
        self.assertGreater(len(every), 3)
        only = [every[0], every[2]]
        self.assertEqual(faults(f"--only {only[0][0]},{only[1][0]}"), only)

    def test_a_diagram_has_a_row_for_each_host(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.svg")
            self.assertEqual(baton(f"torture --seeds 3..3 --nodes 3 --time 20s --diagram {path}").code, 0)
            with open(path, encoding="utf-8") as file:
                picture = file.read()
        for name in ("ant", "bee", "crow"):
            self.assertIn(f">{name}</text>", picture)
        for kind in ("lease", "view", "hold", "hold odd", "process", "fault"):
            self.assertIn(f'class="{kind}"', picture)
        self.assertTrue(picture.endswith("</svg>\n"))

    def test_a_diagram_has_a_row_for_a_twin_if_there_is_one(self):
        for kind, rows in (("crash", 0), ("twin", 1)):
            picture = baton(f"torture --seeds 3..3 --time 30s --faults {kind} --diagram -").out
            self.assertEqual(picture.count(">twin</text>"), rows, kind)

    def test_what_is_wrong_is_said(self):
        for words, said in (("--faults blizzard", "crash, loop"), ("--faults crash,puase", "did you mean 'pause'?"),
                            ("--engine paper", "raft or atomic"), ("--nodes 17", "16"),
                            ("--engine atomic --faults cut,wipe", "wipe and vote need --engine raft"),
                            ("--algorithm bully", "election"), ("--only 3", "--seeds 17..17"), ("--time 1s", "3 s"),
                            ("--trace x", "a single seed"), ("neilsen", "options only"), ("--only 0 --seeds 1..1", "1"),
                            ("--only 2,200 --seeds 3..3", "--only 200: seed 3 has faults 1 to "),
                            ("--only 1 --seeds 3..3 --faults none", "seed 3 has no faults"),
                            ("--json --trace - --seeds 3..3", "only one of --json, --trace -")):
            done = baton(f"torture {words}")
            self.assertEqual((done.code, done.out), (2, ""), words)
            self.assertIn(said, done.err, words)


if __name__ == "__main__":
    unittest.main()
