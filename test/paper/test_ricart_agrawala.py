"""Tests the claims of Neilsen's thesis about Ricart and Agrawala's algorithm (section 2.2), one by one."""
import unittest

from baton import check, no_violation_over, sim


class RicartAgrawala(unittest.TestCase):
    def test_an_entry_costs_2_times_n_minus_1_messages(self):
        for n in (2, 3, 5, 13, 30, 60):
            messages = sim(f"ricart-agrawala --nodes {n} --load light --entries 2000")["messages"]
            self.assertEqual((messages["min"], messages["max"]), (2 * (n - 1), 2 * (n - 1)))
            self.assertEqual(messages["by_type"], {"REQUEST": 2000 * (n - 1), "REPLY": 2000 * (n - 1)})

    def test_heavy_demand_costs_the_same(self):
        for n in (2, 3, 5, 13, 30, 60):
            for delay in ("constant:1", "exp:1"):
                run = sim(f"ricart-agrawala --nodes {n} --entries {200 * n} --delay {delay}")
                self.assertAlmostEqual(run["messages"]["per_entry"] / (2 * (n - 1)), 1, delta=0.01)

    def test_the_same_in_every_interleaving(self):
        for nodes, entries in ((2, 3), (3, 1), (3, 2)):
            result = check(f"ricart-agrawala --nodes {nodes} --entries {entries} --reorder")
            cost = 2 * (nodes - 1) * nodes * entries
            self.assertEqual((result["min_messages"], result["max_messages"]), (cost, cost))

    def test_the_next_enters_one_message_after_an_exit(self):
        for n in (2, 8, 60):
            delay = sim(f"ricart-agrawala --nodes {n}")["sync_delay"]
            self.assertEqual((delay["mean"], delay["max"]), (1, 1))

    def test_a_reply_carries_nothing(self):
        run = sim("ricart-agrawala --nodes 8 --entries 100 --load light")
        sent = run["messages"]["by_type"]
        # A REQUEST has a type, a number (two bytes from 128 on, with 100 requests) and a node; a REPLY has only a type.
        self.assertEqual(run["bytes"]["total"], 3 * sent["REQUEST"] + sent["REPLY"])

    def test_requests_are_served_in_the_order_of_the_numbers(self):
        for n in (2, 8, 60):
            run = sim(f"ricart-agrawala --nodes {n} --entries {50 * n}")
            self.assertEqual(run["bypass"]["max"], n - 1)

    def test_no_violation_with_unpredictable_delays_and_reordering(self):
        for n in (2, 3, 5, 8):
            no_violation_over("1..1000",
                              f"ricart-agrawala --nodes {n} --entries 100 --delay exp:1 --reorder")

    def test_mutual_exclusion_and_no_deadlock_in_every_interleaving(self):
        for nodes, entries, states in ((2, 3, 455), (3, 1, 2441), (3, 2, 34864), (4, 1, 1209188)):
            result = check(f"ricart-agrawala --nodes {nodes} --entries {entries} --reorder")
            self.assertEqual(result["states"], states)
            self.assertTrue(result["complete"])
            self.assertEqual(result["max_bypass"], nodes - 1)
            self.assertEqual(set(result["invariants"].values()), {"holds"})


class Steps(unittest.TestCase):
    """Section 2.2 does not say that a node takes its number and sends its REQUEST in one step."""

    def test_what_is_answered_in_between_lets_two_in(self):
        for text in ("printed", "printed:steps"):
            result = check(f"ricart-agrawala --nodes 2 --param text={text}", expect=1)
            self.assertEqual(result["mutual_exclusion"], "violated")
        sim("ricart-agrawala --nodes 5 --param text=printed:steps --delay exp:1", expect=1)


if __name__ == "__main__":
    unittest.main()
