"""Tests the claims about Maekawa's algorithm and Sanders' correction, one by one.

The text is section 2.6 of Neilsen's thesis. K is the size of a committee, its own node included. A node sends
itself no messages, so "approximately c sqrt(N)" is c(K - 1) here.
"""
import itertools
import json
import tempfile
import unittest

from baton import baton, check, no_violation_over, sim

# The number of nodes and K. For projective planes, N = K(K - 1) + 1.
PLANES = {7: 3, 13: 4, 21: 5, 31: 6, 57: 8, 73: 9, 91: 10}
GRIDS = {4: 3, 9: 5, 16: 7, 25: 9}
FULL = "--param committees=1.2.3/1.2.3/1.2.3"
TRIANGLE = "--param committees=1.2/2.3/3.1"


def made(nodes):
    return "--param committees=grid" if nodes in GRIDS else ""


def committees(nodes, kind):
    """Returns the nodes that each node asks, itself included."""
    with tempfile.NamedTemporaryFile() as file:
        sim(f"maekawa --nodes {nodes} --entries 1 --param committees={kind} --trace {file.name}")
        events = [json.loads(line) for line in file]
    asked = {i: {i} for i in range(1, nodes + 1)}
    for event in events:
        if event["ev"] == "send" and event["type"] == "REQUEST" and event["t"] == 0:
            asked[event["from"]].add(event["to"])
    return asked


class Committees(unittest.TestCase):
    def test_those_of_a_plane_have_k_members_and_meet_in_one(self):
        for nodes, k in PLANES.items():
            sets = committees(nodes, "plane")
            self.assertEqual({len(members) for members in sets.values()}, {k})
            for a, b in itertools.combinations(sets.values(), 2):
                self.assertEqual(len(a & b), 1)

    def test_those_of_a_grid_meet_though_its_last_row_is_short(self):
        for nodes in range(1, 31):
            for a, b in itertools.combinations(committees(nodes, "grid").values(), 2):
                self.assertTrue(a & b, nodes)

    def test_cyclic_ones_are_about_as_small_as_can_be(self):
        """The committees are translates of a difference cover: all have the same size, and any two meet."""
        for nodes, k in ((16, 5), (64, 9), (100, 12), (2, 2), (5, 3), (20, 6), (23, 6), (300, 21)):
            sets = committees(nodes, "cyclic")
            self.assertEqual({len(members) for members in sets.values()}, {k}, nodes)
            for a, b in itertools.combinations(sets.values(), 2):
                self.assertTrue(a & b, nodes)
            self.assertGreaterEqual(k * (k - 1) + 1, nodes)  # no committees of equal size can be smaller

    def test_the_smallest_are_taken_and_of_several_a_plane_then_a_grid(self):
        for nodes in range(1, 32):
            made = {kind: committees(nodes, kind) for kind in ("plane", "grid", "cyclic")
                    if kind != "plane" or nodes in (3, 7, 13, 21, 31)}
            best = min(made.values(), key=lambda sets: max(map(len, sets.values())))  # the first of several covers
            self.assertEqual(committees(nodes, "auto"), best, nodes)

    def test_with_small_committees_the_claims_hold(self):
        """Neilsen 2.6: committees have about sqrt(N) members, and an entry takes at most 7 sqrt(N) messages."""
        for nodes in (16, 64, 100):
            run = sim(f"maekawa --nodes {nodes} --entries 2000 --delay exp:1")
            self.assertLessEqual(run["messages"]["per_entry"], 5 * nodes ** 0.5)

    def test_a_plane_that_nobody_knows_is_refused(self):
        for nodes in (2, 4, 8, 43, 111):  # q = 6 and q = 10 are not powers of primes
            result = baton(f"sim maekawa --nodes {nodes} --param committees=plane")
            self.assertEqual((result.code, result.out), (2, ""))
            self.assertIn("power of a prime", result.err)

    def test_committees_that_would_not_do_are_refused_with_the_reason(self):
        for text, reason in (
            ("1.2/2.3/1.2", "in its own"),
            ("1/2/3", "in common"),
            ("1.2/2.3/1.3/1", "more committees"),
            ("1.2/2.3", "fewer committees"),
            ("1.2/2.3/3.4", "from 1 to"),
            ("1.2/2.3/3.0", "from 1 to"),
            ("1.2/2.3/3.1.3", "twice"),
            ("1.2/2.3/3,1", "separated"),
            ("1..2/2.3/3.1", "given as"),
            ("gird", "given as"),
        ):
            result = baton(f"sim maekawa --nodes 3 --param committees={text}")
            self.assertEqual((result.code, result.out), (2, ""), text)
            self.assertIn(reason, result.err)


