"""doc/guarantees.md: every test that it names is there."""
import re
import unittest

from documents import ROOT

PAGE = (ROOT / "doc" / "guarantees.md").read_text(encoding="utf-8")
PROMISES = PAGE.split("## The promises", 1)[1].split("\n## ", 1)[0]


class Guarantees(unittest.TestCase):
    def test_each_promise_names_a_test(self):
        rows = re.findall(r"^\| \*\*.*$", PROMISES, re.M)
        self.assertGreater(len(rows), 10)
        for row in rows:
            self.assertRegex(row.split("|")[2], r"`(test_\w+\.py|baton torture|build/test/)", row)

    def test_the_tests_are_there(self):
        named = re.findall(r"`(test_\w+\.py)`((?:,? `[A-Z]\w+(?:\.test_\w+)?`)*)", PROMISES)
        self.assertGreater(len(named), 10)
        for file, classes in named:
            text = (ROOT / "test" / "system" / file).read_text(encoding="utf-8")
            for name in re.findall(r"`([^`]+)`", classes):
                group, _, test = name.partition(".")
                with self.subTest(file=file, name=name):
                    self.assertRegex(text, rf"(?m)^class {group}\b")
                    self.assertRegex(text.split(f"class {group}", 1)[1].split("\nclass ", 1)[0], rf"def {test or 'test_'}")


if __name__ == "__main__":
    unittest.main()
