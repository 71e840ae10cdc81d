"""Tests the checker itself: its exact counts, its counterexamples (which replay) and its limits."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from baton import BATON, baton, check
from cluster import until


def catches(pid, number):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return int(re.search(r"SigCgt:\s*(\w+)", file.read())[1], 16) >> (number - 1) & 1


class Check(unittest.TestCase):
    def test_numbers_of_states_are_pinned(self):
        for words, states in (
            ("suzuki-kasami --nodes 3", 726),
            ("suzuki-kasami --nodes 3 --entries 2", 58973),
            ("suzuki-kasami --nodes 3 --entries 3", 3325838),
            ("neilsen --topology star --nodes 3 --entries unlimited --fifo", 128),
            ("neilsen --topology star --nodes 4 --entries 2 --fifo", 20404),
            ("neilsen --topology line --nodes 4 --entries 2", 16226),
            ("central --nodes 3 --entries unlimited", 98),
        ):
            with self.subTest(words=words):
                self.assertEqual(check(words)["states"], states)

    def test_a_lost_token_is_a_deadlock_whose_counterexample_replays(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "lost.scn")
            result = check(f"suzuki-kasami --nodes 2 --lose-token --trace {path}", expect=1)
            self.assertEqual(result["deadlock"], "found")
            self.assertIsNone(result["mutual_exclusion"])  # the search ended with the deadlock
            replayed = baton("replay", path)
            self.assertEqual(replayed.code, 1, replayed)
            with open(path, encoding="utf-8") as file:
                last = len(file.readlines())
            self.assertIn(f":{last}: expected", replayed.err)

    def test_a_check_that_holds_leaves_no_counterexample_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "old.scn")
            check(f"suzuki-kasami --nodes 2 --lose-token --trace {path}", expect=1)
            check(f"suzuki-kasami --nodes 2 --trace {path}")
            self.assertFalse(os.path.exists(path))

    def test_limits_end_the_search_with_exit_3(self):
        for limit in ("--max-states 1000", "--max-memory 1M", "--timeout 50ms"):
            result = check(f"suzuki-kasami --nodes 4 --entries 3 {limit}", expect=3)
            self.assertFalse(result["complete"])
        self.assertEqual(check("suzuki-kasami --nodes 4 --max-states 1000", expect=3)["states"], 1000)
        self.assertEqual(check("suzuki-kasami --nodes 3 --max-states 725", expect=3)["states"], 725)
        for threads in (1, 2):
            self.assertTrue(check(f"suzuki-kasami --nodes 3 --max-states 726 --threads {threads}")["complete"])
        check("suzuki-kasami --nodes 3 --max-states 725 --threads 2", expect=3)
        self.assertEqual(check("lamport --nodes 12 --max-states 200000 --threads 2", expect=3)["states"], 200000)

    def test_an_interrupt_ends_it_with_the_figures_so_far(self):
        for words in ("ricart-agrawala --nodes 5 --entries 3", "ricart-agrawala --nodes 5 --entries 3 --threads 2",
                      "hirschberg-sinclair --nodes 5"):
            with subprocess.Popen([BATON, "check", *words.split(), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as process:
                until("it is at work", lambda pid=process.pid: catches(pid, signal.SIGINT))
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, -signal.SIGINT, err)
            self.assertFalse(json.loads(out)["complete"])
            self.assertGreater(json.loads(out)["states"], 0)
            self.assertIn("interrupted before an answer", err)

    @unittest.skipIf("sanitize" in BATON, "the sanitizer takes memory of its own")
    def test_long_rows_keep_the_memory_too(self):
        for threads in (1, 5):
            words = f"check ricart-agrawala --nodes 64 --entries 2 --max-memory 50M --threads {threads}".split()
            # A new process starts with its parent's peak memory, which may exceed the limit here.
            # So a small process starts it.
            measure = ("import os, sys; _, status, usage = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0); "
                       "print(os.waitstatus_to_exitcode(status), usage.ru_maxrss, file=sys.stderr)")
            measured = subprocess.run([sys.executable, "-c", measure, BATON, *words], capture_output=True, text=True, check=True)
            code, peak_kb = map(int, measured.stderr.splitlines()[-1].split())
            self.assertEqual(code, 3)
            self.assertLessEqual(peak_kb, 50 * 1024)

    def test_entries_of_each(self):
        self.assertEqual(check("central --nodes 3 --entries unlimited,1,2")["entries"], ["unlimited", 1, 2])
        self.assertEqual(check("central --nodes 3 --entries 1,2,unlimited")["entries"], [1, 2, "unlimited"])

    def test_the_time_is_kept_while_cycles_are_looked_for_too(self):
        result = check("le-lann --nodes 17 --entries unlimited --timeout 1s", expect=3)
        self.assertLess(result["seconds"], 20)

    @unittest.skipIf("sanitize" in BATON, "the sanitizer needs terabytes of addresses")
    def test_little_memory_is_a_limit_too(self):
        result = subprocess.run(["sh", "-c", f"ulimit -v 300000; exec {BATON} check ricart-agrawala --nodes 4 --entries 2 --json"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("--max-memory was reached", result.stderr)

    def test_a_file_that_is_no_counterexample_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write("mine\n")
            check(f"central --nodes 2 --trace {path}")
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "mine\n")
            new = os.path.join(folder, "new.scn")
            check(f"central --nodes 2 --trace {new}")
            self.assertFalse(os.path.exists(new))

    def test_entries_node_by_node(self):
        result = check("suzuki-kasami --nodes 3 --entries 1,0,0")
        self.assertEqual((result["entries"], result["max_messages"]), ([1, 0, 0], 0))
        result = check("suzuki-kasami --nodes 3 --entries 0,1,0")
        self.assertEqual((result["max_messages"], result["min_messages"]), (3, 3))

    def test_threads_change_nothing_but_the_time(self):
        for words, code in (
            ("suzuki-kasami --nodes 3 --entries 2", 0),            # every step leads to the next level
            ("neilsen --nodes 4 --topology line --entries 2", 0),  # a second pass is needed
            ("lamport --nodes 3", 0),                              # more messages than a byte can number
            ("raymond --nodes 4 --entries unlimited", 0),          # cycles
            ("le-lann --nodes 4 --entries 2", 0),
            ("bully --nodes 3", 0),
            ("franklin --nodes 4 --fifo --reduce", 0),
            ("misra --nodes 3 --lose-token --entries 2", 0),
            ("ricart-agrawala-token --nodes 3 --param text=printed:holder", 1),
            ("raymond --nodes 3 --entries unlimited --param text=printed:reask", 1),
            ("chang-roberts --nodes 4 --param text=printed:participant", 1),
        ):
            with self.subTest(words=words):
                alone = figures(check(f"{words} --threads 1", expect=code))
                for threads in (2, 3):
                    self.assertEqual(figures(check(f"{words} --threads {threads}", expect=code)), alone)

    def test_a_reduction_gives_the_verdicts_of_the_full_search(self):
        texts = {
            "chang-roberts": ("participant",),
            "le-lann-election": (),
            "bully": (),
            "hirschberg-sinclair": ("respok", "late"),
            "dolev-klawe-rodeh": ("late-start",),
            "franklin": ("queue",),
            "korach-moran-zaks": (),
        }
        same = ("unique_leader", "agreement", "termination", "max_messages", "min_messages", "complete", "runs")
        for name, errors in texts.items():
            for param in ("", *(f"--param text=printed:{error}" for error in errors)):
                for nodes in (1, 2, 3) if name in ("bully", "hirschberg-sinclair") else (1, 2, 3, 4):
                    with self.subTest(name=name, param=param, nodes=nodes):
                        words = f"{name} --nodes {nodes} --fifo {param}"
                        full = check(words, expect=None)
                        less = check(f"{words} --reduce", expect=None)
                        self.assertEqual([full[key] for key in same], [less[key] for key in same])
                        self.assertLessEqual(less["states"], full["states"])
                        self.assertEqual((full["reduction"], less["reduction"]), (None, "persistent sets"))
                        self.assertEqual(steps(full), steps(less))
        self.assertLess(3 * check("dolev-klawe-rodeh --nodes 5 --fifo --reduce")["states"],
                        check("dolev-klawe-rodeh --nodes 5 --fifo")["states"])

    def test_where_there_is_no_reduction(self):
        for words, what in (
            ("neilsen --reduce", "--reduce: this is for elections"),
            ("franklin --reorder --reduce", "--fifo"),
        ):
            result = baton("check", words)
            self.assertEqual((result.code, result.out), (2, ""))
            self.assertIn(what, result.err)


def figures(result):
    """Returns all figures except those that depend on the machine."""
    return {key: value for key, value in result.items()
            if key not in ("seconds", "states_per_second", "bytes_per_state")}


def steps(result):
    """Returns the number of steps that the counterexample claims to have."""
    return result["counterexample"] and result["counterexample"].split("\n")[0].split("; ")[1]


if __name__ == "__main__":
    unittest.main()
