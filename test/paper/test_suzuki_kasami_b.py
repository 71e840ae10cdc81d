"""Tests the claims of Suzuki and Kasami about algorithm B (section 3, Figure 2), one by one, and the errors of Figure 2."""
import unittest

from baton import check, no_violation_over, sim


class SuzukiKasamiB(unittest.TestCase):
    def test_heavy_demand_costs_the_average_of_section_3(self):
        """'The average number of message exchanges per invocation, N + (N-1)/L'."""
        for n in (2, 5, 20):
            for length in (2, 5):
                run = sim(f"suzuki-kasami-b --nodes {n} --param L={length} --entries {1000 * n}")
                self.assertAlmostEqual(run["messages"]["per_entry"] / (n + (n - 1) / length), 1, delta=0.02)

    def test_light_demand_costs_it_only_if_the_privilege_is_elsewhere(self):
        """The entry that ends a round costs the most: N messages and N-1 REPLYs."""
        for n in (2, 5, 20):
            for length in (2, 5):
                run = sim(f"suzuki-kasami-b --nodes {n} --param L={length} --load light --entries 20000")
                messages = run["messages"]
                expected = (1 - 1 / n) * (n + (n - 1) / length)
                self.assertAlmostEqual(messages["per_entry"] / expected, 1, delta=0.02)
                self.assertEqual((messages["min"], messages["max"]), (0, 2 * n - 1))

    def test_the_average_approaches_that_of_algorithm_a_as_rounds_get_longer(self):
        self.assertEqual(sim("suzuki-kasami-b --nodes 5 --param L=1000 --entries 4000")["messages"]["by_type"]["REPLY"], 0)
        b = sim("suzuki-kasami-b --nodes 5 --param L=1000 --entries 50000")["messages"]["per_entry"]
        a = sim("suzuki-kasami --nodes 5 --entries 50000")["messages"]["per_entry"]
        self.assertAlmostEqual((b - a) / (4 / 1000), 1, delta=0.02)

    def test_l_invocations_cost_at_most_what_section_3_says(self):
        """'At most L*N + (N-1) message exchanges for L mutual exclusion invocations by a single node': N nodes, L invocations
        each."""
        for n, length in ((2, 2), (2, 5), (3, 2)):
            result = check(f"suzuki-kasami-b --nodes {n} --param L={length} --entries {length}")
            self.assertEqual(result["max_messages"], n * (length * n + (n - 1)))

    def test_a_node_that_has_received_l_requests_of_another_replies_once(self):
        """For each of the 5 * 4 pairs of nodes, at most L-1 requests have no reply."""
        for length in (2, 3, 7):
            by_type = sim(f"suzuki-kasami-b --nodes 5 --param L={length} --load light --entries 2000")["messages"]["by_type"]
            unanswered = by_type["REQUEST"] - length * by_type["REPLY"]
            self.assertTrue(0 <= unanswered <= 5 * 4 * (length - 1), by_type)

    def test_sequence_numbers_are_bounded(self):
        """The sequence numbers of algorithm A are unbounded, so its messages get longer."""
        for name, grows in (("suzuki-kasami-b", False), ("suzuki-kasami", True)):
            short, long = (sim(f"{name} --nodes 3 --entries {e}")["bytes"]["largest"] for e in (60, 3000))
            self.assertEqual(long > short, grows, name)

    def test_the_privilege_needs_one_message_time_to_move(self):
        for length in (2, 5):
            delay = sim(f"suzuki-kasami-b --nodes 8 --param L={length}")["sync_delay"]
            self.assertEqual((delay["mean"], delay["max"]), (1, 1))

    def test_the_end_of_a_round_waits_for_slow_requests(self):
        """Section 3: 'can send the PRIVILEGE message only when it receives a REPLY message from all other nodes'."""
        often, rarely = (sim(f"suzuki-kasami-b --nodes 5 --param L={length} --load poisson:0.05 --entries 20000",
                             "--delay exp:1 --cs constant:0.01")["sync_delay"]["mean"] for length in (2, 1000))
        self.assertGreater(often, 1.2 * rarely)

    def test_no_violation_with_unpredictable_delays_and_reordering(self):
        for n in (2, 3, 5, 8):
            no_violation_over("1..1000", f"suzuki-kasami-b --nodes {n} --entries 100 --delay exp:1 --reorder")

    def test_mutual_exclusion_and_no_deadlock_in_every_interleaving(self):
        for entries, states in ((1, 726), (2, 149832)):
            result = check(f"suzuki-kasami-b --nodes 3 --entries {entries} --reorder")
            self.assertEqual(result["states"], states)
            self.assertTrue(result["complete"])
            self.assertEqual(result["max_bypass"], 2)
        self.assertTrue(check("suzuki-kasami-b --nodes 3 --entries 4,5,1 --param L=3")["complete"])

    def test_two_nodes_for_ever(self):
        """The state is finite, so the search ends even without a bound on entries. It looks for starvation too."""
        for length, states in ((2, 166), (3, 208)):
            result = check(f"suzuki-kasami-b --nodes 2 --entries unlimited --param L={length}")
            self.assertEqual((result["states"], result["starvation"]), (states, "none"))

    def test_figure_2_waits_for_replies_that_came_already(self):
        result = check("suzuki-kasami-b --nodes 2 --entries 4 --param L=2 --param text=printed:wait", expect=1)
        self.assertEqual((result["deadlock"], result["mutual_exclusion"]), ("found", None))
        check("suzuki-kasami-b --nodes 2 --entries 4 --param L=3 --param text=printed:wait", expect=1)
        sim("suzuki-kasami-b --nodes 3 --load light --param text=printed:wait", expect=1)

    def test_figure_2_takes_the_last_request_of_an_old_round_for_one_of_the_new(self):
        for entries, length in (("2,3,1", 2), ("4,5,1", 3)):
            result = check(f"suzuki-kasami-b --nodes 3 --entries {entries} --param L={length} --param text=printed:modulo",
                           expect=1)
            self.assertEqual(result["invariants"]["privilege_goes_to_who_waits"], "violated")
        check("suzuki-kasami-b --nodes 3 --entries 2,3,2 --fifo --param text=printed:modulo", expect=1)
        check("suzuki-kasami-b --nodes 3 --entries 2,3,2 --fifo")

    def test_two_nodes_are_immune_to_the_printed_modulus(self):
        """With two nodes, the only other node must have received the request."""
        check("suzuki-kasami-b --nodes 2 --entries unlimited --param text=printed:modulo")

    def test_figure_2_with_all_its_errors(self):
        check("suzuki-kasami-b --nodes 2 --entries 4 --param text=printed", expect=1)

    def test_without_replies_a_node_that_does_not_ask_is_taken_for_one_that_does(self):
        """Section 3 tells why there are REPLYs. Two nodes are immune. No REPLY is ever sent in these runs."""
        result = check("suzuki-kasami-b --nodes 3 --entries 2 --fifo --param replies=off", expect=1)
        self.assertEqual(result["invariants"]["privilege_goes_to_who_waits"], "violated")
        self.assertEqual(check("suzuki-kasami-b --nodes 3 --entries 2 --param replies=off", expect=1)["deadlock"], "found")
        self.assertTrue(check("suzuki-kasami-b --nodes 2 --entries 5 --param replies=off")["complete"])
        self.assertEqual(sim("suzuki-kasami-b --nodes 2 --param replies=off")["messages"]["by_type"]["REPLY"], 0)


if __name__ == "__main__":
    unittest.main()
