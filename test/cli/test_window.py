"""Tests --from, --to and --show: a diagram of a part of a run."""
import os
import re
import tempfile
import unittest

from baton import ROOT, baton

RUN = "sim suzuki-kasami --nodes 6 --entries 20"


def draw(*words):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.svg")
        run = baton(*words, "--diagram", path)
        assert run.code == 0, run
        with open(path, encoding="utf-8") as file:
            return file.read()


def names(svg):
    return re.findall(r'<text class="node"[^>]*>(\d+)</text>', svg)


def times(svg):
    return [float(time) for time in re.findall(r'text-anchor="middle">([\d.]+)</text>', svg)]


class Window(unittest.TestCase):
    def test_only_these_nodes_and_their_messages(self):
        svg = draw(RUN, "--show 5,2")
        self.assertEqual(names(svg), ["2", "5"] * (len(names(svg)) // 2))
        self.assertIn("2 of 6 nodes", svg)
        self.assertLess(svg.count('class="arrow'), draw(RUN).count('class="arrow'))
        origins = set(re.findall(r"REQUEST\((\d)", svg))
        self.assertEqual(origins, {"2", "5"})

    def test_a_window_after_the_end_is_bad_input(self):
        for words in (RUN, "replay " + os.path.join(ROOT, "test/scenarios/neilsen/figure-6.scn")):
            with tempfile.TemporaryDirectory() as folder:
                run = baton(words, "--from 100000 --diagram", os.path.join(folder, "a.svg"))
            self.assertEqual((run.code, run.out), (2, ""))
            self.assertRegex(run.err, r"--from 100000: the run ended at [\d.]+, so there is nothing to draw\n$")

    def test_only_this_time(self):
        whole, part = draw(RUN), draw(RUN, "--from 10 --to 14.5")
        self.assertEqual(min(times(whole)), 0)
        self.assertTrue(all(10 <= time <= 14.5 for time in times(part)), times(part))
        self.assertIn("a part of the run", part)
        self.assertNotIn("a part of the run", whole)

    def test_a_late_part_of_a_long_run_is_not_left_out(self):
        """The first 240 messages are drawn. Messages before the window do not count."""
        run = "sim suzuki-kasami --nodes 6 --entries 2000"
        self.assertIn("the first 240 of", draw(run))
        svg = draw(run, "--from 3000 --to 3010")
        self.assertNotIn("the first 240 of", svg)
        self.assertGreater(svg.count('class="inside"'), 2)

    def test_what_began_before_is_drawn_from_the_edge(self):
        """Under heavy load every node is waiting or inside at every moment."""
        svg = draw(RUN, "--from 10 --to 11")
        self.assertGreaterEqual(svg.count('class="wait"') + svg.count('class="inside"'), 6 + 2)

    def test_what_is_repeated_times_out_or_is_cut_short_is_marked(self):
        with tempfile.NamedTemporaryFile("w", suffix=".scn") as file:
            file.write("algorithm le-lann\nnodes 3\ndeliver 1 2\nloop\ndeliver 2 3\ndeliver 3 1\ndeliver 1 2\n")
            file.flush()
            self.assertIn("this can be repeated for ever", draw("replay", file.name))
        self.assertIn("time out", draw("sim bully --nodes 3 --crash 3"))
        self.assertIn("where a long wait is cut short", draw("sim neilsen --nodes 4 --load poisson:0.02 --entries 5"))
        self.assertNotIn("where a long wait is cut short", draw("sim neilsen --nodes 4 --entries 5"))

    def test_a_token_whose_message_is_hidden_leaves_and_comes(self):
        """At first node 1 has the token. It gives it to node 2, which gives it to node 3. Only 1 and 3 are drawn."""
        with tempfile.NamedTemporaryFile("w", suffix=".scn") as file:
            file.write("algorithm suzuki-kasami\nnodes 3\nrequest 2\nrun\nrequest 3\nrun\nrelease 2\nrun\nrelease 3\n")
            file.flush()
            svg = draw("replay", file.name, "--show 1,3")
        held = [(float(a), float(y), float(b)) for a, y, b in re.findall(r'<path class="held" d="M([\d.]+) ([\d.]+) H([\d.]+)', svg)]
        (of_3, to_3), (of_1, to_1) = ((y, (a, b)) for a, y, b in held)
        self.assertLess(of_1, of_3)
        self.assertLess(to_1[1], to_3[0])

    def test_a_link_that_is_made_and_removed_is_drawn(self):
        with tempfile.NamedTemporaryFile("w", suffix=".scn") as file:
            file.write("algorithm helary\ntopology line\nnodes 3\nlink 1 3\nunlink 1 2\n")
            file.flush()
            svg = draw("replay", file.name)
            self.assertNotIn("link made", draw("replay", file.name, "--show 1,2"))
        self.assertIn("link made", svg)
        self.assertIn("link removed", svg)

    def test_a_deadlock_shows_who_waits_for_whom(self):
        path = os.path.join(ROOT, "test/scenarios/violated/maekawa-maekawa.scn")
        with tempfile.TemporaryDirectory() as folder:
            picture = os.path.join(folder, "a.svg")
            self.assertEqual(baton("replay", path, "--diagram", picture).code, 1)
            with open(picture, encoding="utf-8") as file:
                svg = file.read()
        self.assertIn("Deadlock: no message is in flight and nobody is inside, but nodes 2, 3 and 4 wait.", svg)
        self.assertGreaterEqual(svg.count('class="waits"'), 3 + 1)  # one more is in the legend

    def test_a_multicast_is_a_fan_with_one_label(self):
        with tempfile.NamedTemporaryFile("w", suffix=".scn") as file:
            file.write("algorithm suzuki-kasami\nnodes 5\nrequest 2\nrun\n")
            file.flush()
            svg = draw("replay", file.name)
        self.assertEqual(svg.count(">REQUEST("), 1)
        self.assertEqual(len(re.findall(r'<circle class="f-ask"', svg)), 1)

    def test_many_nodes_and_events_take_few_strips(self):
        svg = draw("sim suzuki-kasami --nodes 20 --entries 12 --load poisson:0.05 --delay uniform:0.5,2")
        self.assertLessEqual(svg.count('<use href="#all"/>'), 12)

    def test_what_is_wrong_is_said(self):
        for words, text in (("--from 3", "--diagram, which was not given"), ("--diagram a.svg --from 5 --to 3", "before --to"),
                            ("--diagram a.svg --show 7", "from 1 to 6"), ("--diagram a.svg --show 1,1", "occurs twice"),
                            ("--diagram a.svg --to soon", "such as 12.5"), ("--diagram a.pdf", "a picture is SVG; 'rsvg-convert"),
                            ("--diagram a.PNG", "a picture is SVG")):
            run = baton(RUN, words)
            self.assertEqual((run.code, run.out), (2, ""), words)
            self.assertIn(text, run.err)
        self.assertFalse(os.path.exists("a.svg"))


if __name__ == "__main__":
    unittest.main()
