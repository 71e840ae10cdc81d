"""Tests what Raynal, chapter 2, section 5.3, says about Hirschberg and Sinclair's election."""
import itertools
import math
import unittest

from baton import check, sim

HOLD = {"greatest_is_elected": "holds", "candidates_are_far_apart": "holds"}
# The most messages, over all arrangements and schedules, without the announcement.
MOST = {2: 12, 3: 26, 4: 40, 5: 62, 6: 80, 7: 96, 8: 112}


def bound(n):
    """Returns the bound: 'An upper bound for the total number of messages is 8n(1 + log n)'."""
    return 8 * n * (1 + math.ceil(math.log2(n)))


def terms(n):
    """Returns '4 x [1 n + 2 (n/2) + 4 (n/3) + ... + 2^i (n/(2^(i-1) + 1)) + ...]', with the
    quotients rounded down."""
    rounds = range(1, math.ceil(math.log2(n)) + 1)
    return 4 * (n + sum(2 ** i * (n // (2 ** (i - 1) + 1)) for i in rounds))


def arrangements(n):
    """Returns all arrangements up to rotation and reflection: the two directions of the ring are alike."""
    for rest in itertools.permutations(range(2, n + 1)):
        if n < 3 or rest[0] < rest[-1]:
            yield ",".join(map(str, (1, *rest)))


def violated(*words):
    """Returns the violated verdict, and the number of steps until then."""
    result = check(*words, expect=1)
    names = [name for name in ("unique_leader", "agreement", "termination") if result[name] == "violated"]
    steps = [line for line in result["counterexample"].splitlines()
             if line.split(" ")[0] in ("initiate", "deliver")]
    return names, len(steps)


class HirschbergSinclair(unittest.TestCase):
    def elects(self, run, leader):
        self.assertEqual((run["violations"], run["agreed"], run["leader"]), (0, True, leader), run)
        self.assertEqual(run["messages"]["announcement"], run["nodes"])

    def test_the_greatest_is_elected_within_the_bound(self):
        """Tests every number of processes up to 64 and every kind of arrangement. ENDED takes n messages."""
        for n in range(1, 65):
            for arrangement in ("increasing", "decreasing", "random"):
                for delay in ("constant:1", "exp:1"):
                    run = sim(f"hirschberg-sinclair --nodes {n} --arrangement {arrangement} --delay {delay}")
                    self.elects(run, n)
                    self.assertLessEqual(run["messages"]["election"], bound(n))
                    self.assertLessEqual(run["messages"]["election"], terms(n))

    def test_the_bound_holds_for_larger_rings(self):
        for n in (100, 128, 129, 500, 1000, 1024, 5000):
            for run in sim(f"hirschberg-sinclair --nodes {n} --arrangement random --seeds 1..10")["runs"]:
                self.elects(run, n)
                self.assertLessEqual(run["messages"]["election"], terms(n))
                self.assertLessEqual(terms(n), bound(n))

    def test_the_most_messages_over_all_arrangements(self):
        for n in range(2, 8):
            most = 0
            for arrangement in arrangements(n):
                run = sim(f"hirschberg-sinclair --nodes {n} --arrangement {arrangement}")
                self.elects(run, n)
                most = max(most, run["messages"]["election"])
            self.assertEqual(most, MOST[n])
        runs = sim("hirschberg-sinclair --nodes 8 --arrangement random --seeds 1..1000")["runs"]
        self.assertEqual(max(run["messages"]["election"] for run in runs), MOST[8])

    def test_the_most_messages_over_all_schedules(self):
        for n in (2, 3, 4):
            self.assertEqual(check(f"hirschberg-sinclair --nodes {n} --fifo")["max_messages"] - n, MOST[n])
        for arrangement in ("1,3,2,5,4", "1,5,2,4,3"):
            result = check(f"hirschberg-sinclair --nodes 5 --initiators all --arrangement {arrangement} --fifo")
            self.assertEqual(result["max_messages"] - 5, MOST[5])

    def test_any_arrangement_any_initiators_any_delays(self):
        for n, k in ((2, 1), (3, 2), (5, 1), (8, 3), (16, 16)):
            for order in ("--fifo", "--reorder"):
                runs = sim(f"hirschberg-sinclair --nodes {n} --arrangement random --initiators random:{k} "
                           f"--delay exp:1 {order} --seeds 1..1000")["runs"]
                self.assertEqual(len(runs), 1000)
                for run in runs:
                    self.elects(run, n)
                    self.assertLessEqual(run["messages"]["election"], min(terms(n), MOST.get(n, terms(n))))

    def test_every_set_of_initiators(self):
        """The greatest process need not initiate: messages of others draw it in."""
        for n in range(1, 7):
            for size in range(1, n + 1):
                for places in itertools.combinations(range(1, n + 1), size):
                    initiators = ",".join(map(str, places))
                    run = sim(f"hirschberg-sinclair --nodes {n} --arrangement random --seed {size} --delay exp:1 "
                              f"--initiators {initiators}")
                    self.elects(run, n)

    def test_identifiers_are_any_numbers(self):
        self.elects(sim("hirschberg-sinclair --nodes 4 --arrangement 70,2147483647,1,300"), 2147483647)

    def test_every_arrangement_set_and_interleaving(self):
        """'Only one can launch a candidature on paths of length 2^i' is checked as an invariant. Links need not keep order."""
        for words, states in (("--nodes 1", 9), ("--nodes 2", 788), ("--nodes 3", 84458),
                              ("--nodes 2 --fifo", 300), ("--nodes 3 --fifo", 10090), ("--nodes 4 --fifo", 521774)):
            result = check(f"hirschberg-sinclair {words}")
            self.assertTrue(result["complete"])
            self.assertEqual(result["states"], states)
            self.assertEqual(result["fifo"], "--fifo" in words)
            self.assertEqual([result[name] for name in ("unique_leader", "agreement", "termination")], ["holds"] * 3)
            self.assertEqual(result["invariants"], HOLD)

    def test_printed_respok_makes_the_greatest_withdraw(self):
        """As printed: 'if respOK then state <- lost'."""
        for text in ("printed", "printed:respok"):
            self.assertEqual(violated(f"hirschberg-sinclair --nodes 2 --initiators 2 --param text={text}"), (["termination"], 5))
            for n in (2, 3, 4):
                self.assertEqual(violated(f"hirschberg-sinclair --nodes {n} --param text={text}")[0], ["termination"])

    def test_printed_late_leaves_somebody_taking_part(self):
        """As printed: 'winner <- number; state <- not_involved', while a candidature arrives from the other direction."""
        for order in ("--fifo", "--reorder"):
            self.assertEqual(violated(f"hirschberg-sinclair --nodes 2 --initiators 2 --param text=printed:late {order}"),
                             (["termination"], 11))
            for n in (2, 3):
                self.assertEqual(violated(f"hirschberg-sinclair --nodes {n} --param text=printed:late {order}")[0], ["termination"])


if __name__ == "__main__":
    unittest.main()
