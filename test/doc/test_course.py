"""Tests doc/course.md: its commands print the output that it shows, and its tours exist."""

import pathlib
import re
import shlex
import unittest

from baton import baton

ROOT = pathlib.Path(__file__).parents[2]
COURSE = (ROOT / "doc/course.md").read_text(encoding="utf-8")


class Course(unittest.TestCase):
    def test_there_are_eight_weeks_each_with_tours_exercises_and_commands(self):
        weeks = re.split(r"^## ", COURSE, flags=re.M)[1:]
        self.assertEqual(len(weeks), 8)
        for week in weeks:
            self.assertRegex(week, r"\nTours: ")
            self.assertRegex(week, r"\n1\. ")
            self.assertIn("# says: ", week)

    def test_every_tour_exists_and_every_algorithm_has_its_week(self):
        named = {name.strip() for line in re.findall(r"^Tours: ([^.]*)\.", COURSE, re.M) for name in line.split(",")}
        tours = {path.stem for path in (ROOT / "web/tours").glob("*.scn")}
        self.assertEqual(named - tours, set())
        algorithms = {re.search(r"^algorithm (\S+)", path.read_text(encoding="utf-8"), re.M)[1] for path in (ROOT / "web/tours").glob("*.scn")}
        self.assertEqual(algorithms - named, set())

    def test_every_command_says_what_stands_behind_it(self):
        commands = re.findall(r"^baton (.*?)\s+# says: (.*)$", COURSE, re.M)
        self.assertGreater(len(commands), 15)
        for words, said in commands:
            with self.subTest(command=words):
                self.assertIn(said, baton(*shlex.split(words)).out)


if __name__ == "__main__":
    unittest.main()
