"""Tests the claims of Neilsen's thesis about Lamport's algorithm (section 2.1), one by one."""
import unittest

from baton import check, no_violation_over, sim


class Lamport(unittest.TestCase):
    def test_one_request_at_a_time_costs_3_times_n_minus_1_messages(self):
        for n in (2, 3, 5, 13, 30, 60):
            messages = sim(f"lamport --nodes {n} --load light --entries 2000")["messages"]
            self.assertEqual((messages["min"], messages["max"]), (3 * (n - 1), 3 * (n - 1)))
            self.assertEqual(messages["by_type"], dict.fromkeys(
                ("REQUEST", "ACKNOWLEDGE", "RELEASE"), 2000 * (n - 1)))

    def test_heavy_demand_needs_no_acknowledgement(self):
        for n in (2, 3, 5, 13, 30, 60):
            for delay in ("constant:1", "exp:1"):
                run = sim(f"lamport --nodes {n} --entries {100 * n} --delay {delay}")
                self.assertAlmostEqual(run["messages"]["per_entry"] / (2 * (n - 1)), 1, delta=0.02)
                self.assertEqual(run["messages"]["by_type"]["ACKNOWLEDGE"], 0)

    def test_at_most_3_times_n_minus_1_messages_in_every_interleaving(self):
        for nodes, entries in ((2, 3), (3, 1)):
            result = check(f"lamport --nodes {nodes} --entries {entries}")
            self.assertEqual(result["max_messages"], 3 * (nodes - 1) * nodes * entries)
            self.assertEqual(result["min_messages"], 2 * (nodes - 1) * nodes * entries)

    def test_load_between_light_and_heavy_stays_within_the_bounds(self):
        for rate in ("0.02", "0.2", "2"):
            run = sim(f"lamport --nodes 8 --entries 5000 --load poisson:{rate} --delay exp:1")
            self.assertLessEqual(run["messages"]["per_entry"], 3 * 7)
            # When the last entry ends, some of its messages have not been sent yet.
            self.assertGreaterEqual(run["messages"]["per_entry"], 2 * 7 * 0.99)

    def test_the_next_enters_one_message_after_an_exit(self):
        for n in (2, 8, 60):
            delay = sim(f"lamport --nodes {n}")["sync_delay"]
            self.assertEqual((delay["mean"], delay["max"]), (1, 1))

    def test_requests_are_served_in_the_order_of_the_clocks(self):
        for n in (2, 8, 60):
            self.assertEqual(sim(f"lamport --nodes {n} --entries {50 * n}")["bypass"]["max"], n - 1)

    def test_no_violation_with_unpredictable_delays(self):
        for n in (2, 3, 5, 8):
            no_violation_over("1..1000", f"lamport --nodes {n} --entries 100 --delay exp:1")

    def test_mutual_exclusion_and_no_deadlock_in_every_interleaving(self):
        for nodes, entries, states in ((2, 1, 68), (2, 3, 7666), (3, 1, 388967)):
            result = check(f"lamport --nodes {nodes} --entries {entries}")
            self.assertEqual(result["states"], states)
            self.assertTrue(result["complete"] and result["fifo"])
            self.assertEqual(set(result["invariants"].values()), {"holds"})

    def test_every_request_is_acknowledged_if_that_is_wanted(self):
        """Raynal 3.1: an entry takes 3(n - 1) messages, whatever the load."""
        for nodes in (2, 5, 16):
            for load in ("light", "heavy", "poisson:0.1"):
                messages = sim(f"lamport --param acknowledge=always --nodes {nodes} --load {load} --entries {40 * nodes}")["messages"]
                self.assertAlmostEqual(messages["per_entry"] / (3 * (nodes - 1)), 1, delta=0.05 if "p" in load else 0)
        for words in ("--nodes 2 --entries 3", "--nodes 3 --entries 1,1,0", "--nodes 3"):
            result = check(f"lamport --param acknowledge=always {words}")
            self.assertEqual(set(result["invariants"].values()), {"holds"})
            self.assertEqual(result["min_messages"], result["max_messages"])

    def test_messages_must_not_overtake_each_other(self):
        """Chapter 2 assumes this. If messages overtake each other, the checker finds a deadlock."""
        for words in ("--nodes 2 --entries 1,2", "--nodes 3"):
            result = check(f"lamport {words} --reorder", expect=1)
            self.assertEqual(result["deadlock"], "found")
            self.assertIsNone(result["mutual_exclusion"])
        runs = sim("lamport --nodes 3 --entries 100 --delay exp:1 --reorder --seeds 1..50", expect=1)["runs"]
        self.assertGreater(sum(run["violations"] > 0 for run in runs), 5)


class Steps(unittest.TestCase):
    """Section 2.1 does not say that a node takes its number and sends its REQUEST in one step."""

    def test_what_is_acknowledged_in_between_lets_two_in(self):
        for text in ("printed", "printed:steps"):
            result = check(f"lamport --nodes 2 --param text={text}", expect=1)
            self.assertEqual(result["mutual_exclusion"], "violated")
        sim("lamport --nodes 5 --param text=printed:steps --delay exp:1", expect=1)


if __name__ == "__main__":
    unittest.main()
