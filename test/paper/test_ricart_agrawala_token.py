"""Tests the claims of Raynal's chapter 2, section 3, about Ricart and Agrawala's token algorithm, one by one."""
import unittest

from baton import check, no_violation_over, sim


class RicartAgrawalaToken(unittest.TestCase):
    def test_an_entry_costs_n_messages_or_none(self):
        """Section 3.6: n messages 'when the requesting process does not already hold the token, or 0 when it does'."""
        for n in (2, 5, 20):
            messages = sim(f"ricart-agrawala-token --nodes {n} --load light --entries 20000")["messages"]
            self.assertEqual((messages["min"], messages["max"]), (0, n))
            self.assertAlmostEqual(messages["per_entry"] / (n - 1), 1, delta=0.03)

    def test_heavy_demand_costs_n_messages(self):
        for n in (2, 5, 20):
            messages = sim(f"ricart-agrawala-token --nodes {n} --entries {1000 * n}")["messages"]
            self.assertAlmostEqual(messages["per_entry"] / n, 1, delta=0.01)

    def test_a_request_has_three_elements_and_the_token_n_plus_one(self):
        """Section 3.6. A number below 128 takes one byte."""
        for n in (3, 8):
            run = sim(f"ricart-agrawala-token --nodes {n} --entries {100 * n}")
            by_type = run["messages"]["by_type"]
            self.assertEqual(run["bytes"]["total"], 3 * by_type["REQUEST"] + (n + 1) * by_type["TOKEN"])

    def test_the_token_needs_one_message_time_to_move(self):
        delay = sim("ricart-agrawala-token --nodes 8")["sync_delay"]
        self.assertEqual((delay["mean"], delay["max"]), (1, 1))

    def test_the_token_goes_round(self):
        """Section 3.5: each process is served 'when its turn comes'. Nobody enters twice before all others that wait."""
        self.assertEqual(sim("ricart-agrawala-token --nodes 8")["bypass"]["max"], 7)
        for nodes, entries in ((3, 2), (4, 1)):
            result = check(f"ricart-agrawala-token --nodes {nodes} --entries {entries}")
            self.assertEqual(result["max_bypass"], nodes - 1)

    def test_no_violation_with_unpredictable_delays_and_reordering(self):
        """Section 3.2: 'the delay is variable', 'desequencing is possible'."""
        for n in (2, 3, 5, 8):
            no_violation_over("1..1000", f"ricart-agrawala-token --nodes {n} --entries 100 --delay exp:1 --reorder")

    def test_mutual_exclusion_and_no_deadlock_in_every_interleaving(self):
        """Section 3.5."""
        for entries, states in ((1, 656), (2, 38455)):
            result = check(f"ricart-agrawala-token --nodes 3 --entries {entries} --reorder")
            self.assertEqual(result["states"], states)
            self.assertTrue(result["complete"])

    def test_the_loss_of_the_token_keeps_mutual_exclusion_but_not_progress(self):
        """Section 3.6: 'mutual exclusion is maintained but deadlock begins to appear'."""
        result = check("ricart-agrawala-token --nodes 3 --lose-token", expect=1)
        self.assertEqual((result["mutual_exclusion"], result["deadlock"]), (None, "found"))

    def test_the_prose_of_section_3_3_loses_requests(self):
        for text in ("printed", "printed:holder"):
            result = check(f"ricart-agrawala-token --nodes 2 --param text={text}", expect=1)
            self.assertEqual((result["mutual_exclusion"], result["deadlock"]), (None, "found"))
        sim("ricart-agrawala-token --nodes 5 --load light --param text=printed:holder", expect=1)

    def test_a_request_within_the_prelude_takes_the_token_away(self):
        """Section 3.4 does not say that the prelude is one step up to its wait."""
        result = check("ricart-agrawala-token --nodes 2 --param text=printed:steps", expect=1)
        self.assertEqual(result["mutual_exclusion"], "violated")
        sim("ricart-agrawala-token --nodes 5 --load poisson:0.2 --entries 5000 --param text=printed:steps", expect=1)


