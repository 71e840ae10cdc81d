"""Tests the claims of chapter 2 (Raynal, section 5.4) about Dolev, Klawe and Rodeh's election, and those of section 5.5.2 about
Peterson's refinement (`variant=peterson2`), one by one."""
import itertools
import json
import tempfile
import unittest

from baton import baton, check, sim

NAME = "dolev-klawe-rodeh"
VARIANTS = ("plain", "peterson2")


def elect(arrangement, words=""):
    """Runs one election. `arrangement` is a list of numbers or a word."""
    if not isinstance(arrangement, str):
        words += f" --nodes {len(arrangement)}"
        arrangement = ",".join(map(str, arrangement))
    return sim(f"{NAME} --arrangement {arrangement} {words}")


def elections(arrangement, words=""):
    return elect(arrangement, words)["messages"]["election"]


def arrangements(n):
    """Returns all arrangements, up to rotation."""
    return ([1, *rest] for rest in itertools.permutations(range(2, n + 1)))


def bound(n):
    """Returns 2n log n + n, with the logarithm rounded down."""
    return 2 * n * (n.bit_length() - 1) + n


def bit_reversal(n):
    bits = n.bit_length() - 1
    return [int(format(i, f"0{bits}b")[::-1], 2) + 1 for i in range(n)]


def stages_peterson2(n):
    """Returns the largest number of stages that can begin with several numbers left: the greatest k with F(k+2) <= n."""
    k, this, next_one = 0, 1, 2
    while next_one <= n:
        k, this, next_one = k + 1, next_one, this + next_one
    return k


def golden(n):
    """Returns an arrangement that needs all these stages. It is built from its end: before stage r, each number that is left in
    stage r + 1 gets a smaller neighbour, ahead of it (r odd) or after it (r even). Stage r removes exactly these smaller
    numbers."""
    k = stages_peterson2(n)
    now, left, low = ([n, n - 1] if k > 0 else [n]), {n}, n - 1
    for r in range(k - 1, 0, -1):
        before = []
        for number in now:
            small = []
            if number in left:
                low -= 1
                small = [low]
            before += [number, *small] if r % 2 == 1 else [*small, number]
        left, now = set(now), before
    first = now.index(min(now)) + 1
    return now[:first] + list(range(low - 1, 0, -1)) + now[first:]


