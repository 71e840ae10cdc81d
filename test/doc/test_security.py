"""doc/security.md names the limits that the program has."""
import re
import unittest

from documents import ROOT

DOCUMENT = (ROOT / "doc/security.md").read_text(encoding="utf-8")
FUZZERS = re.findall(r"^  '(\w+)',$", (ROOT / "test/meson.build").read_text(encoding="utf-8").split("fuzz_names = [")[1].split("]")[0],
                     re.MULTILINE)
UNITS = {"": 1, " KiB": 1 << 10, " MiB": 1 << 20, " ms": 1, " µs": 1}


def sources():
    return {str(path.relative_to(ROOT / "src/service")): path.read_text(encoding="utf-8") for path in (ROOT / "src/service").glob("*/*.[ch]")}


class Limits(unittest.TestCase):
    def setUp(self):
        self.sources = sources()

    def value(self, name, text):
        """Evaluates a constant as the C program does; other constants in it may be defined in another file."""
        found = (re.search(rf"\b{name} = ([^,;}}/]+?)\s*[,;}}/]", text) or
                 next((match for other in self.sources.values() if (match := re.search(rf"\b{name} = ([^,;}}/]+?)\s*[,;}}/]", other))), None))
        if (default := re.search(rf"\.{name} = limit_of\([^,]*, ([^)]+)\)", text)):
            found = default
        self.assertIsNotNone(found, name)
        expression = re.sub(r"[A-Z][A-Z_]+", lambda match: str(self.value(match[0], text)), found[1])
        self.assertRegex(expression, r"^[\d\s<>*+()-]+$", name)
        return eval(expression, {"__builtins__": {}}) # pylint: disable=eval-used

    def test_each_limit_is_that_of_the_program(self):
        section = DOCUMENT.split("## Limits")[1].split("\n## ")[0]
        rows = re.findall(r"^\| (.*?) \| ([\d,]+)( KiB| MiB| ms| µs|) \| .*? \| `(.*?)` \| `(\w+)` \|$", section, re.MULTILINE)
        self.assertEqual(len(rows), section.count("\n| ") - 2 * section.count("\n| ---"))
        self.assertGreater(len(rows), 60)
        for what, number, unit, path, name in rows:
            with self.subTest(what):
                self.assertIn(path, self.sources)
                self.assertRegex(self.sources[path], rf"\b{name}\b")
                self.assertEqual(self.value(name, self.sources[path]), int(number.replace(",", "")) * UNITS[unit])


    def test_the_errors_of_subscriptions_name_the_limits(self):
        text = (ROOT / "include/baton/error.h").read_text(encoding="utf-8")
        one, all_of_them, patterns = (self.value(name, self.sources["node/node.c"]) for name in ("subscriptions", "all_subscriptions", "patterns"))
        self.assertIn(f"a session may have {one}, and a user {all_of_them * 7 // 8} at this node", text)
        self.assertIn(f"a user may have {patterns * 7 // 8} at this node, all users {patterns}", text)
        self.assertLess(all_of_them, self.value("INTERESTS_MAX", self.sources["node/event.c"]))


class Fuzzers(unittest.TestCase):
    def test_each_fuzzer_is_told_and_has_a_corpus(self):
        section = DOCUMENT.split("## Fuzzers")[1].split("<!-- made by")[0]
        told = [name for row in re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
        self.assertEqual(sorted(told), sorted(FUZZERS))
        for name in FUZZERS:
            self.assertTrue((ROOT / f"test/fuzz/fuzz_{name}.c").exists())
            self.assertTrue(any((ROOT / "test/fuzz/corpus" / name).iterdir()), name)


if __name__ == "__main__":
    unittest.main()
