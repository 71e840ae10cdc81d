"""Tests the claims of Neilsen 1989, section 2.7 and chapter 6, about Raymond's algorithm, one by one."""
import os
import unittest

from baton import ROOT, baton, check, no_violation_over, sim

KEPT = os.path.join(ROOT, "test/scenarios/violated/raymond-reask.scn")
TREES = ("star", "line", "tree:2", "tree:3", "radiating:2", "radiating:3")


def steps_of(text):
    """Returns a scenario without its comments."""
    lines = [line.partition("#")[0].rstrip() for line in text.splitlines()]
    return [line for line in lines if line]


class Raymond(unittest.TestCase):
    def test_messages_are_between_0_and_twice_the_diameter(self):
        for topology, n, diameter in (("star", 2, 1), ("star", 7, 2), ("line", 7, 6), ("tree:2", 7, 4),
                                      ("tree:3", 13, 4), ("radiating:3", 7, 4), ("edges:1-2,2-3,2-4,4-5", 5, 3)):
            messages = sim(f"raymond --topology {topology} --nodes {n} --load light --entries 20000")["messages"]
            self.assertEqual((messages["min"], messages["max"]), (0, 2 * diameter), topology)

    def test_average_on_a_star_is_twice_the_mean_distance(self):
        for n in (4, 10, 60):
            messages = sim(f"raymond --topology star --nodes {n} --load light --entries 100000")["messages"]
            self.assertAlmostEqual(messages["per_entry"] / (4 * (n - 1)**2 / n**2), 1, delta=0.02)
            self.assertEqual(messages["max"], 4)

    def test_average_on_a_line_is_twice_the_mean_distance(self):
        for n in (4, 10, 60):
            messages = sim(f"raymond --topology line --nodes {n} --load light --entries 100000")["messages"]
            self.assertAlmostEqual(messages["per_entry"] / (2 * (n**2 - 1) / (3 * n)), 1, delta=0.02)
            self.assertEqual(messages["max"], 2 * (n - 1))

    def test_heavy_demand_takes_each_edge_twice_in_both_ways_a_round_on_any_tree(self):
        for topology in TREES:
            for n in (4, 10, 60):
                run = sim(f"raymond --topology {topology} --nodes {n} --entries {500 * n}")
                self.assertAlmostEqual(run["messages"]["per_entry"] / (4 * (n - 1) / n), 1, delta=0.02)

    def test_synchronization_delay_is_at_most_the_diameter(self):
        for topology, n, diameter in (("tree:2", 7, 4), ("radiating:3", 7, 4), ("star", 8, 2), ("line", 8, 7)):
            delay = sim(f"raymond --topology {topology} --nodes {n}")["sync_delay"]
            self.assertLessEqual(delay["max"], diameter, topology)
            if topology in ("star", "line"):
                self.assertEqual(delay["max"], diameter)
            self.assertAlmostEqual(delay["mean"], 2 * (n - 1) / n, delta=0.02)

    def test_no_sequence_numbers_and_a_token_without_data(self):
        run = sim("raymond --nodes 8 --entries 100000")
        self.assertEqual(run["bytes"]["total"],
                         run["messages"]["by_type"]["PRIVILEGE"] + 2 * run["messages"]["by_type"]["REQUEST"])

    def test_a_node_keeps_a_queue_of_its_neighbours_and_itself_and_no_more(self):
        state = sim("raymond --nodes 10000 --entries 20000")["state_bytes"]
        self.assertEqual(state["max"], 16 + 4 * 10000)
        self.assertLess(state["mean"], 32)

    def test_every_size_from_2_to_60_on_every_tree(self):
        for topology in ("star", "line", "tree:2", "radiating:3"):
            for n in range(2, 61):
                run = sim(f"raymond --topology {topology} --nodes {n} --holder {n} --entries 200 --delay exp:1")
                self.assertEqual((run["violations"], run["entries"]), (0, 200))

    def test_no_violation_on_any_tree_with_unpredictable_delays_and_reordering(self):
        for topology in TREES:
            for n in (2, 3, 5, 8):
                no_violation_over("1..1000", f"raymond --topology {topology} --nodes {n} --entries 100",
                                  "--delay exp:1 --reorder")

    def test_mutual_exclusion_no_deadlock_no_starvation_for_ever_and_without_order(self):
        for words, states in (("star --nodes 4", 724), ("line --nodes 4", 664), ("line --nodes 5", 3692),
                              ("line --nodes 5 --holder 3", 3692), ("tree:2 --nodes 5", 4034),
                              ("tree:2 --nodes 6", 21166)):
            result = check("raymond --entries unlimited --reorder --topology", words)
            self.assertEqual((result["states"], result["complete"]), (states, True), words)

    def test_eight_entries_never_take_as_many_as_eight_times_twice_the_diameter(self):
        for topology, most in (("star", 24), ("line", 34)):  # compare 8 * 4 and 8 * 6
            result = check(f"raymond --topology {topology} --nodes 4 --entries 2")
            self.assertEqual((result["max_messages"], result["complete"]), (most, True))

    def test_not_to_ask_the_new_holder_again_deadlocks(self):
        for text in ("printed", "printed:reask"):
            for topology in ("star", "line"):
                for order in ("--fifo", "--reorder"):
                    result = check(f"raymond --topology {topology} --nodes 3 --param text={text}", order, expect=1)
                    self.assertEqual((result["deadlock"], result["mutual_exclusion"]), ("found", None))

    def test_the_kept_schedule_is_the_shortest_and_the_mended_rule_survives_it(self):
        with open(KEPT, encoding="utf-8") as file:
            kept = steps_of(file.read())
        result = check("raymond --topology line --nodes 3 --param text=printed:reask", expect=1)
        self.assertEqual(steps_of(result["counterexample"]), kept)
        mended = [line for line in kept[:-1] if not line.startswith("param")]
        result = baton("replay -", stdin="\n".join([*mended, "run", kept[-1], ""]))
        self.assertEqual(result.code, 0, result)


if __name__ == "__main__":
    unittest.main()
