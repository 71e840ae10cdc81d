"""Tests the claims of Neilsen 1989, section 2.5, and of the textbooks about Singhal's algorithm, one by one."""
import os
import unittest

from baton import ROOT, baton, check, no_violation_over, sim

KEPT = os.path.join(ROOT, "test/scenarios/violated/singhal-outdated.scn")


def steps_of(text):
    """Returns a scenario without its comments."""
    lines = [line.partition("#")[0].rstrip() for line in text.splitlines()]
    return [line for line in lines if line]


class Singhal(unittest.TestCase):
    def test_asking_only_those_in_state_r_takes_about_half_as_many_messages_as_asking_everybody(self):
        for n in (2, 5, 20, 50):
            messages = sim(f"singhal --nodes {n} --load light --entries 20000")["messages"]
            self.assertAlmostEqual(messages["per_entry"] / ((n + 1) / 2 - 1 / n), 1, delta=0.02)
            self.assertEqual((messages["min"], messages["max"]), (0, n))

    def test_whoever_has_the_token_at_the_start(self):
        for holder in (2, 5):
            messages = sim(f"singhal --nodes 5 --holder {holder} --load light --entries 20000")["messages"]
            self.assertAlmostEqual(messages["per_entry"] / 2.8, 1, delta=0.02)
            result = check(f"singhal --nodes 3 --holder {min(holder, 3)}")
            self.assertEqual((result["states"], result["complete"]), (553, True))

    def test_with_demand_the_number_of_messages_approaches_n_as_in_section_2_5(self):
        for n in (2, 5, 20):
            messages = sim(f"singhal --nodes {n} --entries {1000 * n}")["messages"]
            self.assertAlmostEqual(messages["per_entry"] / n, 1, delta=0.01)
        rates = [sim(f"singhal --nodes 10 --entries 5000 --load poisson:{rate}")["messages"]["per_entry"]
                 for rate in (0.001, 0.05, 0.5)]
        self.assertEqual(rates, sorted(rates))
        self.assertLess(rates[0], 6)

    def test_synchronization_delay_is_one_message_as_in_section_6_3(self):
        for n in (2, 8):
            delay = sim(f"singhal --nodes {n}")["sync_delay"]
            self.assertEqual((delay["mean"], delay["max"]), (1, 1))

    def test_no_violation_with_unpredictable_delays_and_reordering(self):
        for n in (2, 3, 5, 8):
            no_violation_over("1..1000", f"singhal --nodes {n} --entries 100 --delay exp:1 --reorder")
        no_violation_over("1..1000", "singhal --nodes 5 --entries 100 --delay exp:1 --reorder --load poisson:0.1")

    def test_mutual_exclusion_and_no_deadlock_in_every_interleaving(self):
        for words, states in (("--nodes 3 --entries 1 --reorder", 553),
                              ("--nodes 3 --entries 2 --reorder", 46172),
                              ("--nodes 3 --entries 2 --fifo", 10789),
                              ("--nodes 3 --entries 3 --fifo", 183827),
                              ("--nodes 3 --entries 2,3,2 --reorder", 184106),
                              ("--nodes 4 --entries 1 --reorder", 63507)):
            result = check("singhal", words)
            self.assertEqual((result["states"], result["complete"]), (states, True), words)

    def test_the_mended_rule_costs_a_few_requests_more_at_worst(self):
        for text, most in (("mended", 10), ("printed", 9)):
            self.assertEqual(check(f"singhal --nodes 3 --param text={text}")["max_messages"], most)
        self.assertEqual(check("singhal --nodes 3 --entries 2")["max_messages"], 22)

    def test_to_ignore_an_outdated_request_deadlocks_even_with_order(self):
        for text in ("printed", "printed:outdated"):
            for order in ("--fifo", "--reorder"):
                result = check(f"singhal --nodes 3 --entries 2 --param text={text}", order, expect=1)
                self.assertEqual((result["deadlock"], result["mutual_exclusion"]), ("found", None))

    def test_the_kept_schedule_is_the_shortest_and_the_mended_rule_survives_it(self):
        with open(KEPT, encoding="utf-8") as file:
            kept = steps_of(file.read())
        result = check("singhal --nodes 3 --entries 2 --fifo --param text=printed:outdated", expect=1)
        self.assertEqual(steps_of(result["counterexample"]), kept)
        mended = [line for line in kept[:-1] if not line.startswith("param")]
        result = baton("replay -", stdin="\n".join([*mended, "run", kept[-1], ""]))
        self.assertEqual(result.code, 0, result)


if __name__ == "__main__":
    unittest.main()
