"""Pictures: no label covers another or leaves the paper, and what is drawn is what has happened."""
import glob
import os
import re
import tempfile
import unittest

import picture
from baton import ROOT, baton

SCENARIOS = sorted(set(glob.glob(os.path.join(ROOT, "test/scenarios/*/*.scn"))) -
                   set(glob.glob(os.path.join(ROOT, "test/scenarios/bad/*.scn"))))


class Moments(unittest.TestCase):
    """baton replay --tree."""

    def tree(self, text, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.scn")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            result = baton("replay", path, "--tree", path + ".svg", *words)
            self.assertIn(result.code, (0, 1), result.err)
            with open(path + ".svg", encoding="utf-8") as file:
                return file.read()

    def test_no_label_covers_another_or_leaves_the_paper(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.svg")
            for scenario in SCENARIOS[::3]:
                for moment in ([], ["--at", "12"]):
                    if baton("replay", scenario, "--tree", path, *moment).code == 2:
                        continue
                    root = picture.read(path)
                    found = picture.labels(root)
                    self.assertEqual(picture.covered(found), [], scenario)
                    for label in found:
                        self.assertGreaterEqual(label.x, 0, (scenario, label))
                        self.assertLessEqual(label.x + label.width, float(root.get("width")), (scenario, label))
                    os.remove(path)

    def test_a_dead_node_is_drawn_as_dead(self):
        svg = self.tree("algorithm bully\nnodes 3\ninitiate 1\ncrash 3\n")
        self.assertEqual(re.findall(r'class="node (\w+)"', svg), ["waiting", "idle", "dead"])
        self.assertEqual(svg.count('class="cross"'), 1)
        self.assertIn(">id 3, dead<", svg)

    def test_a_dead_node_has_no_token_and_no_arrows(self):
        text = "algorithm neilsen\ntopology line\nnodes 2\nholder 1\n"
        self.assertEqual(self.tree(text).count('class="holder"'), 2)  # one is in the legend
        self.assertEqual(self.tree(text + "crash 1\n").count('class="holder"'), 1)

    def test_the_leader_is_marked_and_who_knows_it_says_so(self):
        svg = self.tree("algorithm chang-roberts\nnodes 3\narrangement 2,3,1\ninitiate 1\ninitiate 2\nrun\n")
        self.assertEqual(svg.count('class="leads"'), 2)  # one is in the legend
        self.assertEqual(re.findall(r'class="state"[^>]*>([^<]*)<', svg), ["id 2, leader 3", "id 3, leads", "id 1, leader 3"])

    def test_the_letters_of_the_figure_are_explained(self):
        svg = self.tree("algorithm neilsen\ntopology line\nnodes 3\nrequest 1\nrequest 3\ndeliver 3 2 REQUEST\ndeliver 2 1 REQUEST\n")
        for sentence in ("N: neither waits nor has the token", "R: waits", "EF: inside, and knows who follows"):
            self.assertIn(f">{sentence}<", svg)
        self.assertNotIn(">RF: ", svg)

    def test_it_says_what_is_violated(self):
        path = os.path.join(ROOT, "test/scenarios/violated/maekawa-maekawa.scn")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(">Deadlock: no message is in flight and nobody is", self.tree(text))
        self.assertNotIn("Deadlock", self.tree(text, "--at", "6"))

    def test_links_are_those_of_the_moment(self):
        text = "algorithm helary\ntopology line\nnodes 3\n"
        self.assertEqual(self.tree(text).count('class="edge"'), 2)
        self.assertEqual(self.tree(text + "link 1 3\n").count('class="edge"'), 3)

    def test_each_message_in_flight_is_drawn(self):
        svg = self.tree("algorithm ricart-agrawala\nnodes 4\nrequest 1\n")
        self.assertEqual(svg.count('class="dart"'), 4)  # one is in the legend
        self.assertEqual(re.findall(r'class="flight"[^>]*>([^<]*)<', svg), [f"REQUEST(1,1) 1→{i}" for i in (2, 3, 4)])


if __name__ == "__main__":
    unittest.main()
