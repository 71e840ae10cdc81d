"""A verdict claims what was shown, and nothing more."""
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

from baton import BATON, baton, check, report
from cluster import until

STARVES = "helary --topology complete --nodes 3 --fifo --entries 2,2,1 --param text=printed:min"
GROWS = ("lamport", "carvalho-roucairol", "maekawa", "suzuki-kasami", "ricart-agrawala-token",
         "singhal", "helary", "misra --param bounded=off")
FINITE = ("central", "ricart-agrawala", "suzuki-kasami-b", "raymond", "neilsen", "dijkstra-ring", "le-lann", "misra")


def verdicts(result):
    return [result[name] for name in ("mutual_exclusion", "deadlock", "starvation")]


class BoundedEntries(unittest.TestCase):
    def test_nobody_can_starve_for_lack_of_entries_so_starvation_is_not_decided(self):
        """The rule of this text starves a node, but four or six entries of the others are too few to show it."""
        result = check(STARVES)
        self.assertTrue(result["complete"])
        self.assertEqual(verdicts(result), ["holds", "none", None])
        text = baton("check", STARVES).out
        self.assertIn("mutual exclusion holds, no deadlock\n", text)
        self.assertIn("starvation: not decided (entries are bounded; ", text)
        self.assertNotIn("no starvation", text)

    def test_where_unlimited_is_finite_it_is_named(self):
        for name in FINITE:
            with self.subTest(name=name):
                text = baton("check", name, "--nodes 2").out
                self.assertIn("starvation: not decided (entries are bounded; --entries unlimited decides it, or look "
                              "at the bypass)\n", text)
                self.assertEqual(verdicts(check(name, "--nodes 2 --entries unlimited")), ["holds", "none", "none"])
                self.assertIn("mutual exclusion holds, no deadlock, no starvation\n",
                              baton("check", name, "--nodes 2 --entries unlimited").out)

    def test_where_numbers_grow_it_is_said_that_it_cannot_be_decided_so(self):
        for name in GROWS:
            with self.subTest(name=name):
                if "misra" not in name:  # the numbers of misra grow even if nobody enters
                    self.assertRegex(baton("check", name, "--nodes 2").out,
                                     r"starvation: not decided \(entries are bounded; [a-z ]+ grow without bound, so "
                                     r"that --entries unlimited cannot decide it: look at the bypass\)\n")
                refused = baton("check", name, "--nodes 2 --entries unlimited --max-states 1000")
                self.assertEqual((refused.code, refused.out), (2, ""))
                self.assertRegex(refused.err, r"^baton check: --entries unlimited: [a-z ]+ of [a-z-]+ grow without bound")

    def test_a_list_in_which_somebody_is_bounded_decides_nothing(self):
        self.assertEqual(verdicts(check("central --nodes 3 --entries unlimited,1,2")), ["holds", "none", None])


class Invariants(unittest.TestCase):
    def test_a_violated_one_says_what_should_hold(self):
        """Checks the verdict and the replay of its counterexample."""
        words = "check misra --nodes 2 --param text=printed:zero"
        self.assertIn("  verdict   VIOLATED: invariant: one_pong_at_most\n            it says that there is one PONG at most\n",
                      baton(words).out)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.scn")
            baton(words, "--trace", path)
            self.assertRegex(baton("replay", path).err, r"expected one_pong_at_most \(there is one PONG at most\), found it broken\n$")