class DolevKlaweRodeh(unittest.TestCase):
    def assert_elected(self, run, leader):
        self.assertEqual((run["leader"], run["agreed"], run["violations"]), (leader, True, 0), run)

    def test_the_greatest_number_is_elected_on_every_ring_up_to_64(self):
        for n in range(1, 65):
            for variant in VARIANTS:
                for arrangement in ("increasing", "decreasing", "random"):
                    run = elect(arrangement, f"--nodes {n} --param variant={variant} --seed {n}")
                    self.assert_elected(run, n)
                    self.assertEqual(run["messages"]["announcement"], n)

    def test_whoever_initiates_everybody_takes_part(self):
        """Remark (a). So neither the cost nor the leader depends on which processes initiate."""
        for n in range(1, 7):
            for variant in VARIANTS:
                words = f"--nodes {n} --seed {n} --param variant={variant}"
                cost = elections("random", words)
                for k in range(1, n + 1):
                    for places in itertools.combinations(range(1, n + 1), k):
                        run = elect("random", f"{words} --initiators {','.join(map(str, places))}")
                        self.assert_elected(run, n)
                        self.assertEqual(run["messages"]["election"], cost)

    def test_no_violation_with_unpredictable_delays(self):
        for variant in VARIANTS:
            for n, k in ((2, 1), (5, 2), (16, 5), (64, 64)):
                for run in sim(f"{NAME} --nodes {n} --arrangement random --initiators random:{k} --delay exp:1 "
                               f"--seeds 1..1000 --param variant={variant}")["runs"]:
                    self.assert_elected(run, n)

    def test_identifiers_are_any_numbers(self):
        for variant in VARIANTS:
            self.assert_elected(elect([70000, 5, 2147483647, 300], f"--param variant={variant}"), 2147483647)

    def test_at_most_2n_log_n_plus_n_messages_and_some_arrangement_needs_them(self):
        """"At each stage 2n messages … Thus the total is 2n log n + n"."""
        for n in range(2, 7):
            costs = [elections(arrangement) for arrangement in arrangements(n)]
            self.assertEqual(max(costs), bound(n))
            self.assertEqual(min(costs), 3 * n)
        for n, worst in ((7, [1, 2, 3, 4, 6, 5, 7]), (8, [1, 3, 2, 7, 4, 6, 5, 8])):
            self.assertEqual(elections(worst), bound(n))
            for run in sim(f"{NAME} --nodes {n} --arrangement random --seeds 1..1000")["runs"]:
                self.assertLessEqual(run["messages"]["election"], bound(n))
        self.assertEqual(elections([1]), bound(1))

    def test_bit_reversal_needs_every_stage(self):
        for n in (16, 32, 64, 128):
            self.assertEqual(elections(bit_reversal(n)), 2 * n * (n.bit_length() - 1) + n)

    def test_one_stage_is_enough_for_numbers_in_order(self):
        """From 2 processes on, three messages per process are the fewest: 2n for a stage, n to come back."""
        for n in (2, 3, 8, 64, 1000):
            self.assertEqual(elections("increasing", f"--nodes {n}"), 3 * n)
            self.assertEqual(elections("decreasing", f"--nodes {n}"), 3 * n)

    def test_the_cost_is_the_arrangements_and_not_the_delays(self):
        for variant in VARIANTS:
            words = f"--param variant={variant} --delay exp:1"
            for arrangement in ([5, 8, 3, 6, 2, 4, 7, 1], [4, 2, 6, 1, 5, 3]):
                costs = {elections(arrangement, f"{words} --seed {seed}") for seed in range(1, 21)}
                self.assertEqual(len(costs), 1)

    def test_peterson2_needs_at_most_a_stage_for_each_fibonacci_number(self):
        """Section 5.5.2: 1.44 n log n + O(n). The exact bound is n (k + 1) with F(k+2) <= n, and some arrangement reaches it."""
        for n in range(2, 7):
            costs = [elections(arrangement, "--param variant=peterson2") for arrangement in arrangements(n)]
            self.assertEqual((min(costs), max(costs)), (2 * n, n * (stages_peterson2(n) + 1)))
        for n in (1, 7, 8, 12, 13, 20, 21, 54, 55, 100, 144, 987, 1000):
            self.assertEqual(sorted(golden(n)), list(range(1, n + 1)))
            self.assertEqual(elections(golden(n), "--param variant=peterson2"), n * (stages_peterson2(n) + 1))

    def test_peterson2_is_the_cheaper_on_random_rings(self):
        """Compares means over the same 100 arrangements. In units of n log n they are about 1.4 and 1.0."""
        for n in (16, 64, 256, 1024):
            unit = n * (n.bit_length() - 1)
            means = []
            for variant, most in (("plain", bound(n)), ("peterson2", n * (stages_peterson2(n) + 1))):
                runs = sim(f"{NAME} --nodes {n} --arrangement random --seeds 1..100 --param variant={variant}")["runs"]
                costs = [run["messages"]["election"] for run in runs]
                self.assertLessEqual(max(costs), most)
                means.append(sum(costs) / len(costs) / unit)
            self.assertTrue(1.3 < means[0] < 1.65, means)
            self.assertTrue(0.93 < means[1] < 1.2, means)

    def test_one_leader_agreed_by_all_in_every_interleaving(self):
        """Checks every arrangement and every set of initiators. max_messages includes the announcement."""
        for variant, sizes in (("plain", ((1, 4), (2, 54), (3, 784), (4, 19250), (5, 587576))),
                               ("peterson2", ((1, 4), (2, 39), (3, 548), (4, 10198), (5, 248091)))):
            for n, states in sizes:
                result = check(f"{NAME} --nodes {n} --param variant={variant}")
                self.assertEqual((result["complete"], result["states"]), (True, states))
                self.assertEqual([result[verdict] for verdict in ("unique_leader", "agreement", "termination")],
                                 ["holds"] * 3)
                self.assertEqual(result["invariants"], {"max_never_falls": "holds", "greatest_survives": "holds"})
                most = bound(n) if variant == "plain" else n * (stages_peterson2(n) + 1)
                self.assertEqual(result["max_messages"], most + n)

    def test_as_printed_one_that_has_relayed_may_initiate_and_nobody_is_elected(self):
        for text in ("printed", "printed:late-start"):
            result = check(f"{NAME} --nodes 3 --param text={text}", expect=1)
            self.assertEqual(result["termination"], "violated")
        result = check(f"{NAME} --nodes 2 --param text=printed --param variant=peterson2", expect=1)
        self.assertEqual(result["unique_leader"], "violated")

    def test_as_printed_the_greatest_initiator_is_elected_if_nobody_is_late(self):
        """This is the other reading of remark (a): a process that has relayed never initiates."""
        run = sim(f"{NAME} --nodes 8 --initiators 2,5 --param text=printed")
        self.assert_elected(run, 5)

    def test_the_types_of_messages_are_redundant(self):
        """"Since the order is always (1, …) (2, …) … the identifier 1/2 is redundant": without it, the runs are the same."""
        for variant, sizes in (("plain", ((3, 784), (4, 19250))), ("peterson2", ((3, 548), (4, 10198)))):
            words = f"{NAME} --param variant={variant}"
            for n, states in sizes:
                result = check(f"{words} --param types=off --nodes {n}")
                self.assertEqual((result["complete"], result["states"]), (True, states))
            for n in (1, 2, 5, 16, 64):
                typed = sim(f"{words} --nodes {n} --arrangement random --seed {n}")
                bare = sim(f"{words} --nodes {n} --arrangement random --seed {n} --param types=off")
                self.assert_elected(bare, n)
                self.assertEqual(bare["messages"]["election"], typed["messages"]["election"])
                self.assertEqual(bare["messages"]["by_type"]["NUMBER"], bare["messages"]["election"])
                self.assertNotIn("NUMBER", typed["messages"]["by_type"])

    def test_only_n_distinct_messages_are_needed(self):
        """"Only the process identifier number need be sent; thus only n distinct messages are needed"."""
        for types, most in (("on", 16), ("off", 8)):
            seen = set()
            for seed in range(1, 31):
                with tempfile.NamedTemporaryFile("r", encoding="utf-8") as trace:
                    sim(f"{NAME} --nodes 8 --arrangement random --seed {seed} --param types={types} --trace {trace.name}")
                    sends = [event for event in map(json.loads, trace) if event["ev"] == "send"]
                seen |= {send["text"] for send in sends if send["type"] != "ELECTED"}
            self.assertEqual(len(seen), most)

    def test_order_is_needed(self):
        for variant in VARIANTS:
            self.assertEqual(baton(f"check {NAME} --nodes 2 --reorder --param variant={variant}").code, 1)
            runs = sim(f"{NAME} --nodes 8 --arrangement random --reorder --delay exp:1 --seeds 1..20 "
                       f"--param variant={variant}", expect=1)["runs"]
            self.assertGreater(sum(run["violations"] > 0 for run in runs), 10)


if __name__ == "__main__":
    unittest.main()
