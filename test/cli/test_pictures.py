"""Pictures: no label covers another or leaves the paper, and what is drawn is what has happened."""
import glob
import os
import re
import tempfile
import unittest

import picture
from baton import ROOT, baton
from cluster import SANITIZED

SCENARIOS = sorted(set(glob.glob(os.path.join(ROOT, "test/scenarios/*/*.scn"))) -
                   set(glob.glob(os.path.join(ROOT, "test/scenarios/bad/*.scn"))))


class Moments(unittest.TestCase):
    """Tests the pictures of baton replay --tree."""

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
            for scenario in SCENARIOS[::12 if SANITIZED else 3]: # sanitizers see the same code
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

    def test_a_cut_link_is_crossed_out(self):
        text = "algorithm neilsen\ntopology line\nnodes 3\nrequest 3\n"
        self.assertNotIn('class="cross"', self.tree(text))
        svg = self.tree(text + "cut 1 2\n")
        self.assertEqual(svg.count('class="cross"'), 2)  # one is in the legend
        self.assertIn(">a link that is cut<", svg)

    def test_links_are_those_of_the_moment(self):
        text = "algorithm helary\ntopology line\nnodes 3\n"
        self.assertEqual(self.tree(text).count('class="edge"'), 2)
        self.assertEqual(self.tree(text + "link 1 3\n").count('class="edge"'), 3)

    def test_each_message_in_flight_is_drawn(self):
        svg = self.tree("algorithm ricart-agrawala\nnodes 4\nrequest 1\n")
        self.assertEqual(svg.count('class="dart"'), 4)  # one is in the legend
        self.assertEqual(re.findall(r'class="flight"[^>]*>([^<]*)<', svg), [f"REQUEST(1,1) 1→{i}" for i in (2, 3, 4)])


