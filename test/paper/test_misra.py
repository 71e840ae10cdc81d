"""Tests what Raynal, chapter 2, section 4.2, says about Misra's algorithm: there are two tokens, and each replaces the other if
it is lost."""
import unittest

from baton import baton, check, no_violation_over, sim

HOLD = {"one_ping_at_most": "holds", "one_pong_at_most": "holds", "numbers_are_opposite": "holds"}
HOLD_OF_MANY = HOLD | {"numbers_are_opposite": None}  # this invariant is about two numbers


def violated(*words):
    """Returns the invariants that the checker finds violated, and the number of steps."""
    result = check(*words, expect=1)
    names = [name for name, verdict in result["invariants"].items() if verdict == "violated"]
    steps = [line for line in result["counterexample"].splitlines()
             if line.split(" ")[0] in ("request", "release", "deliver", "drop")]
    return names, len(steps)


class Misra(unittest.TestCase):
    def test_nothing_is_made_again_and_nobody_starves_without_losses(self):
        for n, states in ((1, 18), (2, 224), (3, 1500), (4, 7488)):
            result = check(f"misra --nodes {n} --entries unlimited")
            self.assertTrue(result["complete"])
            self.assertEqual((result["states"], result["max_bypass"]), (states, n - 1))
            self.assertEqual(result["starvation"], "none")
            self.assertEqual(result["invariants"], HOLD)

    def test_a_token_that_lives_is_never_made_again_whatever_is_lost(self):
        """Either token is lost again and again, one at a time. With n+1 values of the numbers, no living token is replaced."""
        for n, states in ((1, 74), (2, 1352), (3, 12104), (4, 75456)):
            result = check(f"misra --nodes {n} --entries unlimited --lose-token")
            self.assertTrue(result["complete"])
            self.assertEqual(result["states"], states)
            self.assertEqual((result["mutual_exclusion"], result["deadlock"]), ("holds", "none"))
            self.assertEqual(result["invariants"], HOLD)

    def test_nobody_starves_though_ping_is_lost_for_ever_and_ever(self):
        """Each time the next process on the ring makes PING again, until a process that waits makes
        it."""
        for n in (1, 2, 3, 4):
            result = check(f"misra --nodes {n} --entries unlimited --lose-token")
            self.assertEqual(result["starvation"], "none")
            self.assertEqual(result["max_bypass"], n * (n - 1) // 2 + 1 if n > 1 else 0)

    def test_unbounded_numbers_break_nothing_as_far_as_one_looks(self):
        result = check("misra --nodes 3 --entries 1 --param bounded=off --lose-token --max-states 100000", expect=3)
        self.assertEqual(result["invariants"], dict.fromkeys(HOLD))

    def test_light_load_costs_half_a_turn_of_both(self):
        for n in (2, 5, 20):
            messages = sim(f"misra --nodes {n} --load light --entries 20000")["messages"]
            self.assertEqual((messages["min"], messages["max"]), (2, 2 * n))
            for token in ("PING", "PONG"):
                self.assertAlmostEqual(messages["by_type"][token] / 20000 / ((n + 1) / 2), 1, delta=0.02)

    def test_heavy_load_costs_one_hop_of_ping_and_two_of_pong(self):
        """PONG moves on during the critical section: one hop per unit of time."""
        for n in (2, 5, 20):
            messages = sim(f"misra --nodes {n} --entries {1000 * n} --warmup 0")["messages"]
            self.assertEqual(messages["by_type"]["PING"], 1000 * n)
            self.assertAlmostEqual(messages["per_entry"], 3, delta=0.01)
            messages = sim(f"misra --nodes {n} --entries {1000 * n} --cs constant:3")["messages"]
            self.assertAlmostEqual(messages["per_entry"], 5, delta=0.02)

    def test_ping_needs_one_message_time_to_the_next_when_all_want_in(self):
        delay = sim("misra --nodes 8")["sync_delay"]
        self.assertEqual((delay["mean"], delay["max"]), (1, 1))

    def test_no_violation_with_unpredictable_delays(self):
        for n in (2, 3, 5, 8):
            no_violation_over("1..1000", f"misra --nodes {n} --entries 100 --delay exp:1")
        no_violation_over("1..1000", "misra --nodes 5 --entries 100 --delay exp:1 --param bounded=off")

    def test_a_lost_token_is_made_again_in_one_passage_round_the_ring_and_a_hop(self):
        """"The loss of a token is detected by the other in one passage round the ring"."""
        for n in (1, 2, 3, 5):
            worst = 0
            for hop in range(1, 41):
                run = sim(f"misra --nodes {n} --entries 60 --lose-token {hop}")
                self.assertEqual((run["entries"], run["lost"], run["regenerated"]["count"]), (60, 1, 1))
                worst = max(worst, run["regenerated"]["hops"]["max"])
            self.assertEqual(worst, n + 1)

    def test_it_goes_on_as_long_as_one_of_the_two_survives(self):
        """Each loss is repaired unless both tokens are lost. Then, and only then, the run is stuck."""
        stuck = 0
        for n in (2, 5):
            for load in ("heavy", "light"):
                words = f"misra --nodes {n} --entries 200 --delay exp:1 --lose 0.01 --load {load}"
                for run in sim(words, "--seeds 1..300", expect=1)["runs"]:
                    missing = run["lost"] - run["regenerated"]["count"]
                    where = f"baton sim {words} --seed {run['seed']}"
                    self.assertIn(missing, (0, 1, 2), where)
                    self.assertEqual(run["violations"], 1 if missing == 2 else 0, where)
                    self.assertEqual(run["entries"] == 200, missing < 2, where)
                    stuck += missing == 2
        self.assertGreater(stuck, 100)

    def test_the_loss_of_both_is_not_noticed(self):
        run = sim("misra --nodes 5 --lose-token 1,2", expect=1)
        self.assertEqual((run["entries"], run["lost"], run["violations"]), (0, 2, 1))

    def test_modulo_n_plus_1_makes_a_second_pong(self):
        """"Sufficient to increment them modulo (n+1)": nbping = 0 = -0 = nbpong."""
        self.assertEqual(violated("misra --nodes 2 --param text=printed:zero"), (["one_pong_at_most"], 8))
        self.assertEqual(violated("misra --nodes 3 --param text=printed:zero"), (["one_pong_at_most"], 12))
        sim("misra --param text=printed:zero", expect=1)
        sim("misra --param text=printed:zero --param bounded=off")

    def test_a_meeting_before_the_look_at_m_makes_a_second_ping(self):
        """"When received" and "when meeting" are separate clauses, and the text does not order them."""
        for n in (1, 2, 3):
            self.assertEqual(violated(f"misra --nodes {n} --param text=printed:order"), (["one_ping_at_most"], n + 4))
        sim("misra --param text=printed:order", expect=1)
        self.assertEqual(violated("misra --nodes 2 --param text=printed"), (["one_ping_at_most"], 6))

    def test_a_token_that_overtakes_the_other_believes_it_lost(self):
        for n in (1, 2, 3):
            self.assertEqual(violated(f"misra --nodes {n} --reorder"), (["one_pong_at_most"], n + 1))
        sim("misra --delay exp:1 --reorder", expect=1)

    def test_n_numbers_are_too_few(self):
        """"It is thus sufficient to increment them modulo (n+1)": with n, a living PING is made again. Where PONG never stays,
        this takes a loss, and at most two processes."""
        self.assertEqual(violated("misra --nodes 1 --param modulus=n"), (["one_ping_at_most"], 4))
        check("misra --nodes 2 --param modulus=n")
        self.assertEqual(violated("misra --nodes 2 --lose-token --param modulus=n"), (["one_ping_at_most"], 8))
        for n in (3, 4):
            result = check(f"misra --nodes {n} --entries unlimited --lose-token --param modulus=n")
            self.assertEqual((result["invariants"], result["starvation"]), (HOLD, "none"))


class Tokens(unittest.TestCase):
    """"The algorithm can be generalized to use any number of tokens"."""

    def test_nothing_is_made_again_and_nobody_starves_without_losses(self):
        for tokens, n, states in ((3, 1, 14), (3, 2, 274), (3, 3, 2596), (4, 2, 760)):
            result = check(f"misra --nodes {n} --entries unlimited --param tokens={tokens}")
            self.assertEqual((result["complete"], result["states"], result["max_bypass"]), (True, states, n - 1))
            self.assertEqual((result["starvation"], result["invariants"]), ("none", HOLD_OF_MANY))

    def test_no_token_is_made_twice_whatever_is_lost_while_one_remains(self):
        """Any token may be lost, and others before it is replaced, until one is left."""
        for tokens, n, states in ((3, 1, 100), (3, 2, 6244), (3, 3, 116708), (4, 1, 816), (4, 2, 123640)):
            result = check(f"misra --nodes {n} --entries unlimited --lose-token --param tokens={tokens}",
                           expect=0 if n == 1 else 1)
            self.assertEqual((result["complete"], result["states"]), (True, states))
            self.assertEqual((result["mutual_exclusion"], result["deadlock"], result["invariants"]),
                             ("holds", "none", HOLD_OF_MANY))

    def test_it_works_so_long_as_one_remains_on_the_ring(self):
        """Each of three tokens is once the last one left. If there are two, losing both ends the run."""
        for lost in ("1,2", "1,3", "2,3"):
            for n in (1, 2, 5):
                run = sim(f"misra --nodes {n} --entries 60 --param tokens=3 --lose-token {lost}")
                self.assertEqual((run["entries"], run["lost"], run["regenerated"]["count"]), (60, 2, 2))
        self.assertEqual(sim("misra --nodes 5 --param tokens=3 --lose-token 1,2,3", expect=1)["entries"], 0)
        stuck = {}
        for tokens in (2, 3, 4):
            words = f"misra --nodes 5 --entries 200 --delay exp:1 --lose 0.01 --param tokens={tokens}"
            runs = sim(words, "--seeds 1..300", expect=1)["runs"]
            for run in runs:
                missing = run["lost"] - run["regenerated"]["count"]
                self.assertEqual(run["violations"], 1 if missing == tokens else 0, f"{words} --seed {run['seed']}")
            stuck[tokens] = sum(run["violations"] for run in runs)
        self.assertGreater(stuck[2], 5 * stuck[3])
        self.assertGreater(stuck[3], stuck[4])

    def test_a_process_that_waits_may_starve_if_ping_is_lost_for_ever(self):
        """With two tokens the processes take turns in making the lost one. With three, the same process may make it every
        time."""
        self.assertEqual(check("misra --nodes 2 --entries unlimited --lose-token")["starvation"], "none")
        result = check("misra --nodes 2 --entries unlimited --lose-token --param tokens=3", expect=1)
        self.assertEqual(result["starvation"], "found")

    def test_what_is_about_two_tokens_is_refused_with_more(self):
        for param, reason in (("modulus=n", "modulus=n is about two tokens"), ("text=printed", "text=printed is about two tokens"),
                              ("text=printed:zero", "text=printed"), ("bounded=off", "bounded=off is about two tokens")):
            for command in ("sim", "check"):
                run = baton(command, f"misra --param tokens=3 --param {param}")
                self.assertEqual((run.code, run.out), (2, ""), param)
                self.assertIn(reason, run.err)
            self.assertNotEqual(baton("sim", f"misra --entries 20 --param tokens=2 --param {param}").code, 2)


if __name__ == "__main__":
    unittest.main()
