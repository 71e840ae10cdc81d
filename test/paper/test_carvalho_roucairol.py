"""Tests the claims that Neilsen's thesis (section 2.3) and Raynal (section 3.1) make about Carvalho and Roucairol's algorithm,
one by one, and the case that their texts leave out."""
import unittest

from baton import check, no_violation_over, sim


class CarvalhoRoucairol(unittest.TestCase):
    def test_an_entry_costs_0_to_2_times_n_minus_1_messages(self):
        for n in (2, 3, 5, 13):
            messages = sim(f"carvalho-roucairol --nodes {n} --load light --entries 20000")["messages"]
            self.assertEqual((messages["min"], messages["max"]), (0, 2 * (n - 1)))
            self.assertAlmostEqual(messages["per_entry"] / (n - 1), 1, delta=0.02)

    def test_one_request_at_a_time_costs_n_minus_1_messages_on_the_average(self):
        for n in (30, 60):
            run = sim(f"carvalho-roucairol --nodes {n} --load light --entries 20000")
            self.assertAlmostEqual(run["messages"]["per_entry"] / (n - 1), 1, delta=0.02)

    def test_heavy_demand_costs_2_times_n_minus_1_messages(self):
        for n in (2, 3, 5, 13, 30, 60):
            run = sim(f"carvalho-roucairol --nodes {n} --entries {200 * n}")
            self.assertAlmostEqual(run["messages"]["per_entry"] / (2 * (n - 1)), 1, delta=0.01)

    def test_a_node_may_enter_repeatedly_until_it_is_asked(self):
        """"Permanent access" (Raynal 3.1): only node 1 wants to enter, and only its first entry costs messages."""
        result = check("carvalho-roucairol --nodes 3 --entries 4,0,0")
        self.assertEqual((result["min_messages"], result["max_messages"]), (4, 4))

    def test_at_most_2_times_n_minus_1_messages_in_every_interleaving(self):
        for nodes, entries in ((2, 3), (3, 2), (3, 3)):
            result = check(f"carvalho-roucairol --nodes {nodes} --entries {entries} --reorder")
            self.assertEqual(result["max_messages"], 2 * (nodes - 1) * nodes * entries)

    def test_at_least_one_exchange_for_each_pair(self):
        """A node that has all permissions enters as often as it likes. But at the start no node has any."""
        for entries in (2, 3):
            result = check(f"carvalho-roucairol --nodes 3 --entries {entries}")
            self.assertEqual(result["min_messages"], 12)

    def test_the_next_enters_one_message_after_an_exit(self):
        for n in (2, 8, 60):
            delay = sim(f"carvalho-roucairol --nodes {n}")["sync_delay"]
            self.assertEqual((delay["mean"], delay["max"]), (1, 1))

    def test_no_violation_with_unpredictable_delays_and_reordering(self):
        for n in (2, 3, 5, 8):
            no_violation_over(
                "1..1000", f"carvalho-roucairol --nodes {n} --entries 100 --delay exp:1 --reorder")
        no_violation_over("1..1000", "carvalho-roucairol --nodes 5 --entries 100 --delay exp:1 "
                                     "--load poisson:0.1 --reorder")

    def test_mutual_exclusion_and_no_deadlock_in_every_interleaving(self):
        for nodes, entries, states in ((2, 3, 343), (3, 2, 21249), (3, 3, 142917)):
            result = check(f"carvalho-roucairol --nodes {nodes} --entries {entries} --reorder")
            self.assertEqual(result["states"], states)
            self.assertTrue(result["complete"])
            self.assertEqual(result["max_bypass"], nodes - 1)
            self.assertEqual(set(result["invariants"].values()), {"holds"})

    def test_the_case_that_the_texts_leave_out(self):
        """Each way to overlook this case fails as soon as one of three nodes enters twice."""
        for text, property_, verdict, steps in (
            ("printed", "deadlock", "found", 21),
            ("printed:reply", "deadlock", "found", 21),
            ("printed:keep", "mutual_exclusion", "violated", 20),
            ("printed:defer", "deadlock", "found", 16),
        ):
            for order in ("--fifo", "--reorder"):
                words = f"carvalho-roucairol --nodes 3 --param text={text} {order}"
                result = check(words, "--entries 1,1,2", expect=1)
                self.assertEqual(result[property_], verdict)
                self.assertIn(f" {steps} steps", result["counterexample"])
                self.assertTrue(check(words, "--entries 1")["complete"])
            sim(f"carvalho-roucairol --nodes 5 --entries 100 --delay exp:1 --param text={text}", expect=1)

    def test_two_nodes_cannot_show_it(self):
        for text in ("printed:reply", "printed:keep", "printed:defer"):
            self.assertTrue(check(f"carvalho-roucairol --nodes 2 --entries 3 --param text={text}")["complete"])


if __name__ == "__main__":
    unittest.main()