class Diagrams(unittest.TestCase):
    """Tests the pictures of --diagram, of replay and sim."""

    def draw(self, words, text=None):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.svg")
            if text is not None:
                with open(path + ".scn", "w", encoding="utf-8") as file:
                    file.write(text)
                words += f" {path}.scn"
            result = baton(words, "--diagram", path)
            self.assertIn(result.code, (0, 1), result.err)
            return picture.read(path)

    def check_labels(self, root, what):
        """Checks only labels. Names of nodes are left out, because they are repeated in each
        strip."""
        found = [label for label in picture.labels(root) if label.kind == "label"]
        self.assertEqual(picture.covered(found), [], what)
        return found

    def test_no_label_covers_another(self):
        for scenario in SCENARIOS[::16 if SANITIZED else 4]:
            self.check_labels(self.draw(f"replay {scenario}"), scenario)

    def test_many_nodes_are_readable_and_what_is_left_out_is_said(self):
        for words in ("sim ricart-agrawala --nodes 20 --entries 3", "sim hirschberg-sinclair --nodes 20",
                      "sim suzuki-kasami --nodes 20 --entries 6"):
            root = self.draw(words)
            self.assertGreater(len(self.check_labels(root, words)), 10)
        for words, left_out in (("sim bully --nodes 20", 1), ("sim neilsen --nodes 3 --entries 4", 0)):
            texts = [label.text for label in picture.labels(self.draw(words))]
            self.assertEqual(texts.count("some messages are shown without what they carry"), left_out, words)

    def test_the_legend_stays_on_the_paper(self):
        for words in ("sim maekawa --nodes 4 --entries 6", "sim korach-moran-zaks --nodes 4", "sim bully --nodes 20",
                      "sim suzuki-kasami-b --nodes 3 --entries 4"):
            root = self.draw(words)
            found = [label for label in picture.labels(root) if label.kind == "soft" and label.y < 90]
            self.assertGreater(len(found), 4)
            self.assertLessEqual(max(label.x + label.width for label in found), float(root.get("width")), words)
            self.assertEqual(picture.covered(found), [], words)

    def test_an_arrow_through_the_end_of_another_is_bent(self):
        """A straight arrow from 3 to 1 would pass through the end of the arrow from 3 to 2."""
        root = self.draw("replay", "algorithm ricart-agrawala\nnodes 3\nrequest 3\ndeliver 3 2 REQUEST\ndeliver 3 1 REQUEST\n")
        arrows = [element.get("d") for element, _ in picture.walk(root) if element.get("class") == "arrow s-ask"]
        self.assertEqual([(" Q" in path, path.count("L")) for path in arrows if "h24" not in path], [(True, 0), (False, 1)])

    def test_a_pause_of_a_printed_text_is_no_time_out(self):
        path = os.path.join(ROOT, "test/scenarios/violated/lamport-steps.scn")
        texts = [label.text for label in picture.labels(self.draw(f"replay {path}"))]
        self.assertEqual((texts.count("goes on"), texts.count("time out")), (2, 0))

    def test_a_cut_link_is_named_where_it_is_cut(self):
        """The link is named once, however many messages are lost on it. Lost messages alone are no
        cut."""
        head = "algorithm suzuki-kasami\nnodes 3\nrequest 2\nrequest 1\nrelease 1\nrequest 3\n"
        for steps, named in (("cut 2 3\n", ["2–3"]), ("cut 3 2\ndeliver 2 3\n", ["3–2"]), ("cut 1 3\nrun\n", ["1–3"]),
                             ("drop 3 2\ndrop 2 3\ndeliver 2 1\n", [])):
            root = self.draw("replay", head + steps)
            texts = " ".join(label.text for label in self.check_labels(root, steps))
            self.assertEqual(re.findall(r"link (\S+) cut", texts), named, steps)
            strokes = [element for element, _ in picture.walk(root) if element.get("class") == "link flying"]
            self.assertEqual(len(strokes), len(named), steps)

    def test_the_cut_that_check_finds_is_in_the_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.scn")
            self.assertEqual(baton("check ricart-agrawala --nodes 2 --cut --trace", path).code, 1)
            texts = " ".join(label.text for label in picture.labels(self.draw(f"replay {path}")))
        self.assertIn("link 1–2 cut", texts)
        self.assertIn("Deadlock", texts)

    def test_no_label_covers_the_cross_of_a_lost_message(self):
        text = "algorithm ricart-agrawala\nnodes 3\nrequest 1\nduplicate 1 2\nrequest 2\nduplicate 1 2\ndrop 2 3\ndrop 2 1\n"
        root = self.draw("replay", text)
        places = [re.match(r"M([\d.]+) ([\d.]+) l10 10", element.get("d", "")) for element, _ in picture.walk(root)]
        crosses = [picture.Label("cross", "a cross", float(place[1]), float(place[2]), 10, 10) for place in places if place]
        self.assertEqual(len(crosses), 2)
        self.assertEqual(picture.covered(self.check_labels(root, text) + crosses), [])

    def test_no_bar_or_dot_covers_a_timer(self):
        for name, kind in (("bully-late", "f-known"), ("lamport-steps", "inside")):
            timers, others = [], []
            for element, _ in picture.walk(self.draw(f"replay {ROOT}/test/scenarios/violated/{name}.scn")):
                timer = re.match(r"M([\d.]+) ([\d.]+) (h9|l4.5)", element.get("d", ""))
                if timer:
                    up = 0 if timer[3] == "h9" else 5.5
                    timers.append(picture.Label("timer", "a timer", float(timer[1]), float(timer[2]) - up, 9, 11))
                elif element.get("class") == kind and element.tag == "rect":
                    others.append(picture.Label(kind, kind, *(float(element.get(side)) for side in ("x", "y", "width", "height"))))
                elif element.get("class") == kind:
                    x, y, r = (float(element.get(side)) for side in ("cx", "cy", "r"))
                    others.append(picture.Label(kind, kind, x - r, y - r, 2 * r, 2 * r))
            self.assertTrue(timers and others, name)
            self.assertEqual([pair for pair in picture.covered(others + timers) if pair[0] == "a timer"], [], name)

    def test_the_sentence_tells_what_cannot_be_seen(self):
        """The sentence says what an invariant claims, where the token is, who knows a leader, and
        who is inside instead."""
        for name, words in (("misra-order", "The invariant one_ping_at_most is broken: it says that there is one PING at most."),
                            ("dijkstra-ring-overbars", "The invariant P6_idle_token_is_white is broken at node 1: it says that a process "
                             "that has the token and is in its noncritical section is white."),
                            ("raymond-reask", "but node 2 waits; node 3 has the token."),
                            ("le-lann-lost-token", "but node 1 waits; there is no token any more."),
                            ("maekawa-maekawa", "but nodes 2, 3 and 4 wait."),
                            ("franklin-queue", "The election has stopped and is not decided: nobody knows a leader."),
                            ("hirschberg-sinclair-late", "The election has stopped and is not over for all: node 1 still takes part."),
                            ("helary-min", "Node 3 should be inside by now, but is waiting, and node 2 is inside.")):
            root = self.draw(f"replay {ROOT}/test/scenarios/violated/{name}.scn")
            self.assertIn(words, " ".join(label.text for label in picture.labels(root) if label.kind == "bad"))

    def test_only_a_loop_that_closes_can_be_repeated_for_ever(self):
        loop = "algorithm le-lann\nnodes 3\ndeliver 1 2\nrequest 1\nloop\ndeliver 2 3\n{}expect 1 in\n"
        open_, closed = (" ".join(label.text for label in picture.labels(self.draw("replay", loop.format(more))))
                         for more in ("", "deliver 3 1\nrelease 1\nrequest 1\ndeliver 1 2\n"))
        self.assertIn("marked as a loop", open_)
        self.assertIn("Node 1 is waiting at the end of the marked part, which the scenario calls a loop.", open_)
        self.assertIn("this can be repeated for ever", closed)
        self.assertIn("Node 1 is waiting at the end of the marked part, and all is as it was at its beginning", closed)


class Documents(unittest.TestCase):
    def test_every_picture_of_doc_has_literal_colours_and_dark_ones(self):
        paths = glob.glob(os.path.join(ROOT, "doc/**/*.svg"), recursive=True)
        self.assertGreater(len(paths), 70)
        for path in paths:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            self.assertIn("@media (prefers-color-scheme:dark){", text, path)
            self.assertNotIn("var(--", text, path)
            self.assertRegex(text[:400], r'viewBox="0 0 \d+ \d+"', path)


if __name__ == "__main__":
    unittest.main()
