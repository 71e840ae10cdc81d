"""Tests the claims about the king and the subjects of Korach, Moran and Zaks (1984), one by one.

Raynal, 5.5.3, gives the idea and the order of magnitude. The other claims are those of the algorithm's page.
"""
import itertools
import math
import unittest

from baton import check, sim

KMZ = "korach-moran-zaks"


def most_messages(n):
    """Returns the bound: 4 messages for each claim, 2 for the first claim on each process; n / (L + 1) kings reach level L."""
    return 4 * n * sum(1 / i for i in range(1, n + 1)) - 2 * n - 2


class KorachMoranZaks(unittest.TestCase):
    def test_all_are_kings_at_the_start_and_one_is_at_the_end(self):
        """Raynal, 5.5.3. Every process learns the winner, and the number of messages never exceeds the bound."""
        for n in range(1, 65):
            for arrangement in ("increasing", "decreasing", "random"):
                run = sim(f"{KMZ} --nodes {n} --arrangement {arrangement} --delay exp:1 --seed {n}")
                self.assertTrue(run["agreed"])
                self.assertIn(run["leader"], run["arrangement"])
                self.assertEqual(run["messages"]["announcement"], n - 1)
                self.assertLessEqual(run["messages"]["election"], most_messages(n))

    def test_order_of_n_log_n_messages(self):
        """Raynal, 5.5.3: "the number of messages is again O(n log n)". It is about 1.4 times n log n, and never 2 times."""
        for n, seeds in ((4, 200), (16, 200), (64, 200), (256, 100), (1024, 50)):
            for delay in ("exp:1", "uniform:0,1", "constant:1"):
                runs = sim(f"{KMZ} --nodes {n} --arrangement random --delay {delay} --seeds 1..{seeds}")["runs"]
                counts = [run["messages"]["election"] / (n * math.log2(n)) for run in runs]
                self.assertEqual(sum(run["violations"] for run in runs), 0)
                self.assertLess(max(counts), 2)
                self.assertGreater(sum(counts) / seeds, 1.3)
                self.assertLess(sum(counts) / seeds, 1.65)
                self.assertLessEqual(max(counts) * n * math.log2(n), most_messages(n))

    def test_whatever_the_order_of_the_links(self):
        for links in range(1, 21):
            for n in (5, 32, 333):
                run = sim(f"{KMZ} --nodes {n} --param links={links} --arrangement random --delay exp:1 --seed {links}")
                self.assertTrue(run["agreed"])
                self.assertLess(run["messages"]["election"], 2 * n * math.log2(n))

    def test_one_that_begins_alone_takes_all_others(self):
        for n in (1, 2, 3, 10, 100):
            run = sim(f"{KMZ} --nodes {n} --initiators {(n + 1) // 2}")
            self.assertEqual(run["leader"], (n + 1) // 2)
            self.assertEqual(run["messages"]["by_type"], {
                "CLAIM": n - 1, "APPEAL": 0, "YIELD": 0, "ACCEPT": n - 1, "LEADER": n - 1})

    def test_it_takes_four_delays_for_each_process(self):
        """There is one claim at a time, so the election is slow. It takes 4 (n - 1) delays, plus
        the time to fall and to announce."""
        for n in (16, 256):
            for seed in range(1, 21):
                time = sim(f"{KMZ} --nodes {n} --arrangement random --seed {seed}")["virtual_time"]
                self.assertLessEqual(time, 4 * n)
        self.assertEqual(sim(f"{KMZ} --nodes 100 --initiators one")["virtual_time"], 2 * 99 + 1)

    def test_every_set_of_initiators(self):
        for n in range(1, 7):
            for count in range(1, n + 1):
                for places in itertools.combinations(range(1, n + 1), count):
                    initiators = ",".join(map(str, places))
                    run = sim(f"{KMZ} --nodes {n} --arrangement random --seed {n} --delay exp:1 --initiators {initiators}")
                    self.assertTrue(run["agreed"], run)
                    # A process that never initiated is never a king.
                    self.assertIn(run["leader"], [run["arrangement"][place - 1] for place in places])

    def test_random_arrangements_and_initiators(self):
        for n, k in ((2, 1), (3, 2), (5, 3), (8, 8), (16, 5)):
            words = f"{KMZ} --nodes {n} --arrangement random --initiators random:{k} --delay exp:1 --reorder --seeds 1..1000"
            for run in sim(words)["runs"]:
                self.assertEqual((run["agreed"], run["violations"]), (True, 0), run["seed"])

    def test_identifiers_of_any_kind(self):
        run = sim(f"{KMZ} --nodes 4 --arrangement 70,2147483647,3,500 --initiators 1,3")
        self.assertEqual((run["leader"], run["agreed"]), (70, True))

    def test_unique_leader_agreement_termination_in_every_interleaving(self):
        """Checks every arrangement and set of initiators, with messages in any order."""
        for n, states, most in ((1, 2, 0), (2, 27, 4), (3, 686, 11), (4, 28806, 18), (5, 1629328, 26)):
            result = check(f"{KMZ} --nodes {n} --reorder")
            self.assertTrue(result["complete"])
            self.assertEqual((result["states"], result["max_messages"]), (states, most))
            self.assertEqual(result["min_messages"], 3 * (n - 1))
            self.assertEqual((result["unique_leader"], result["agreement"], result["termination"]), ("holds",) * 3)
            self.assertEqual(set(result["invariants"].values()), {"holds"})

    def test_every_order_of_the_links_of_few_processes(self):
        """Links have no direction. Three processes have 8 orders of links, four have 1,296; 40 of these are tried."""
        for n in (3, 4):
            for links in range(1, 41):
                result = check(f"{KMZ} --nodes {n} --param links={links}")
                self.assertTrue(result["complete"])
                self.assertLessEqual(result["max_messages"], most_messages(n) + n - 1)


if __name__ == "__main__":
    unittest.main()
