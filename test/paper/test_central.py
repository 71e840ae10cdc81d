"""Tests what Neilsen's thesis says about the centralized scheme (chapter 6)."""
import unittest

from baton import check, no_violation_over, sim


class Central(unittest.TestCase):
    def test_an_entry_costs_three_messages_or_none(self):
        for n in (2, 5, 50):
            messages = sim(f"central --nodes {n} --load light --entries 50000")["messages"]
            self.assertEqual((messages["min"], messages["max"]), (0, 3))
            self.assertAlmostEqual(messages["per_entry"] / (3 - 3 / n), 1, delta=0.02)

    def test_synchronization_delay_is_at_most_two(self):
        self.assertEqual(sim("central --nodes 8")["sync_delay"]["max"], 2)

    def test_no_violation(self):
        for topology in ("star", "complete"):
            for n in (2, 3, 5, 8):
                no_violation_over("1..1000", f"central --topology {topology} --nodes {n} --entries 100 --delay exp:1")

    def test_every_interleaving(self):
        for order in ("--fifo", "--reorder"):
            self.assertTrue(check(f"central --nodes 4 --entries 2 {order}")["complete"])
            self.assertTrue(check(f"central --nodes 4 --entries unlimited {order}")["complete"])


if __name__ == "__main__":
    unittest.main()
