"""Tests doc/guarantees.md: every test, fault and violation that it names exists."""
import re
import unittest

from documents import ROOT

PAGE = (ROOT / "doc" / "guarantees.md").read_text(encoding="utf-8")
ROWS_MIN = 10
PROMISES = PAGE.split("## The promises", 1)[1].split("\n## ", 1)[0]


ROWS = [row.split("|") for row in re.findall(r"^\| \*\*.*$", PROMISES, re.M)]
ASIDE = re.compile(r"`(?:build|bench)/[^`]+`")  # programs


def text_of(pattern):
    """Returns the text of all these files. String literals that are split over lines are joined."""
    found = "\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob(pattern)))
    return re.sub(r'"\s*\n\s*"', "", found)


def faults_and_violations(cell):
    """Returns the words between stars, and those between backticks."""
    cell = ASIDE.sub("", cell)
    return re.findall(r"\*([^*]+)\*", cell), re.findall(r"`([^`]+)`", cell)


class Guarantees(unittest.TestCase):
    def test_each_promise_names_what_shows_it(self):
        self.assertGreater(len(ROWS), ROWS_MIN)
        for row in ROWS:
            self.assertRegex(row[2], r"`(test_\w+\.py|baton torture|build/test/)", row)
            for cell in row[3:5]:
                self.assertTrue(any(faults_and_violations(cell)) or cell.strip().startswith("none: "), row)

    def test_the_programs_are_there(self):
        for _, name in re.findall(r"`(build/test|bench)/(\w+)`", PROMISES):
            places = [ROOT / "bench" / name, ROOT / f"test/unit/{name}.c", ROOT / f"test/cluster/{name}.c"]
            self.assertTrue(any(path.exists() for path in places), name)

    def test_torture_does_and_looks_for_that(self):
        kinds = re.findall(r'X\([A-Z]+, "(\w+)"', text_of("src/service/torture/ordeal.h"))
        self.assertGreater(len(kinds), 20)
        texts = text_of("src/service/torture/*.c")
        for row in ROWS:
            faults, violations = faults_and_violations(row[3])
            self.assertLessEqual(set(faults), set(kinds))
            for violation in violations:
                words = r"(?:lock-)?%[a-z]+".join(re.escape(part) for part in violation.split("…"))
                self.assertRegex(texts, f'"(?:[^"]* )?{words}[^"]*"')

    def test_the_nemesis_does_and_looks_for_that(self):
        kinds = re.findall(r'"([a-z ]+)": \(self\.', text_of("test/lib/nemesis.py"))
        self.assertGreater(len(kinds), 15)
        rules = re.findall(r'add\("(\w+)"', text_of("test/lib/history.py"))
        for row in ROWS:
            faults, violations = faults_and_violations(row[4])
            self.assertLessEqual(set(violations), set(rules))
            self.assertLessEqual(set(faults), set(kinds))

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
