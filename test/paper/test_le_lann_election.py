"""Tests the claims about Le Lann's election (Raynal, chapter 2, section 5.1; Le Lann 1977), one by one."""
import itertools
import unittest

from baton import check, sim


def is_the_maximum(test, run):
    """Checks that there is one leader, the greatest of the initiators, and that all agree. It takes kn messages, and n more only
    if there are bystanders to tell."""
    n, places = run["nodes"], run["initiators"]
    leader = max(run["arrangement"][place - 1] for place in places)
    announcement = 0 if len(places) == n else n
    test.assertEqual((run["leader"], run["agreed"], run["violations"]), (leader, True, 0), run)
    test.assertEqual(run["messages"]["by_type"], {"ELECTION": len(places) * n, "ELECTED": announcement}, run)
    test.assertEqual((run["messages"]["election"], run["messages"]["announcement"]), (len(places) * n, announcement))


class LeLannElection(unittest.TestCase):
    def test_n_squared_messages_when_all_initiate(self):
        """5.1: "if there are n processes each of these algorithms requires n^2 messages"."""
        for n in (1, 2, 3, 8, 64, 300):
            for arrangement in ("increasing", "decreasing", "random"):
                run = sim(f"le-lann-election --nodes {n} --arrangement {arrangement}")
                self.assertEqual((run["messages"]["total"], run["messages"]["election"]), (n * n, n * n))
                self.assertEqual((run["leader"], run["virtual_time"]), (n, n))

    def test_every_size_and_arrangement(self):
        for n in range(1, 65):
            # For each n, each kind of arrangement meets one kind of initiators, in turn.
            kinds = ("all", "one", f"random:{(n + 1) // 2}")
            for i, arrangement in enumerate(("increasing", "decreasing", "random")):
                is_the_maximum(self, sim(f"le-lann-election --nodes {n} --arrangement {arrangement} "
                                         f"--initiators {kinds[(n + i) % 3]} --delay exp:1 --seed {n}"))

    def test_a_thousand_random_arrangements(self):
        for n, k in ((2, 1), (3, 2), (5, 1), (5, 4), (8, 8), (20, 7)):
            runs = sim(f"le-lann-election --nodes {n} --arrangement random --initiators random:{k} --delay exp:1 "
                       "--seeds 1..1000")["runs"]
            self.assertEqual(len(runs), 1000)
            for run in runs:
                self.assertEqual(len(run["initiators"]), k)
                is_the_maximum(self, run)

    def test_every_set_of_initiators(self):
        for n in range(1, 7):
            for k in range(1, n + 1):
                for places in itertools.combinations(range(1, n + 1), k):
                    initiators = ",".join(map(str, places))
                    runs = sim(f"le-lann-election --nodes {n} --arrangement random --initiators {initiators} "
                               "--delay uniform:0,3 --seeds 1..10")["runs"]
                    for run in runs:
                        self.assertEqual(run["initiators"], list(places))
                        is_the_maximum(self, run)

    def test_a_turn_to_elect_and_a_turn_to_tell_the_bystanders(self):
        for n in (2, 3, 8, 50):
            for initiators in ("one", f"random:{n - 1}"):
                run = sim(f"le-lann-election --nodes {n} --arrangement random --initiators {initiators}")
                self.assertEqual(run["virtual_time"], 2 * n)

    def test_identifiers_need_not_be_consecutive(self):
        run = sim("le-lann-election --nodes 4 --arrangement 7,2147483647,1,1000000 --initiators 1,3,4")
        is_the_maximum(self, run)
        self.assertEqual(run["leader"], 1000000)

    def test_every_interleaving(self):
        """Checks every arrangement up to rotation, with every set of initiators."""
        for n, states in ((1, 3), (2, 30), (3, 424), (4, 8712), (5, 246148)):
            result = check(f"le-lann-election --nodes {n}")
            self.assertEqual((result["states"], result["complete"]), (states, True))
            self.assertEqual((result["unique_leader"], result["agreement"], result["termination"]), ("holds",) * 3)
            self.assertEqual(set(result["invariants"].values()), {"holds"})
            # There are fewest messages if one process initiates, and n ELECTED tell the others.
            # There are most if all initiate, or all but one, with n ELECTED.
            self.assertEqual((result["min_messages"], result["max_messages"]), (2 * n if n > 1 else 1, n * n))

    def test_all_who_want_to_initiate_may_be_reached_before(self):
        """The cost is kn for the k processes that did initiate: between 1 and n of them."""
        result = check("le-lann-election --nodes 4 --arrangement 2,4,1,3 --initiators all")
        self.assertEqual((result["min_messages"], result["max_messages"]), (8, 16))

    def test_without_order_two_lead(self):
        """Without order a process may decide before it has seen all numbers."""
        for n in (2, 3, 4):
            result = check(f"le-lann-election --nodes {n} --reorder", expect=1)
            self.assertEqual((result["unique_leader"], result["agreement"]), ("violated", None))
        runs = sim("le-lann-election --nodes 8 --arrangement random --delay exp:1 --reorder --seeds 1..100", expect=1)["runs"]
        self.assertGreater(sum(run["violations"] != 0 for run in runs), 50)


if __name__ == "__main__":
    unittest.main()