class Retry(unittest.TestCase):
    """Section 3.6: "unless there is a recovery procedure based on a time-out mechanism, the process making the request is removed
    from the competition". The mechanism is ours: the process asks again, with the same number."""
    NAME = "ricart-agrawala-token --param retry=on"

    def test_a_lost_request_is_repeated(self):
        """Without the time-out one process waits for ever. With it nobody does, whichever copy is lost, and whenever."""
        self.assertEqual(check("ricart-agrawala-token --nodes 3 --lose REQUEST", expect=1)["deadlock"], "found")
        for words, states in (("--nodes 3 --entries 1", 6148), ("--nodes 2 --entries 3", 2082),
                              ("--nodes 3 --entries 1 --param choose=oldest", 15293)):
            result = check(f"{self.NAME} {words} --lose REQUEST")
            self.assertEqual((result["complete"], result["deadlock"], result["states"]), (True, "none", states), words)

    def test_a_lost_token_stays_lost(self):
        """The process asks again and again, so this is not a deadlock. But nobody ever answers."""
        result = check(f"{self.NAME} --nodes 3 --lose TOKEN", expect=1)
        self.assertEqual((result["starvation"], result["mutual_exclusion"]), ("found", "holds"))

    def test_what_it_costs_where_nothing_is_lost(self):
        """Repeating requests costs nothing unless a process waits longer than two message delays.
        Then it costs n - 1 messages each time."""
        light = sim(f"{self.NAME} --nodes 5 --load light")["messages"]
        self.assertEqual((light["min"], light["max"]), (0, 5))
        for bound, repeats in ((1, 4), (4, 1), (5, 0)):
            heavy = sim(f"{self.NAME} --nodes 5 --bound {bound}")
            self.assertEqual(heavy["response"]["max"], 9)
            self.assertEqual(heavy["messages"]["per_entry"], 5 + 4 * repeats)

    def test_no_violation_in_every_interleaving_nor_with_unpredictable_delays(self):
        for nodes, entries, states in ((3, 1, 1205), (3, 2, 92719)):
            result = check(f"{self.NAME} --nodes {nodes} --entries {entries} --reorder")
            self.assertEqual((result["complete"], result["states"]), (True, states))
            self.assertEqual(result["invariants"]["token_counts_what_was_served"], "holds")
        no_violation_over("1..300", f"{self.NAME} --nodes 5 --entries 100 --delay exp:1 --reorder --bound 1")


class Oldest(unittest.TestCase):
    """Hélary, Plouzeau and Raynal, section 6, on a network that is known to be complete: "We use logical clocks instead
    of request counters and we send the token to the creator of the oldest request known"."""
    NAME = "ricart-agrawala-token --param choose=oldest"

    def test_it_costs_what_both_algorithms_cost(self):
        """"Similar to the one of Ricart and Agrawala's algorithm": an entry costs n messages or none, and theirs does too."""
        for n in (2, 5, 20):
            messages = sim(f"{self.NAME} --nodes {n} --load light --entries 20000")["messages"]
            self.assertEqual((messages["min"], messages["max"]), (0, n))
            heavy = sim(f"{self.NAME} --nodes {n} --entries {1000 * n}")["messages"]["per_entry"]
            flooded = sim(f"helary --topology complete --nodes {n} --entries {1000 * n}")["messages"]["per_entry"]
            self.assertAlmostEqual(heavy / n, 1, delta=0.01)
            self.assertAlmostEqual(flooded / n, 1, delta=0.01)

    def test_two_different_ways_of_ensuring_fairness(self):
        """After a request is known, others enter at most n - 1 times before it is served, however often they ask."""
        for entries, states in (("1,1,1", 1355), ("2,2,1", 15129), ("3,3,1", 79733)):
            result = check(f"{self.NAME} --nodes 3 --fifo --entries {entries}")
            self.assertEqual((result["complete"], result["states"], result["max_bypass"]), (True, states, 2))

    def test_no_violation_in_every_interleaving_nor_with_unpredictable_delays(self):
        for nodes, entries, states in ((3, 1, 1730), (3, 2, 391266)):
            result = check(f"{self.NAME} --nodes {nodes} --entries {entries} --reorder")
            self.assertEqual((result["complete"], result["states"]), (True, states))
            self.assertEqual(result["invariants"]["token_counts_what_was_served"], "holds")
        for n in (2, 5, 8):
            no_violation_over("1..300", f"{self.NAME} --nodes {n} --entries 100 --delay exp:1 --reorder")


if __name__ == "__main__":
    unittest.main()
