"""Tests the claims of Garcia-Molina (1982) and of the textbooks about the bully algorithm, one by one.

Raynal names it in section 5.1 and gives n^2 messages. The exact counts are our own.
"""
import itertools
import unittest

from baton import check, sim


def subsets(places):
    for count in range(1, len(places) + 1):
        yield from (",".join(map(str, set_)) for set_ in itertools.combinations(places, count))


class Bully(unittest.TestCase):
    def test_least_begins_and_greatest_is_dead(self):
        for n in range(3, 21):
            messages = sim(f"bully --nodes {n} --crash {n} --initiators one")["messages"]
            self.assertEqual(messages["by_type"], {
                "ELECTION": n * (n - 1) // 2, "ANSWER": (n - 1) * (n - 2) // 2, "COORDINATOR": n - 2})
            self.assertEqual(messages["election"], n * n - n - 1)
            self.assertEqual(messages["announcement"], 0)

    def test_second_greatest_begins_and_greatest_is_dead(self):
        for n in range(3, 21):
            messages = sim(f"bully --nodes {n} --crash {n} --initiators {n - 1}")["messages"]
            self.assertEqual(messages["by_type"], {"ELECTION": 1, "ANSWER": 0, "COORDINATOR": n - 2})
            self.assertEqual(messages["election"], n - 1)

    def test_no_election_costs_more_than_one_in_which_all_begin(self):
        """Raynal, 5.1: "each of these algorithms requires n^2 messages". The exact number is n^2 - 1."""
        for n in range(1, 21):
            self.assertEqual(sim(f"bully --nodes {n}")["messages"]["election"], n * n - 1)
        for n, most in ((2, 3), (3, 8), (4, 15)):
            result = check(f"bully --nodes {n} --arrangement increasing")
            self.assertEqual((result["min_messages"], result["max_messages"]), (n - 1, most))

    def test_greatest_that_is_alive_leads_whoever_begins(self):
        for n in range(1, 7):
            places = range(1, n + 1)
            for dead in (0, *places) if n > 1 else (0,):
                alive = [place for place in places if place != dead]
                crash = f"--crash {dead}" if dead else ""
                for initiators in subsets(alive):
                    run = sim(f"bully --nodes {n} {crash} --initiators {initiators} --delay uniform:0,1")
                    self.assertEqual((run["leader"], run["agreed"]), (alive[-1], True), run)

    def test_every_number_of_processes(self):
        for n in range(1, 65):
            for arrangement in ("increasing", "decreasing", "random"):
                run = sim(f"bully --nodes {n} --arrangement {arrangement} --delay exp:1 --initiators random:{n // 3 + 1}")
                self.assertEqual((run["leader"], run["agreed"]), (n, True))

    def test_several_dead_and_identifiers_of_any_kind(self):
        run = sim("bully --nodes 5 --arrangement 70,2147483647,3,500,12 --crash 2,4 --initiators 3")
        self.assertEqual((run["leader"], run["agreed"]), (70, True))
        run = sim("bully --nodes 4 --crash 2,3,4")
        self.assertEqual((run["leader"], run["messages"]["total"]), (1, 3))

    def test_random_delays_and_arrangements(self):
        for n, k in ((2, 1), (3, 2), (5, 3), (8, 4), (16, 1)):
            runs = sim(f"bully --nodes {n} --arrangement random --initiators random:{k} --delay exp:1 --seeds 1..1000")["runs"]
            for run in runs:
                self.assertEqual((run["leader"], run["agreed"], run["violations"]), (n, True, 0), run["seed"])
            # Place 1 is dead. Its identifier is random.
            words = f"bully --nodes {n} --crash 1 --arrangement random --delay exp:1 --seeds 1..1000"
            for run in sim(words)["runs"]:
                self.assertEqual((run["leader"], run["violations"]), (max(run["arrangement"][1:]), 0), run["seed"])

    def test_nobody_begins_twice_within_the_bound(self):
        """A process gets COORDINATOR within four bounds after the first ANSWER, however unlucky the delays are."""
        for n in (4, 8, 16):
            runs = sim(f"bully --nodes {n} --crash {n} --initiators one --delay uniform:0,1 --seeds 1..1000")["runs"]
            self.assertEqual({run["messages"]["total"] for run in runs}, {n * n - n - 1})
            self.assertLessEqual(max(run["virtual_time"] for run in runs), 4)
            self.assertGreater(max(run["virtual_time"] for run in runs), 3.5)

    def test_a_message_that_takes_the_whole_bound_is_in_time(self):
        for words in ("--delay constant:1", "--delay constant:2.5", "--delay constant:7 --bound 7"):
            run = sim(f"bully --nodes 6 --crash 6 --initiators one {words}")
            self.assertEqual((run["leader"], run["messages"]["total"]), (5, 29))

    def test_a_delay_beyond_the_bound_makes_two_leaders(self):
        """The algorithm is correct only under its timing assumptions."""
        sim("bully --nodes 3 --initiators 2 --delay constant:3 --bound 1", expect=1)
        sim("bully --nodes 3 --initiators 2 --delay constant:3 --bound 3")
        runs = sim("bully --nodes 8 --crash 8 --delay uniform:0,3 --bound 1 --seeds 1..100", expect=1)["runs"]
        self.assertGreater(sum(run["violations"] != 0 for run in runs), 80)

    def test_unique_leader_agreement_termination_in_every_interleaving(self):
        """Checks every arrangement and every set of initiators: with all processes alive, and with each place dead."""
        for words, states in (("1", 2), ("2", 23), ("2 --crash 1", 3), ("2 --crash 2", 4), ("3", 1498), ("3 --crash 1", 82),
                              ("3 --crash 2", 130), ("3 --crash 3", 130), ("4", 445410), ("4 --crash 1", 8814),
                              ("4 --crash 2", 21194), ("4 --crash 3", 21194), ("4 --crash 4", 21194)):
            result = check(f"bully --nodes {words}")
            self.assertTrue(result["complete"])
            self.assertEqual(result["states"], states, words)
            self.assertEqual((result["unique_leader"], result["agreement"], result["termination"]), ("holds",) * 3)
        for dead in subsets((1, 2, 3, 4)):
            if dead != "1,2,3,4":
                self.assertTrue(check(f"bully --nodes 4 --arrangement increasing --crash {dead}")["complete"])


if __name__ == "__main__":
    unittest.main()