class Maekawa(unittest.TestCase):
    def test_in_the_best_case_three_sets_of_messages(self):
        """The three sets are REQUEST, LOCKED and RELEASE."""
        for nodes, k in (PLANES | GRIDS | {2: 2, 3: 2}).items():
            messages = sim(f"maekawa --nodes {nodes} --load light --entries 2000 {made(nodes)}")["messages"]
            self.assertEqual((messages["min"], messages["max"]), (3 * (k - 1), 3 * (k - 1)), nodes)

    def test_all_want_in_all_the_time_four_sets_of_messages(self):
        """The fourth set are the FAILs: a node that asks again comes after all others."""
        for nodes, k in {7: 3, 13: 4, 31: 6, **GRIDS}.items():
            messages = sim(f"maekawa --nodes {nodes} --entries {500 * nodes} {made(nodes)}")["messages"]
            self.assertAlmostEqual(messages["per_entry"] / (4 * (k - 1)), 1, delta=0.01)

    def test_no_load_takes_more_than_seven_sets_of_messages(self):
        for nodes, k in {7: 3, 13: 4, 57: 8, **GRIDS}.items():
            for load in ("heavy", "poisson:0.01", "poisson:0.1", "poisson:1"):
                for delay in ("constant:1", "exp:1", "uniform:0,20"):
                    run = sim(f"maekawa --nodes {nodes} --entries 2000 --load {load} --delay {delay} {made(nodes)}")
                    self.assertLessEqual(run["messages"]["per_entry"], 7 * (k - 1))

    def test_all_seven_sets_of_messages_occur(self):
        kinds = sim("maekawa --nodes 13 --entries 2000 --load poisson:0.05 --delay exp:1")["messages"]["by_type"]
        self.assertTrue(all(kinds.values()), kinds)
        self.assertGreater(kinds["LOCKED"], kinds["REQUEST"])  # some members' locks are relinquished

    def test_synchronization_delay_is_release_and_locked(self):
        for nodes in (9, 16, 25):
            delay = sim(f"maekawa --nodes {nodes} --entries {50 * nodes} {made(nodes)}")["sync_delay"]
            self.assertEqual((delay["mean"], delay["max"]), (2, 2))

    def test_synchronization_delay_is_one_if_the_last_arbiter_leaves_or_enters(self):
        self.assertEqual(sim("maekawa --nodes 2")["sync_delay"], {"mean": 1, "max": 1})
        # On a plane, i + 1 is in the committee of i. If the nodes are served in turn, the two meet at one member.
        self.assertAlmostEqual(sim("maekawa --nodes 7 --entries 5000")["sync_delay"]["mean"], 1, delta=0.01)

    def test_no_violation_with_unpredictable_delays(self):
        for nodes in (2, 3, 5, 7, 8, 13):
            no_violation_over("1..1000", f"maekawa --nodes {nodes} --entries 100 --delay exp:1")

    def test_no_violation_in_every_interleaving_and_no_more_messages_than_seven_sets(self):
        for words, k, states, most in (
            ("--nodes 1 --entries 3", 1, 7, 0),
            ("--nodes 2 --entries 4", 2, 1578, 31),
            (f"--nodes 3 --entries 1 {TRIANGLE}", 2, 457, 11),
            (f"--nodes 3 --entries 3 {TRIANGLE}", 2, 73260, 34),
            (f"--nodes 3 --entries 1 {FULL}", 3, 10950, 26),
            (f"--nodes 3 --entries 2 {FULL}", 3, 319644, 53),
            ("--nodes 4 --entries 1", 3, 235934, 36),
        ):
            result = check(f"maekawa {words}")
            self.assertEqual((result["states"], result["complete"]), (states, True), words)
            self.assertEqual(result["max_messages"], most, words)
            self.assertEqual(result["min_messages"], 3 * (k - 1) * result["nodes"] * result["entries"], words)
            self.assertLessEqual(most, 7 * (k - 1) * result["nodes"] * result["entries"])

    def test_no_violation_in_every_interleaving_of_four_on_a_plane_of_seven(self):
        result = check("maekawa --nodes 7 --entries 1,1,1,1,0,0,0")
        self.assertEqual((result["states"], result["complete"]), (142539, True))


class Printed(unittest.TestCase):
    def test_fail_at_arrival_only_deadlocks_as_sanders_pointed_out(self):
        result = check("maekawa --nodes 4 --param text=printed:maekawa", expect=1)
        self.assertEqual(result["deadlock"], "found")

    def test_to_compare_with_the_locking_request_only_deadlocks(self):
        for text in ("printed", "printed:neilsen"):
            result = check(f"maekawa --nodes 4 --param text={text}", expect=1)
            self.assertEqual(result["deadlock"], "found")

    def test_both_deadlock_on_a_plane_soon(self):
        for text in ("printed:neilsen", "printed:maekawa"):
            words = f"maekawa --nodes 7 --entries 100 --delay exp:1 --param text={text} --seeds 1..50"
            self.assertGreater(sum(run["violations"] > 0 for run in sim(words, expect=1)["runs"]), 10)

    def test_three_nodes_deadlock_only_if_their_committees_are_not_alike(self):
        for text in ("printed:neilsen", "printed:maekawa"):
            for given in (FULL, TRIANGLE):
                check(f"maekawa --nodes 3 {given} --param text={text}")
            unlike = f"maekawa --nodes 3 --param committees=1.2.3/2.3/3 --param text={text}"
            self.assertEqual(check(unlike, expect=1)["deadlock"], "found")

    def test_mended_no_committees_of_three_nodes_deadlock(self):
        own = {i: [s for s in ((1,), (2,), (3,), (1, 2), (1, 3), (2, 3), (1, 2, 3)) if i in s] for i in (1, 2, 3)}
        count = 0
        for sets in itertools.product(own[1], own[2], own[3]):
            if all(set(a) & set(b) for a, b in itertools.combinations(sets, 2)):
                given = "/".join(".".join(map(str, members)) for members in sets)
                self.assertTrue(check(f"maekawa --nodes 3 --param committees={given}")["complete"])
                count += 1
        self.assertEqual(count, 39)

    def test_messages_that_overtake_each_other_break_it(self):
        for nodes in (2, 3, 4):
            check(f"maekawa --nodes {nodes} --reorder", expect=1)
        runs = sim("maekawa --nodes 7 --reorder --entries 100 --delay exp:1 --seeds 1..20", expect=1)["runs"]
        self.assertGreater(sum(run["violations"] > 0 for run in runs), 10)


if __name__ == "__main__":
    unittest.main()
