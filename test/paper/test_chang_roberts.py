"""Tests the claims of Chang and Roberts, as Raynal (chapter 2, section 5.2) reports them, one by one."""
import collections
import itertools
import json
import math
import os
import resource
import tempfile
import unittest
from fractions import Fraction

from baton import baton, check, report, sim


def harmonic(n):
    return sum(Fraction(1, i) for i in range(1, n + 1))


def when_elected(*words):
    """Returns the time when the elected process knows the result: its own number has come back."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        result = baton("sim", *words, f"--trace {path}")
        assert result.code == 0, result
        with open(path, encoding="utf-8") as file:
            return min(event["t"] for event in map(json.loads, file) if event["ev"] == "elected")


def is_the_maximum(test, run):
    """Checks that there is one leader, the maximum over all processes, that all agree, and that the announcement takes n
    messages."""
    n = run["nodes"]
    test.assertEqual((run["leader"], run["agreed"], run["violations"]), (max(run["arrangement"]), True, 0), run)
    test.assertEqual((run["messages"]["announcement"], run["messages"]["by_type"]["ELECTED"]), (n, n))
    test.assertTrue(n <= run["messages"]["election"] <= n * (n + 1) // 2, run)


class Validity(unittest.TestCase):
    """5.2, the proof: "the algorithm picks out one and only one number, the maximum"."""

    def test_every_size_and_arrangement(self):
        for n in range(1, 65):
            # For each n, each kind of arrangement meets one kind of initiators, in turn.
            kinds = ("all", "one", f"random:{(n + 1) // 2}")
            for i, arrangement in enumerate(("increasing", "decreasing", "random")):
                is_the_maximum(self, sim(f"chang-roberts --nodes {n} --arrangement {arrangement} "
                                         f"--initiators {kinds[(n + i) % 3]} --delay exp:1 --seed {n}"))

    def test_a_thousand_random_arrangements(self):
        for n, k in ((2, 1), (3, 2), (5, 1), (5, 3), (8, 8), (33, 7)):
            runs = sim(f"chang-roberts --nodes {n} --arrangement random --initiators random:{k} --delay exp:1 "
                       "--seeds 1..1000")["runs"]
            self.assertEqual(len(runs), 1000)
            for run in runs:
                is_the_maximum(self, run)

    def test_every_set_of_initiators(self):
        for n in range(1, 7):
            for k in range(1, n + 1):
                for places in itertools.combinations(range(1, n + 1), k):
                    initiators = ",".join(map(str, places))
                    runs = sim(f"chang-roberts --nodes {n} --arrangement random --initiators {initiators} "
                               "--delay uniform:0,3 --seeds 1..10")["runs"]
                    for run in runs:
                        self.assertEqual(run["initiators"], list(places))
                        is_the_maximum(self, run)

    def test_identifiers_need_not_be_consecutive(self):
        """5.1: "a unique identifier, taking the form of a number"."""
        run = sim("chang-roberts --nodes 4 --arrangement 7,2147483647,1,1000000")
        is_the_maximum(self, run)
        self.assertEqual(run["leader"], 2147483647)

    def test_every_interleaving(self):
        """Checks every arrangement up to rotation, with every set of initiators."""
        for n, states in ((1, 4), (2, 32), (3, 375), (4, 5937), (5, 121137)):
            result = check(f"chang-roberts --nodes {n}")
            self.assertEqual((result["states"], result["complete"]), (states, True))
            self.assertEqual((result["unique_leader"], result["agreement"], result["termination"]), ("holds",) * 3)
            self.assertEqual(result["invariants"], {"coordinator_is_the_maximum": "holds"})
            # There are fewest messages if only the greatest initiates, and most if all do, in
            # decreasing order. Both numbers include n ELECTED.
            self.assertEqual((result["min_messages"], result["max_messages"]), (2 * n, n * (n + 1) // 2 + n))


class Timing(unittest.TestCase):
    def test_all_initiate_and_it_takes_one_turn(self):
        """"the largest number is found in one turn round the ring"."""
        for n in (1, 2, 3, 8, 50):
            for arrangement in ("increasing", "decreasing", "random"):
                words = f"chang-roberts --nodes {n} --arrangement {arrangement}"
                self.assertEqual(when_elected(words), n)
                self.assertEqual(sim(words)["virtual_time"], 2 * n)

    def test_the_neighbour_behind_the_maximum_initiates_alone(self):
        """The text says "proportional to 2(n - 1)". It is 2n - 1, in messages and in time (n = 3, 5, 8: 5, 9, 15)."""
        for n in (2, 3, 5, 8, 50):
            words = f"chang-roberts --nodes {n} --arrangement increasing --initiators one"
            run = sim(words)
            self.assertEqual((when_elected(words), run["messages"]["election"]), (2 * n - 1, 2 * n - 1))
            self.assertEqual(run["virtual_time"], 2 * n - 1 + n)

    def test_one_initiator_needs_its_distance_to_the_maximum_and_a_turn(self):
        for n in (2, 3, 5, 8):
            for place in range(1, n + 1):
                words = f"chang-roberts --nodes {n} --arrangement random --seed 3 --initiators {place}"
                run = sim(words)
                needed = n + (run["arrangement"].index(n) + 1 - place) % n
                self.assertEqual((when_elected(words), run["messages"]["election"]), (needed, needed))


class Messages(unittest.TestCase):
    """5.2: "Number of messages of type 'election'", claim by claim."""

    def test_the_maximum_initiates_alone(self):
        """"n transfers": this is so in any arrangement, not only in increasing order."""
        for n in (1, 2, 5, 50):
            self.assertEqual(sim(f"chang-roberts --nodes {n} --initiators {n}")["messages"]["election"], n)
            run = sim(f"chang-roberts --nodes {n} --arrangement decreasing --initiators one")
            self.assertEqual(run["messages"]["election"], n)

    def test_all_initiate_in_decreasing_order(self):
        """This is the least favourable situation: n(n + 1)/2 messages."""
        for n in (1, 2, 3, 8, 64, 500):
            run = sim(f"chang-roberts --nodes {n} --arrangement decreasing")
            self.assertEqual(run["messages"]["election"], n * (n + 1) // 2)

    def test_all_initiate_in_increasing_order(self):
        """This is the best case if all initiate: 2n - 1 messages."""
        for n in (1, 2, 3, 8, 64, 500):
            run = sim(f"chang-roberts --nodes {n} --arrangement increasing")
            self.assertEqual(run["messages"]["election"], 2 * n - 1)

    def test_all_initiate_in_any_order(self):
        """The mean is O(n log n). It is exactly n H(n), over all arrangements up to rotation."""
        for n in (2, 3, 4, 5):
            counts = []
            for rest in itertools.permutations(range(2, n + 1)):
                arrangement = ",".join(map(str, (1, *rest)))
                counts.append(sim(f"chang-roberts --nodes {n} --arrangement {arrangement}")["messages"]["election"])
            self.assertEqual(Fraction(sum(counts), len(counts)), n * harmonic(n))
            self.assertEqual((min(counts), max(counts)), (2 * n - 1, n * (n + 1) // 2))

    def test_a_hundred_processes_in_random_order(self):
        runs = sim("chang-roberts --nodes 100 --arrangement random --seeds 1..2000")["runs"]
        mean = sum(run["messages"]["election"] for run in runs) / len(runs)
        self.assertEqual(len(runs), 2000)
        self.assertAlmostEqual(mean / float(100 * harmonic(100)), 1, delta=0.02)

    def test_messages_do_not_depend_on_delays_when_all_initiate(self):
        counts = {sim(f"chang-roberts --nodes 64 --arrangement random --seed 9 --delay {delay}")["messages"]["election"]
                  for delay in ("constant:1", "uniform:0,5", "exp:1")}
        self.assertEqual(counts, {258})

    def test_a_hundred_thousand_processes(self):
        run = sim("chang-roberts --nodes 100000 --arrangement random")
        is_the_maximum(self, run)
        self.assertAlmostEqual(run["messages"]["election"] / float(100000 * 12.0901461), 1, delta=0.1)
        # The run needs about 10 MB; a sanitizer takes several times that.
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 512 << 10)


class Transfers(unittest.TestCase):
    def test_the_probability_of_k_transfers_is_exact_for_each_number_and_each_k(self):
        """P(i,k) = C(i-1,k-1)/C(n-1,k-1) x (n-i)/(n-k), over all arrangements if all initiate. The number n travels n times."""
        n = 5
        seen = collections.Counter()
        for rest in itertools.permutations(range(2, n + 1)):
            arrangement = ",".join(map(str, (1, *rest)))
            with tempfile.NamedTemporaryFile("r", encoding="utf-8") as trace:
                sim(f"chang-roberts --nodes {n} --arrangement {arrangement} --trace {trace.name}")
                sent = [event["text"] for event in map(json.loads, trace) if event["ev"] == "send"]
            for i in range(1, n + 1):
                seen[i, sent.count(f"ELECTION({i})")] += 1
        arrangements = math.factorial(n - 1)
        for i in range(1, n):
            for k in range(1, n):
                claimed = Fraction(math.comb(i - 1, k - 1), math.comb(n - 1, k - 1)) * Fraction(n - i, n - k)
                self.assertEqual(Fraction(seen[i, k], arrangements), claimed, (i, k))
        self.assertEqual(seen[n, n], arrangements)

    def test_the_smallest_may_win_instead(self):
        """5.1: "the largest identifier (or alternatively, the smallest)"."""
        result = check("chang-roberts --nodes 4 --param elect=least")
        self.assertEqual(result["states"], check("chang-roberts --nodes 4")["states"])
        for n in (1, 2, 5, 64):
            run = sim(f"chang-roberts --nodes {n} --arrangement random --seed {n} --param elect=least")
            self.assertEqual((run["leader"], run["agreed"]), (1, True))
        self.assertEqual(sim("chang-roberts --nodes 5 --arrangement increasing --param elect=least")["messages"]["election"], 15)


class Printed(unittest.TestCase):
    """5.2 as printed: "case j < my_number and participant"."""

    def test_a_sleeping_greater_process_swallows_the_only_number(self):
        for text in ("printed", "printed:participant"):
            for n in (2, 3):
                result = check(f"chang-roberts --nodes {n} --param text={text}", expect=1)
                self.assertEqual((result["termination"], result["unique_leader"]), ("violated", None))
        run = sim("chang-roberts --nodes 5 --initiators one --param text=printed", expect=1)
        self.assertEqual((run["leader"], run["agreed"]), (None, False))

    def test_a_participant_is_elected_twice(self):
        for n in (2, 3):
            result = check(f"chang-roberts --nodes {n} --param text=printed --initiators all", expect=1)
            self.assertEqual((result["termination"], result["unique_leader"]), (None, "violated"))
        self.assertGreater(sim("chang-roberts --nodes 5 --param text=printed", expect=1)["violations"], 0)


class Order(unittest.TestCase):
    """The algorithm needs channels that keep order: a late number begins the election again."""

    def test_without_order_a_process_is_elected_twice(self):
        result = check("chang-roberts --nodes 2 --reorder", expect=1)
        self.assertEqual(result["unique_leader"], "violated")

    def test_without_order_somebody_is_left_a_participant(self):
        result = check("chang-roberts --nodes 3 --reorder", expect=1)
        self.assertEqual(result["termination"], "violated")

    def test_without_order_simulated_runs_fail_too(self):
        runs = sim("chang-roberts --nodes 8 --arrangement random --delay exp:1 --reorder --seeds 1..1000", expect=1)["runs"]
        self.assertGreater(sum(run["violations"] != 0 for run in runs), 0)

    def test_it_says_so(self):
        listed = {a["name"]: a for a in report("algorithms")["algorithms"]}["chang-roberts"]
        self.assertEqual((listed["kind"], listed["topology"], listed["fifo"], listed["year"]), ("election", "ring", True, 1979))


if __name__ == "__main__":
    unittest.main()
