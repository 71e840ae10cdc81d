"""--from, --to and --show: a diagram of a part of a run."""
import os
import re
import tempfile
import unittest

from baton import baton

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

    def test_only_this_time(self):
        whole, part = draw(RUN), draw(RUN, "--from 10 --to 14.5")
        self.assertEqual(min(times(whole)), 0)
        self.assertTrue(all(10 <= time <= 14.5 for time in times(part)), times(part))
        self.assertIn("a part of the run", part)
        self.assertNotIn("a part of the run", whole)

    def test_a_late_part_of_a_long_run_is_not_left_out(self):
        """The first 240 messages are drawn; those before the window do not count."""
        run = "sim suzuki-kasami --nodes 6 --entries 2000"
        self.assertIn("the first 240 of", draw(run))
        svg = draw(run, "--from 3000 --to 3010")
        self.assertNotIn("the first 240 of", svg)
        self.assertGreater(svg.count('class="inside"'), 2)

    def test_what_began_before_is_drawn_from_the_edge(self):
        """Under heavy load every node waits or is inside at every moment."""
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

    def test_what_is_wrong_is_said(self):
        for words, text in (("--from 3", "there is none"), ("--diagram a.svg --from 5 --to 3", "before --to"),
                            ("--diagram a.svg --show 7", "from 1 to 6"), ("--diagram a.svg --show 1,1", "occurs twice"),
                            ("--diagram a.svg --to soon", "such as 12.5")):
            run = baton(RUN, words)
            self.assertEqual((run.code, run.out), (2, ""), words)
            self.assertIn(text, run.err)
        self.assertFalse(os.path.exists("a.svg"))


if __name__ == "__main__":
    unittest.main()
