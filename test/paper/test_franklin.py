"""Tests what Raynal, chapter 2, section 5.5.1, says about Franklin's election."""
import itertools
import math
import unittest

from baton import check, sim

HOLD = {"greatest_is_elected": "holds"}


def bound(n):
    """Returns the bound: 'As 2n messages are exchanged at each stage the total number is 2n(1 + log
    n)'."""
    return 2 * n * (1 + int(math.log2(n)))


def arrangements(n):
    """Returns all arrangements up to rotation and reflection: the two directions of the ring are alike."""
    for rest in itertools.permutations(range(2, n + 1)):
        if n < 3 or rest[0] < rest[-1]:
            yield ",".join(map(str, (1, *rest)))


def worst(n):
    """Returns an arrangement in which every second process is greater than both neighbours, and these are arranged in the same
    way."""
    if n == 1:
        return [1]
    rest = worst(n // 2)
    small = n - len(rest)
    numbers = []
    for i, number in enumerate(rest):
        numbers += [i + 1, small + number]
    return numbers + list(range(len(rest) + 1, small + 1))


def violated(*words):
    """Returns the violated verdict, and the number of steps until then."""
    result = check(*words, expect=1)
    names = [name for name in ("unique_leader", "agreement", "termination") if result[name] == "violated"]
    steps = [line for line in result["counterexample"].splitlines()
             if line.split(" ")[0] in ("initiate", "deliver")]
    return names, len(steps)


class Franklin(unittest.TestCase):
    def elects(self, run, leader):
        self.assertEqual((run["violations"], run["agreed"], run["leader"]), (0, True, leader), run)
        self.assertEqual(run["messages"]["announcement"], run["nodes"])

    def test_the_greatest_is_elected_within_the_bound(self):
        """Tests every number of processes up to 64 and every kind of arrangement. The rounds are complete, with 2n messages
        each."""
        for n in range(1, 65):
            for arrangement in ("increasing", "decreasing", "random"):
                for delay in ("constant:1", "exp:1"):
                    run = sim(f"franklin --nodes {n} --arrangement {arrangement} --delay {delay} --fifo")
                    messages = run["messages"]["election"]
                    self.elects(run, n)
                    self.assertLessEqual(messages, bound(n))
                    self.assertEqual(messages % (2 * n), 0)
                    if n > 1 and arrangement != "random":
                        self.assertEqual(messages, 4 * n)

    def test_the_bound_is_reached_and_the_fewest_are_4n(self):
        for n in range(2, 8):
            counts = set()
            for arrangement in arrangements(n):
                run = sim(f"franklin --nodes {n} --arrangement {arrangement}")
                self.elects(run, n)
                counts.add(run["messages"]["election"])
            self.assertEqual((min(counts), max(counts)), (4 * n, bound(n)))
        for n in (8, 9, 15, 16, 17, 31, 32, 64, 100, 128, 1000):
            run = sim(f"franklin --nodes {n} --arrangement {','.join(map(str, worst(n)))}")
            self.elects(run, n)
            self.assertEqual(run["messages"]["election"], bound(n))

    def test_larger_rings(self):
        for n in (100, 128, 500, 1000, 1024, 5000):
            for run in sim(f"franklin --nodes {n} --arrangement random --seeds 1..10")["runs"]:
                self.elects(run, n)
                self.assertLessEqual(run["messages"]["election"], bound(n))

    def test_the_arrangement_alone_decides_how_many_rounds_there_are(self):
        """If links keep order, neither the schedule nor the choice of initiators matters."""
        for arrangement, rounds in (("1,2,3,4", 2), ("1,2,4,3", 2), ("1,3,2,4", 3)):
            result = check(f"franklin --nodes 4 --arrangement {arrangement} --fifo")
            self.assertEqual((result["min_messages"], result["max_messages"]), (8 * rounds + 4, 8 * rounds + 4))

    def test_any_arrangement_any_initiators_any_delays(self):
        for n, k in ((2, 1), (3, 2), (5, 1), (8, 3), (16, 16)):
            for order in ("--fifo", "--reorder"):
                runs = sim(f"franklin --nodes {n} --arrangement random --initiators random:{k} --delay exp:1 {order} "
                           "--seeds 1..1000")["runs"]
                self.assertEqual(len(runs), 1000)
                for run in runs:
                    self.elects(run, n)
                    if order == "--fifo":
                        self.assertLessEqual(run["messages"]["election"], bound(n))

    def test_every_set_of_initiators(self):
        """'A process would decide to participate on first receiving a message concerning the election'."""
        for n in range(1, 7):
            for size in range(1, n + 1):
                for places in itertools.combinations(range(1, n + 1), size):
                    initiators = ",".join(map(str, places))
                    run = sim(f"franklin --nodes {n} --arrangement random --seed {size} --delay exp:1 --initiators {initiators}")
                    self.elects(run, n)

    def test_identifiers_are_any_numbers(self):
        self.elects(sim("franklin --nodes 4 --arrangement 70,2147483647,1,300"), 2147483647)

    def test_every_arrangement_set_and_interleaving(self):
        """There is one leader, all agree, and every run ends, even if links do not keep order."""
        for words, states in (("--nodes 1", 9), ("--nodes 2", 181), ("--nodes 3", 5142), ("--nodes 4", 209440),
                              ("--nodes 2 --fifo", 181), ("--nodes 3 --fifo", 3778), ("--nodes 4 --fifo", 135508)):
            result = check(f"franklin {words}")
            self.assertTrue(result["complete"])
            self.assertEqual(result["states"], states)
            self.assertEqual(result["fifo"], "--fifo" in words)
            self.assertEqual([result[name] for name in ("unique_leader", "agreement", "termination")], ["holds"] * 3)
            self.assertEqual(result["invariants"], HOLD)

    def test_without_order_the_bound_does_not_hold(self):
        """The bound holds up to n = 5 without order, but not for n = 6."""
        for n in (2, 3, 4):
            self.assertEqual(check(f"franklin --nodes {n} --reorder")["max_messages"] - n, bound(n))
        words = "franklin --nodes 6 --arrangement 1,6,2,5,3,4 --initiators all"
        self.assertEqual(check(words + " --reorder")["max_messages"] - 6, 48)
        self.assertEqual(check(words + " --fifo")["max_messages"] - 6, bound(6))

    def test_printed_queue_loses_what_comes_early(self):
        """A process compares with 'those of its neighbours on both left and right', so the printed queue has room for one number a side."""
        for text in ("printed", "printed:queue"):
            for order in ("--fifo", "--reorder"):
                self.assertEqual(violated(f"franklin --nodes 3 --param text={text} {order}"), (["termination"], 9))
                self.assertEqual(violated(f"franklin --nodes 4 --param text={text} {order}")[0], ["termination"])


if __name__ == "__main__":
    unittest.main()
