"""Tests the claims of Suzuki and Kasami about algorithm A, one by one."""
import unittest

from baton import check, no_violation_over, sim


class SuzukiKasami(unittest.TestCase):
    def test_an_entry_costs_n_messages_or_none(self):
        for n in (2, 5, 20):
            messages = sim(f"suzuki-kasami --nodes {n} --load light --entries 20000")["messages"]
            self.assertEqual((messages["min"], messages["max"]), (0, n))
            self.assertAlmostEqual(messages["per_entry"] / (n - 1), 1, delta=0.03)

    def test_heavy_demand_costs_n_messages(self):
        for n in (2, 5, 20):
            messages = sim(f"suzuki-kasami --nodes {n} --entries {1000 * n}")["messages"]
            self.assertAlmostEqual(messages["per_entry"] / n, 1, delta=0.01)

    def test_the_privilege_needs_one_message_time_to_move(self):
        delay = sim("suzuki-kasami --nodes 8")["sync_delay"]
        self.assertEqual((delay["mean"], delay["max"]), (1, 1))

    def test_first_come_first_served_to_some_extent(self):
        self.assertLessEqual(sim("suzuki-kasami --nodes 8")["bypass"]["max"], 8)

    def test_no_violation_with_unpredictable_delays_and_reordering(self):
        for n in (2, 3, 5, 8):
            no_violation_over("1..1000", f"suzuki-kasami --nodes {n} --entries 100 --delay exp:1 --reorder")

    def test_mutual_exclusion_and_no_deadlock_in_every_interleaving(self):
        for entries, states in ((1, 726), (2, 58973)):
            result = check(f"suzuki-kasami --nodes 3 --entries {entries} --reorder")
            self.assertEqual(result["states"], states)
            self.assertTrue(result["complete"])
            self.assertEqual(result["max_bypass"], 2)


class Steps(unittest.TestCase):
    """Figure 1 says "P2 is indivisible", and says nothing about P1."""

    def test_a_request_within_the_end_of_p1_is_lost(self):
        for text in ("printed", "printed:steps"):
            result = check(f"suzuki-kasami --nodes 2 --param text={text}", expect=1)
            self.assertEqual((result["mutual_exclusion"], result["deadlock"]), (None, "found"))


if __name__ == "__main__":
    unittest.main()
