"""doc/checked.md and doc/errata.md agree with what the checker finds now, and are complete. Their tools notice if they do not."""
import re
import tomllib
import unittest

from baton import baton, report
from documents import ROOT, Copy, spoil, tool


def errata():
    with open(ROOT / "doc/errata/errata.toml", "rb") as file:
        return tomllib.load(file)["erratum"]


class Checked(unittest.TestCase):
    def test_the_quick_rows_are_as_in_the_page(self):
        result = tool("checked", "--quick", "--compare")
        self.assertEqual((result.returncode, result.stdout.strip()), (0, ""), result.stderr)
        self.assertGreater(result.stderr.count("baton check"), 100)

    def test_every_row_has_the_verdict_that_it_should_have(self):
        page = (ROOT / "doc/checked.md").read_text(encoding="utf-8")
        self.assertNotIn("**", page)

    def test_a_row_that_differs_is_seen(self):
        with Copy() as root:
            spoil(root / "doc/checked.md", " 98 | holds", " 99 | holds")
            result = tool("checked", "--only", "central", "--quick", "--compare", root=root)
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("central star 3 ∞ reorder: states is 99 in the page, and 98 now", result.stdout)

    def test_a_row_that_is_missing_is_seen(self):
        with Copy() as root:
            page = root / "doc/checked.md"
            lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
            page.write_text("".join(line for line in lines if not line.startswith("| le-lann ")), encoding="utf-8")
            result = tool("checked", "--only", "central", "--quick", "--compare", root=root)
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("le-lann --topology ring --nodes 3 --entries 2 --fifo: not in the page", result.stdout)


class Coverage(unittest.TestCase):
    def test_the_page_is_made_from_the_table_and_what_it_names_exists(self):
        result = tool("coverage", "--compare", "--run")
        self.assertEqual((result.returncode, result.stdout.strip(), result.stderr), (0, "", ""))

    def test_what_does_not_exist_is_noticed(self):
        for old, new, said in (("test_theorem_3_fails", "test_theorem_4_fails", "has no test_theorem_4_fails"),
                               ("scenario neilsen/figure-2", "scenario neilsen/figure-9", "there is no"),
                               ("claims Raynal 5.3", "claims Raynal 5.9", "no claim of Raynal 5.9"),
                               ("erratum helary-min", "erratum helary-max", "no helary-max"),
                               ("invariant ME3", "invariant ME4", "no algorithm has the invariant ME4"),
                               ("baton! check central", "baton check central", "exit 1, not 0")):
            with Copy() as root:
                spoil(root / "doc/coverage/coverage.toml", old, new)
                result = tool("coverage", "--compare", "--run", root=root)
            self.assertEqual(result.returncode, 1, result)
            self.assertIn(said, result.stderr)


class Errata(unittest.TestCase):
    def test_the_page_and_the_pictures_are_what_is_found_now(self):
        result = tool("errata", "--compare")
        self.assertEqual((result.returncode, result.stdout.strip(), result.stderr), (0, "", ""))

    def test_the_figures_are_what_is_drawn_now(self):
        result = tool("figures", "--compare")
        self.assertEqual((result.returncode, result.stdout.strip(), result.stderr), (0, "", ""))

    def test_every_printed_text_is_on_the_page(self):
        offered = set()
        for algorithm in report("algorithms")["algorithms"]:
            page = baton("algorithms", algorithm["name"]).out
            choices = re.search(r"text=(mended\|\S+)`", page)
            offered |= {(algorithm["name"], text) for text in re.findall(r"printed:[\w-]+", choices[1] if choices else "")}
        self.assertGreater(len(offered), 15)
        told = {((e.get("check") or e["compare"][0]).split()[0], e["text"]) for e in errata() if "text" in e}
        self.assertEqual(told, offered)

    def test_every_algorithm_that_needs_order_is_on_the_page(self):
        needs = {algorithm["name"] for algorithm in report("algorithms")["algorithms"] if algorithm["fifo"]}
        told = {e["check"].split()[0] for e in errata() if "--reorder" in e.get("check", "")}
        self.assertEqual(told, needs)

    def test_links_lead_somewhere(self):
        for name in ("checked.md", "errata.md"):
            text = (ROOT / "doc" / name).read_text(encoding="utf-8")
            anchors = {f"#{anchor}" for anchor in re.findall(r'<a id="([^"]*)">', text)}
            for link in re.findall(r"\]\(([^)]*)\)", text):
                with self.subTest(page=name, link=link):
                    self.assertTrue(link in anchors or (ROOT / "doc" / link).is_file())

    def refused(self, name, before, after):
        with Copy() as root:
            spoil(root / f"test/scenarios/violated/{name}.scn", before, after)
            result = tool("errata", "--compare", root=root)
        self.assertEqual((result.returncode, result.stdout), (1, ""), result)
        return result.stderr

    def test_a_schedule_that_is_not_the_shortest_is_refused(self):
        said = self.refused("suzuki-kasami-b-wait", "\nrequest 2\n", "\nrequest 1\nrelease 1\nrequest 2\n")
        self.assertIn("suzuki-kasami-b-wait.scn has 17 steps", said)
        self.assertIn("finds 15", said)

    def test_a_schedule_that_ends_well_as_printed_is_refused(self):
        self.assertIn("exit 0, not 1", self.refused("suzuki-kasami-b-wait", "run\nexpect 2 idle\n", "run\nexpect 2 leaving\n"))

    def test_a_schedule_that_ends_badly_when_mended_is_refused(self):
        said = self.refused("suzuki-kasami-b-wait", "run\nexpect 2 idle\n", "run\nexpect 1 waiting\n")
        self.assertIn("with the mended text: -:", said)
        self.assertIn("expected node 1 waiting, found idle", said)


class Pages(unittest.TestCase):
    def test_each_algorithm_has_all_parts(self):
        pages = sorted((ROOT / "doc/algorithms").glob("*.md"))
        self.assertEqual(len(pages), 22)
        for page in pages:
            text = page.read_text(encoding="utf-8")
            for part in ("Idea", "Variables", "Messages", "Rules", "Example", "Assumptions", "Bounds"):
                with self.subTest(page=page.name, part=part):
                    self.assertIn(f"\n## {part}\n", text)


if __name__ == "__main__":
    unittest.main()
