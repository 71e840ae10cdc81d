"""doc/results.md: a small version comes to the same verdicts, every claim has a row; and the tool sees it when not so."""
import re
import unittest

from baton import report
from documents import ROOT, Copy, spoil, tool

PAGE = ROOT / "doc/results.md"


class Results(unittest.TestCase):
    def test_a_small_version_has_the_same_verdicts(self):
        result = tool("results", "--quick", "--compare")
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertGreater(result.stderr.count("baton compare"), 10)
        self.assertGreater(result.stderr.count("baton check"), 10)

    def test_another_verdict_and_a_missing_row_are_seen(self):
        with Copy() as root:
            page = root / "doc/results.md"
            spoil(page, "| mean 3 - 5/N + 2/N^2 ", "| mean 3 - 6/N + 2/N^2 ")
            lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
            at = next(i for i, line in enumerate(lines) if line.startswith("| misra ") and "| at most N " in line)
            moved = lines.pop(at)
            at = next(i for i, line in enumerate(lines) if line.startswith("| central "))
            lines.insert(next(i for i, line in enumerate(lines) if i > at and line.startswith("| neilsen ") and "Neilsen" in line), moved)
            page.write_text("".join(line for line in lines if "entries of others before mine" not in line), encoding="utf-8")
            result = tool("results", "--quick", "--compare", root=root)
        self.assertEqual(result.returncode, 1, result)
        average = "neilsen, messages an entry, light load, mean 3"
        bypass = "entries of others before mine, at most N - 1, the rules"
        self.assertEqual(sorted(result.stdout.splitlines()), sorted([
            "misra, hops until a lost token is made anew, at most N, Raynal 4.2: held in the page, and refuted now",
            f"{average} - 6/N + 2/N^2, Neilsen 6.2: in the page, but no longer found",
            f"{average} - 5/N + 2/N^2, Neilsen 6.2: not in the page",
            f"{average} - 5/N + 2/N^2, Neilsen 6.2: a claim without a row",
            f"le-lann, {bypass}: not in the page",
            f"misra, {bypass}: not in the page",
            f"le-lann, {bypass}: a claim without a row",
            f"misra, {bypass}: a claim without a row",
        ]))

    def test_there_are_three_verdicts_refuted_first_and_every_claim_is_counted(self):
        text = PAGE.read_text(encoding="utf-8")
        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
        self.assertEqual(headings[:2], ["Refuted", "Of another variant or construction"])
        summary = text.split("## How many, by algorithm")[1].split("\n## ")[0]
        counts = {name: tuple(map(int, numbers)) for name, *numbers in
                  re.findall(r"^\| ([\w-]+) " + r"+\| +(\d+) +" * 6 + r"\|$", summary, re.MULTILINE)}
        claims = report("compare --claims")["claims"]
        total = counts.pop("all")
        self.assertEqual(total, tuple(map(sum, zip(*counts.values()))))
        self.assertEqual(set(counts), {claim["algorithm"] for claim in claims})
        for name, (said, held, refuted, other, rules, right) in counts.items():
            of_documents = [claim for claim in claims if claim["algorithm"] == name and claim["where"] is not None]
            self.assertEqual((said, held + refuted + other), (len(of_documents), len(of_documents)), name)
            self.assertLessEqual(refuted, sum(claim["refuted"] is not None for claim in of_documents), name)
            self.assertEqual((rules, right), (len([c for c in claims if c["algorithm"] == name and c["where"] is None]),) * 2, name)
        # Every one that failed is in its table; nothing is in the second that could have been run.
        self.assertEqual(total[2], text.split("## Refuted")[1].split("\n## ")[0].count("\n| ") - 1)
        self.assertEqual(total[3], 0)
        self.assertLess(len(text.splitlines()), 400)

    def test_each_refuted_claim_has_a_command_that_shows_it(self):
        part = PAGE.read_text(encoding="utf-8").split("## Refuted")[1].split("\n## ")[0]
        wrong = {line.split("|")[1].strip() for line in part.splitlines() if line.startswith("| ")} - {"algorithm"}
        commands = re.findall(r"^baton (compare .*)$", part, re.MULTILINE)
        shown = set()
        for command in commands:
            for row in report(command)["rows"]:
                shown |= {row["algorithm"] for claim in row["claims"] if claim["verdict"] == "refuted"}
        self.assertEqual(shown, wrong)
        self.assertGreater(len(wrong), 3)

    def test_links_lead_somewhere(self):
        links = re.findall(r"\]\(([^)]*)\)", PAGE.read_text(encoding="utf-8"))
        self.assertGreater(len(links), 1)
        for link in links:
            name, _, anchor = link.partition("#")
            self.assertIn(f'<a id="{anchor}">', (ROOT / "doc" / name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
