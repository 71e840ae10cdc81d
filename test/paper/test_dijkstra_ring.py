"""Tests what Dijkstra's note of 12 March 1983 promises, and measures what the ring costs."""
import re
import unittest

from baton import ROOT, baton, check, no_violation_over, sim

INVARIANTS = (
    "one_token",
    "P0_critical_has_the_token",
    "P1_token_does_not_wait",
    "P3_white_left_of_black_waits",
    "P4_signal_finds_white",
    "P5_token_finds_black_or_waiting",
    "P6_idle_token_is_white",
    "connection_has_one_message",
    "permissible",
)


class DijkstraRing(unittest.TestCase):
    def test_r0_r1_and_the_invariants_hold_in_every_interleaving(self):
        """R0 says that one process at a time is inside, R1 that nobody waits for ever. P0, P1 and
        P3 to P6 hold, and a connection has one message at most."""
        for n, states in ((1, 2), (2, 16), (3, 87), (4, 404), (5, 1735), (6, 7122)):
            for order in ("--fifo", "--reorder"):
                with self.subTest(nodes=n, order=order):
                    result = check(f"dijkstra-ring --nodes {n} --entries unlimited {order}")
                    self.assertTrue(result["complete"])
                    self.assertEqual(result["states"], states)
                    self.assertEqual(result["starvation"], "none")
                    self.assertEqual(result["invariants"], dict.fromkeys(INVARIANTS, "holds"))

    def test_the_states_that_are_reached_are_the_words_of_the_expression(self):
        """The note's question: "a genuine invariant characterizing all permissible states"."""
        for n in range(1, 9):
            result = check(f"dijkstra-ring --nodes {n} --entries unlimited")
            self.assertEqual(result["permitted"], {"permissible": result["states"]})
        text = baton("check dijkstra-ring --nodes 7 --entries unlimited").out
        self.assertIn('permitted 28385 by "permissible": exactly the states that were reached', text)

    def test_nothing_is_said_of_permitted_states_where_not_all_can_be_reached(self):
        for words in ("--entries 2", "--entries unlimited --max-states 10"):
            result = check(f"dijkstra-ring --nodes 3 {words}", expect=None)
            self.assertNotIn("permitted", result)

    def test_the_page_has_the_expression_of_the_program(self):
        with open(f"{ROOT}/doc/algorithms/dijkstra-ring.md", encoding="utf-8") as file:
            block = file.read().split("```")[1]
        parts = dict(re.findall(r"^(TRAIL|MORE) += (.*?)(?:  .*)?$", block, re.M))
        lines = re.findall(r"^  [ |] (.*?)(?:  .*)?$", block, re.M)
        expression = "|".join(lines)
        expression = expression.replace("MORE", f"({parts['MORE']})").replace("TRAIL", parts["TRAIL"]).replace(" ", "")
        with open(f"{ROOT}/src/algorithms/dijkstra_ring_words.c", encoding="utf-8") as file:
            source = file.read()
        trail, more = (re.search(rf"#define {name} (.*)", source)[1] for name in ("TRAIL", "MORE"))
        text = re.search(r"words_permitted\[\] = (.*?);", source, re.S)[1].replace("MORE", more).replace("TRAIL", trail)
        self.assertEqual("".join(re.findall(r'"(.*?)"', text)), expression)

    def test_the_token_may_reside_at_an_arbitrary_process(self):
        for holder in range(1, 5):
            result = check(f"dijkstra-ring --nodes 4 --entries unlimited --holder {holder}")
            self.assertEqual(result["states"], 404)

    def test_as_many_signals_as_hops_of_the_token_for_an_isolated_entry(self):
        """There are d signals to the right and d hops to the left. d is uniform from 0 to n-1."""
        for n in (2, 5, 20):
            messages = sim(f"dijkstra-ring --nodes {n} --load light --entries 20000")["messages"]
            self.assertEqual((messages["min"], messages["max"]), (0, 2 * (n - 1)))
            self.assertAlmostEqual(messages["per_entry"] / (n - 1), 1, delta=0.03)
            self.assertEqual(messages["by_type"]["SIGNAL"], messages["by_type"]["TOKEN"])

    def test_the_longest_way_is_all_round(self):
        result = check("dijkstra-ring --nodes 5 --entries 0,1,0,0,0")
        self.assertEqual((result["min_messages"], result["max_messages"]), (8, 8))
        result = check("dijkstra-ring --nodes 5 --entries 0,0,0,0,1")
        self.assertEqual((result["min_messages"], result["max_messages"]), (2, 2))

    def test_a_signal_and_a_hop_for_an_entry_when_all_want_in(self):
        for n in (2, 5, 20):
            messages = sim(f"dijkstra-ring --nodes {n} --entries {1000 * n}")["messages"]
            self.assertAlmostEqual(messages["per_entry"], 2, delta=0.01)

    def test_the_token_needs_one_message_time_to_the_next_when_all_want_in(self):
        for n in (2, 8):
            delay = sim(f"dijkstra-ring --nodes {n}")["sync_delay"]
            self.assertEqual((delay["mean"], delay["max"]), (1, 1))

    def test_from_an_exit_to_the_next_entry_at_most_a_signal_all_round_and_the_token_back(self):
        delay = sim("dijkstra-ring --nodes 8 --load poisson:0.02 --entries 20000")["sync_delay"]
        self.assertGreater(delay["max"], 7)
        self.assertLessEqual(delay["max"], 2 * 7)

    def test_everybody_is_served_in_turn_when_all_want_in(self):
        for n in (2, 8):
            self.assertEqual(sim(f"dijkstra-ring --nodes {n}")["bypass"]["max"], n - 1)

    def test_no_message_in_a_ring_of_one(self):
        self.assertEqual(sim("dijkstra-ring --nodes 1")["messages"]["total"], 0)

    def test_no_violation_with_unpredictable_delays_and_reordering(self):
        for n in (2, 3, 5, 8):
            no_violation_over("1..1000", f"dijkstra-ring --nodes {n} --entries 100 --delay exp:1 --reorder")

    def test_a_lost_token_is_never_called_again(self):
        self.assertEqual(check("dijkstra-ring --nodes 3 --lose-token", expect=1)["deadlock"], "found")
        self.assertEqual(sim("dijkstra-ring --nodes 5 --lose-token 7", expect=1)["entries"], 7)


class Overbars(unittest.TestCase):
    """Our scan of the note has lost every overbar, which means negation."""

    def test_without_them_the_token_stays_where_nobody_wants_it(self):
        for text in ("printed", "printed:overbars"):
            result = check(f"dijkstra-ring --nodes 2 --param text={text}", expect=1)
            self.assertEqual(result["invariants"]["P6_idle_token_is_white"], "violated")
        sim("dijkstra-ring --nodes 5 --param text=printed:overbars --load light", expect=1)


if __name__ == "__main__":
    unittest.main()
