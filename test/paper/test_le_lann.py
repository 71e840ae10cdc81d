"""Tests what Raynal, chapter 2, section 4.1, says about Le Lann's ring, and measures its cost."""
import unittest

from baton import check, no_violation_over, sim


class LeLann(unittest.TestCase):
    def test_exclusion_and_neither_deadlock_nor_starving(self):
        """"There is only one message of the type 'token'"; "neither deadlock nor starving"."""
        for n, states in ((1, 3), (2, 12), (3, 36), (5, 240), (8, 3072)):
            result = check(f"le-lann --nodes {n} --entries unlimited")
            self.assertTrue(result["complete"])
            self.assertEqual(result["states"], states)
            self.assertEqual((result["mutual_exclusion"], result["deadlock"]), ("holds", "none"))
            self.assertEqual(result["starvation"], "none")
            self.assertEqual(result["invariants"], {"one_token": "holds"})

    def test_everybody_else_enters_at_most_once_before_me(self):
        for n in (1, 2, 5):
            self.assertEqual(check(f"le-lann --nodes {n} --entries unlimited")["max_bypass"], n - 1)
        self.assertEqual(sim("le-lann --nodes 8")["bypass"]["max"], 7)

    def test_from_request_to_entry_the_token_makes_half_a_turn(self):
        """A request waits (n+1)/2 hops on average, at least one and at most a whole turn."""
        for n in (1, 2, 5, 20):
            report = sim(f"le-lann --nodes {n} --load light --entries 20000")
            messages = report["messages"]
            self.assertEqual((messages["min"], messages["max"]), (1, n))
            self.assertAlmostEqual(messages["per_entry"] / ((n + 1) / 2), 1, delta=0.02)
            self.assertAlmostEqual(report["response"]["mean"] / (n / 2), 1, delta=0.02)

    def test_hops_while_nobody_wants_in_are_counted_apart(self):
        """Between an exit and the next request the token makes half a turn. One of these hops counts for the request."""
        for n in (5, 20):
            messages = sim(f"le-lann --nodes {n} --load light --entries 20000")["messages"]
            self.assertAlmostEqual(messages["idle"] / 20000 / ((n - 1) / 2), 1, delta=0.02)
            self.assertEqual(messages["total"], messages["by_type"]["TOKEN"])

    def test_one_hop_for_an_entry_when_all_want_in(self):
        for n in (1, 2, 5, 20):
            messages = sim(f"le-lann --nodes {n}")["messages"]
            self.assertEqual((messages["per_entry"], messages["idle"]), (1, 0))

    def test_the_token_needs_one_message_time_to_the_next_when_all_want_in(self):
        delay = sim("le-lann --nodes 8")["sync_delay"]
        self.assertEqual((delay["mean"], delay["max"]), (1, 1))

    def test_the_token_needs_at_most_n_minus_1_hops_to_the_next_that_waits(self):
        delay = sim("le-lann --nodes 8 --load poisson:0.02 --entries 20000")["sync_delay"]
        self.assertEqual(delay["max"], 7)

    def test_no_violation_with_unpredictable_delays(self):
        for n in (2, 3, 5, 8):
            no_violation_over("1..1000", f"le-lann --nodes {n} --entries 100 --delay exp:1 --reorder")

    def test_a_lost_token_is_gone(self):
        """"If the loss is of the message conveying the token … deadlock begins to appear" (section 3.6)."""
        for hop in (1, 7, 40):
            for load in ("heavy", "light"):
                report = sim(f"le-lann --nodes 5 --load {load} --lose-token {hop}", expect=1)
                self.assertEqual((report["lost"], report["violations"]), (1, 1))
                self.assertLess(report["entries"], hop)
                self.assertIsNone(report["regenerated"])
        self.assertEqual(check("le-lann --nodes 3 --lose-token", expect=1)["deadlock"], "found")


if __name__ == "__main__":
    unittest.main()