class CutShort(unittest.TestCase):
    def test_a_limit_leaves_everything_undecided(self):
        for limit in ("--max-states 1000", "--timeout 50ms", "--max-memory 2M"):
            with self.subTest(limit=limit):
                words = f"suzuki-kasami --nodes 5 --entries 3 {limit}"
                result = check(words, expect=3)
                self.assertFalse(result["complete"])
                self.assertEqual(verdicts(result), [None, None, None])
                self.assertEqual(set(result["invariants"].values()), {None})
                self.assertEqual([result[name] for name in ("max_bypass", "max_messages", "min_messages")], [None] * 3)
                text = baton("check", words).out
                self.assertIn("not decided", text)
                self.assertNotIn("holds", text)

    def test_a_violation_leaves_the_others_undecided(self):
        result = check("suzuki-kasami --nodes 2 --lose-token", expect=1)
        self.assertFalse(result["complete"])
        self.assertEqual(verdicts(result), [None, "found", None])
        self.assertEqual(set(result["invariants"].values()), {None})
        text = baton("check suzuki-kasami --nodes 2 --lose-token").out
        self.assertIn("VIOLATED: deadlock", text)
        self.assertIn("the rest: not decided (the search ended here)\n", text)

    def test_an_election_that_was_cut_short_asserts_nothing(self):
        names = ("unique_leader", "agreement", "termination")
        result = check("franklin --nodes 5 --max-states 1000", expect=3)
        self.assertEqual([result[name] for name in names], [None] * 3)
        result = check("chang-roberts --nodes 3 --param text=printed", expect=1)
        self.assertEqual(sorted(str(result[name]) for name in names), ["None", "None", "violated"])
        text = baton("check franklin --nodes 5 --max-states 1000").out
        self.assertIn("not decided", text)
        result = check("chang-roberts --nodes 3")
        self.assertEqual([result[name] for name in names], ["holds"] * 3)


    def test_an_interrupt_is_no_limit(self):
        words = "check suzuki-kasami --nodes 5 --entries 3 --timeout 1h"
        for option in ([], ["--json"]):
            with subprocess.Popen([BATON, *words.split(), *option], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as process:
                # The checker handles the signal only while it searches, so wait until it uses
                # memory.
                until("a search", lambda: memory_mb(process.pid) > 40)
                process.send_signal(signal.SIGINT)
                out, err = process.communicate()
            self.assertEqual((process.returncode, err), (-signal.SIGINT, "baton check: interrupted before an answer\n"))
            self.assertTrue(out.endswith("\n"))
            self.assertNotIn("limit", out)
            if option:
                self.assertEqual(verdicts(json.loads(out)), [None, None, None])
            else:
                self.assertIn("not complete (interrupted)\n", out)


def memory_mb(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


class Bypass(unittest.TestCase):
    def test_one_that_used_up_all_entries_is_no_bound(self):
        for words, all_of_them in (("neilsen", 4), ("neilsen --nodes 3", 2), (STARVES, 4)):
            with self.subTest(words=words):
                self.assertIn(f"bypass    {all_of_them} entries of others after a request has arrived. They had no more, so "
                              "this shows no bound\n", baton("check", words).out)
        self.assertIn("bypass    1 entry of others after a request has arrived. They had no more", baton("check central --nodes 2").out)
        self.assertIn("bypass    at most 2 of the 4 entries of others after a request has arrived; it may be more with more --entries\n",
                      baton("check suzuki-kasami --nodes 3 --entries 2").out)
        self.assertNotIn("  bypass", baton("check neilsen --nodes 1").out)

    def test_without_a_bound_it_says_so(self):
        words = "neilsen --nodes 3 --entries unlimited"
        self.assertIsNone(check(words)["max_bypass"])
        self.assertIn("bypass    no bound: others may enter again and again after a request has arrived\n", baton("check", words).out)
        self.assertIn("bypass    at most 2 entries of others after a request has arrived\n",
                      baton("check central --nodes 3 --entries unlimited").out)


class Defaults(unittest.TestCase):
    """A check without options gives an answer for every algorithm, and says which values it chose."""

    def test_all_answer_within_seconds(self):
        for row in report("algorithms")["algorithms"]:
            with self.subTest(name=row["name"]):
                begin = time.monotonic()
                result = check(row["name"])
                self.assertTrue(result["complete"])
                self.assertGreaterEqual(result["nodes"], 3)
                self.assertLess(time.monotonic() - begin, 60)

    def test_the_size_is_chosen_and_said(self):
        for name, nodes in (("lamport", 3), ("ricart-agrawala", 4), ("neilsen", 5)):
            self.assertEqual(check(name)["nodes"], nodes)
            self.assertRegex(baton("check", name).out, rf"^{name}, \w+ of {nodes} \(chosen for {name}; --nodes N for "
                                                       r"another\), ")
        # The more entries are asked for, the smaller the default number of nodes is.
        for words, nodes in (("ricart-agrawala --entries unlimited", 3), ("lamport --entries 2", 2), ("neilsen --entries 3", 4),
                             ("singhal --entries 4", 2), ("central --entries unlimited", 5)):
            self.assertEqual(check(words)["nodes"], nodes)
            name, asked = words.split(" ", 1)
            self.assertIn(f" of {nodes} (chosen for {name} and {asked}; --nodes N for another), ", baton("check", words).out)
        self.assertNotIn("chosen", baton("check neilsen --nodes 3").out)
        self.assertNotIn("chosen", baton("check neilsen --topology edges:1-2,2-3").out)
        self.assertEqual(check("helary --topology grid:1x4 --max-states 10", expect=3)["nodes"], 4)
        self.assertEqual(check("chang-roberts --arrangement 2,3,1")["nodes"], 3)

    def test_there_is_a_time_limit(self):
        self.assertRegex(baton("check --help").out, r"--timeout TIME +\S.*\(default 60s\)")

    def test_a_limit_that_was_reached_is_named_with_what_would_help(self):
        result = baton("check lamport --nodes 5 --timeout 100ms")
        self.assertEqual(result.code, 3)
        self.assertRegex(result.err, r"^baton check: --timeout 0\.1 s was reached before an answer; give fewer --nodes or "
                                     r"--entries, or a longer --timeout\n$")


class Conditions(unittest.TestCase):
    """A verdict holds under conditions, and the heading names them."""

    def test_the_heading_names_them(self):
        for words, there in (
                ("bully --crash 4", "; dead: place 4\n"),
                ("bully --nodes 4 --crash 1,4", "; dead: places 1, 4\n"),
                ("helary --nodes 2 --param text=printed:min", "; text=printed:min\n"),
                ("suzuki-kasami-b --nodes 2 --param L=3 --holder 2", "; L=3; node 2 has the token at the start\n"),
                ("neilsen --nodes 2 --entries 2 --fifo", ", 2 entries each, channels keep order\n"),
                ("neilsen --nodes 2 --entries 2,1 --reorder", ", 2,1 entries by node, messages may overtake each other\n"),
                ("misra --nodes 2 --lose-token", "; any one token message at a time may be lost\n"),
                ("neilsen --nodes 2 --entries unlimited", ", unlimited entries each, ")):
            with self.subTest(words=words):
                text = baton("check", words).out
                self.assertIn(there, text.splitlines(keepends=True)[0])

    def test_not_every_set_of_initiators_of_many_places(self):
        text = baton("check chang-roberts --nodes 17 --max-states 1000").out
        self.assertIn("arrangements increasing only, sets of initiators only the set of all places\n", text)


class Words(unittest.TestCase):
    def test_one_of_a_thing_is_not_several(self):
        text = baton("check chang-roberts --nodes 1").out
        self.assertIn("tried     1 run:", text)
        self.assertNotRegex(text, r"\b1 (transitions|messages|states|runs)\b")
        text = baton("check neilsen --nodes 1").out
        self.assertNotRegex(text, r"\b1 (entries|transitions)\b")
        self.assertFalse(re.search(r"\b1 entries", baton("check le-lann --nodes 2").out))


if __name__ == "__main__":
    unittest.main()
