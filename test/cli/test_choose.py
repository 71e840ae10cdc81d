"""Tests baton choose: its answer follows from the measured figures."""
import math
import re
import unittest

from baton import baton, report


def choose(*words):
    return report("choose", *words)


class Choose(unittest.TestCase):
    def test_load_and_topology_change_the_answer(self):
        answers = {words: choose(words)["recommended"]["algorithm"] for words in (
            "--nodes 16", "--nodes 16 --load light", "--nodes 16 --load heavy", "--nodes 16 --load poisson:0.02",
            "--topology grid:4x4", "--topology ring --nodes 16 --load light", "--topology ring --nodes 16 --load heavy")}
        self.assertEqual(answers, {
            "--nodes 16": "neilsen",
            "--nodes 16 --load light": "central",
            "--nodes 16 --load heavy": "le-lann",
            "--nodes 16 --load poisson:0.02": "neilsen",
            "--topology grid:4x4": "raymond",
            "--topology ring --nodes 16 --load light": "raymond",
            "--topology ring --nodes 16 --load heavy": "le-lann",
        })

    def test_the_least_product_wins(self):
        for words, loads in (("--nodes 9", ("light", "heavy")), ("--nodes 9 --load light", ("light",)),
                             ("--nodes 9 --load heavy --topology star", ("heavy",)),
                             ("--nodes 9 --load poisson:0.1", ("poisson",)), ("--nodes 2", ("light", "heavy"))):
            answer = choose(words)
            costs = [candidate["cost"] for candidate in answer["candidates"]]
            self.assertEqual(costs, sorted(costs))
            ranks = [(candidate["cost"], candidate["bytes"]) for candidate in answer["candidates"]]
            self.assertEqual(ranks, sorted(ranks))
            self.assertEqual(answer["candidates"][:2], [answer["recommended"], answer["runner_up"]])
            for candidate in answer["candidates"]:
                products = [candidate[load]["messages"] * candidate[load]["delay"] for load in loads]
                self.assertAlmostEqual(candidate["cost"], math.prod(products) ** (1 / len(products)), places=9)

    def test_the_figures_are_those_of_compare(self):
        words = "--nodes 8 --load heavy"
        rows = {row["algorithm"]: row for row in report("compare", words)["rows"] if row["parameter"] is None}
        # Where every node is linked to every other, an algorithm that floods uses all links.
        rows["helary"] = report("compare", words, "--algorithms helary --topology complete")["rows"][0]
        for candidate in choose(words)["candidates"]:
            heavy = rows[candidate["algorithm"]]["heavy"]
            self.assertAlmostEqual(candidate["heavy"]["messages"] / heavy["messages"]["mean"], 1, delta=0.02)
            self.assertAlmostEqual(candidate["heavy"]["delay"] / heavy["sync_delay"]["mean"], 1, delta=0.02)

    def test_only_what_the_links_allow_is_tried(self):
        """raymond needs only a spanning tree. Algorithms that need more links are left out, and the reason is given."""
        answer = choose("--topology grid:3x3")
        self.assertEqual({(c["algorithm"], c["spanning_tree"]) for c in answer["candidates"]},
                         {("raymond", True), ("helary", False)})
        reasons = {left["algorithm"]: left["why"] for left in answer["left_out"]}
        self.assertEqual(len(reasons), 13)
        self.assertIn("every node", reasons["neilsen"])
        self.assertIn("ring", reasons["dijkstra-ring"])
        self.assertEqual(reasons["le-lann"], reasons["dijkstra-ring"])  # a grid is not a ring, whichever way the token goes
        self.assertIn("node 1", reasons["central"])
        reasons = {left["algorithm"]: left["why"] for left in choose("--topology ring --nodes 5")["left_out"]}
        self.assertIn("goes round for ever", reasons["le-lann"])
        tree = choose("--topology tree:2 --nodes 7")
        self.assertEqual({(c["algorithm"], c["topology"]) for c in tree["candidates"]},
                         {("raymond", "tree:2"), ("helary", "tree:2")})
        self.assertEqual(len(choose("--topology edges:1-2,2-3,1-3 --load heavy")["candidates"]), 15)

    def test_a_token_that_never_rests_is_left_out_where_load_may_be_light(self):
        for words, there in (("--load light", False), ("", False), ("--load heavy", True), ("--load poisson:0.1", True)):
            answer = choose("--nodes 4", words)
            self.assertEqual("le-lann" in [c["algorithm"] for c in answer["candidates"]], there)
            self.assertEqual("misra" in [left["algorithm"] for left in answer["left_out"]], not there)

    def test_a_spanning_tree_is_one(self):
        topology = next(c["topology"] for c in choose("--topology grid:3x4")["candidates"] if c["spanning_tree"])
        edges = [tuple(sorted(map(int, edge.split("-")))) for edge in topology.removeprefix("edges:").split(",")]
        self.assertEqual(len(set(edges)), 11)
        for a, b in edges:
            self.assertTrue(b - a == 4 or (b - a == 1 and a % 4 != 0), (a, b))
        reached = {1}
        for _ in edges:
            reached |= {node for edge in edges if reached & set(edge) for node in edge}
        self.assertEqual(reached, set(range(1, 13)))

    def test_reason_is_two_sentences_with_the_figures(self):
        answer = choose("--nodes 16 --load heavy")
        self.assertEqual(len(re.findall(r"\.(?: |$)", answer["reason"])), 2)
        self.assertIn("1 × 1 when every node always wants in", answer["reason"])
        self.assertIn("The runner-up, dijkstra-ring, takes 2 × 1, 2 times as much.", answer["reason"])
        self.assertIn("its token goes round for ever, even if nobody wants in", answer["assumptions"])

    def test_assumptions_are_those_of_the_algorithm(self):
        self.assertIn("messages may overtake each other", choose("--nodes 4")["assumptions"])
        self.assertIn("every node can send to every other", choose("--nodes 16")["assumptions"])
        self.assertIn("links outside a spanning tree are left unused", choose("--topology grid:3x3")["assumptions"])
        for words in ("--nodes 16", "--topology ring --nodes 5"):
            self.assertIn("the members stay the same", choose(words)["assumptions"])

    def test_the_same_seed_gives_the_same_answer(self):
        words = "choose --nodes 12 --load light"
        self.assertEqual(baton(words, "--seed 5").out, baton(words, "--seed 5").out)
        self.assertNotEqual(baton(words, "--seed 5").out, baton(words, "--seed 6").out)

    def test_text_fits_100_columns(self):
        for words in ("--nodes 1", "--nodes 2", "--nodes 64 --load heavy", "--topology grid:3x3",
                      "--topology edges:1-2,2-3,3-4,4-1,1-3", "--nodes 5 --load poisson:0.123456"):
            result = baton("choose", words)
            self.assertEqual((result.code, result.err), (0, ""), words)
            self.assertLessEqual(max(map(len, result.out.splitlines())), 100)

    def test_a_topology_is_not_cut(self):
        lines = baton("choose --topology radiating:3 --nodes 7").out.splitlines()
        self.assertEqual(sum(line.split()[1:2] == ["radiating:3"] for line in lines), 2)
        self.assertIn("spanning tree", baton("choose --topology grid:3x3").out)


if __name__ == "__main__":
    unittest.main()
