"""HACKING.md and the documents next to it describe what exists."""
import os
import re
import runpy
import subprocess
import unittest

from documents import ROOT


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


class WhereIsItDecided(unittest.TestCase):
    def rows(self):
        section = text_of("HACKING.md").split("## Where is it decided?")[1].split("\n## ")[0]
        return re.findall(r"^\| (.*?) \| `(.*?)` \| `(\w+)` \|$", section, re.MULTILINE)

    def test_each_function_is_in_its_file(self):
        rows = self.rows()
        self.assertGreaterEqual(len(rows), 15)
        for question, path, function in rows:
            with self.subTest(question):
                # A definition begins in the first column, and its line does not end with a semicolon.
                self.assertRegex(text_of(path), rf"(?m)^[a-z][\w \*]*\b{function}\((?:[^;]*?)\)\n\{{")

    def test_the_six_questions_are_answered(self):
        asked = " ".join(question for question, _, _ in self.rows())
        for words in ("redial waits", "granted after BREAK", "prints for a light load", "counterexample is shortened",
                      "bytes a REPORT has", "client is closed"):
            self.assertIn(words, asked)


class Areas(unittest.TestCase):
    """tools/test AREA runs the tests of one part."""

    def setUp(self):
        self.functions = runpy.run_path(str(ROOT / "tools/test"), run_name="functions")
        self.areas = self.functions["AREAS"]
        self.patterns = [area if isinstance(area, str) else area[0] for area in self.areas.values()]

    def listed(self):
        listed = subprocess.check_output(["meson", "test", "-C", os.path.dirname(os.environ["BATON"]), "--list", "--no-rebuild"], text=True)
        return [name for name in self.functions["names_listed"](listed) if name.endswith(".py")]

    def test_each_python_test_is_run(self):
        there = {str(path.relative_to(ROOT / "test")) for path in (ROOT / "test").glob("*/test_*.py")}
        self.assertEqual(there - {name.rsplit(" / ", 1)[-1] for name in self.listed()}, set())

    def test_each_python_test_belongs_to_an_area(self):
        """A test belongs to the area of its folder, whatever other suites it is in."""
        names = self.listed()
        self.assertGreater(len(names), 70)
        self.assertEqual([name for name in names if not any(re.search(area, name) for area in self.patterns)], [])

    def test_each_area_is_told(self):
        for name in self.areas:
            self.assertIn(f"`{name}`", text_of("HACKING.md"))


class Names(unittest.TestCase):
    def test_folders_of_the_layout_are_there(self):
        layout = text_of("HACKING.md").split("## Layout")[1].split("\n## ")[0]
        folders = [folder for row in re.findall(r"^\| (`.*?`) \|", layout, re.MULTILINE) for folder in re.findall("`(.*?)`", row)]
        for folder in folders:
            self.assertTrue((ROOT / folder).is_dir(), folder)
        for folder in [*(ROOT / "src").glob("*/"), *(ROOT / "src/service").glob("*/")]:
            name = str(folder.relative_to(ROOT))
            self.assertTrue(name in folders or name == "src/service", f"{name} is not in the layout")

    def test_folders_of_tests_are_told(self):
        told = re.findall(r"^\| `(\w+)` \|", text_of("test/README.md"), re.MULTILINE)
        there = {folder.name for folder in (ROOT / "test").glob("*/") if folder.name != "__pycache__"}
        self.assertEqual(set(told), there)

    def test_links_lead_somewhere(self):
        for name in ("README.md", "HACKING.md", "CHANGELOG.md", "test/README.md", "doc/glossary.md", "doc/architecture.md",
                     "doc/node.md", "doc/operating.md", "doc/wire.md", "doc/from-flock-and-etcdctl.md"):
            for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text_of(name)):
                if "://" not in link:
                    with self.subTest(page=name, link=link):
                        self.assertTrue(os.path.exists(ROOT / os.path.dirname(name) / link))

    def test_words_are_sorted(self):
        words = re.findall(r"^\| (.*?) \|", text_of("doc/glossary.md"), re.MULTILINE)[2:]
        self.assertEqual(words, sorted(words))

    def test_every_target_is_told_by_make_help(self):
        phony = re.search(r"^\.PHONY: (.*)$", text_of("Makefile"), re.MULTILINE)[1].split()
        told = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        self.assertEqual(set(re.findall(r"^  make (\w+)", told, re.MULTILINE)), set(phony))


if __name__ == "__main__":
    unittest.main()
