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
            spoil(page, "| mean 3 - 5/N + 2/N^2 |", "| mean 3 - 6/N + 2/N^2 |")
            lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
            at = next(i for i, line in enumerate(lines) if line.startswith("| central") and "| at most 2 |" in line)
            lines[at] = lines[at].replace("held", "**wrong**")
            at = next(i for i, line in enumerate(lines) if line.startswith("| stages ") and "dolev-klawe-rodeh" in lines[i - 4])
            lines[at] = lines[at].replace("held", "**wrong**")
            page.write_text("".join(line for line in lines if "entries of others before mine" not in line), encoding="utf-8")
            result = tool("results", "--quick", "--compare", root=root)
        self.assertEqual(result.returncode, 1, result)
        average = "6.2 Average bound, star, neilsen, messages an entry, light load, mean 3"
        bypass = "entries of others before mine, at most N - 1"
        rules = "What follows from the rules: claims of no document"
        self.assertEqual(sorted(result.stdout.splitlines()), sorted([
            "6.3 Synchronization delay, longest synchronization delay, central, star, at most 2: wrong in the page, and held now",
            f"{average} - 6/N + 2/N^2: in the page, but no longer found",
            f"{average} - 5/N + 2/N^2: not in the page",
            "neilsen, messages an entry, light load, mean 3 - 5/N + 2/N^2: a claim without a row",
            "5.4 Dolev, Klawe and Rodeh, dolev-klawe-rodeh, ring, counted in traces, stages, at most log(N) + 1: wrong in the page, "
            "and held now",
            f"{rules}, le-lann, ring, {bypass}: not in the page",
            f"{rules}, misra, ring, {bypass}: not in the page",
            f"le-lann, {bypass}: a claim without a row",
            f"misra, {bypass}: a claim without a row",
        ]))

    def test_the_summary_counts_every_claim(self):
        summary = PAGE.read_text(encoding="utf-8").split("## Summary")[1].split("\n## ")[0]
        counts = {name: tuple(map(int, numbers)) for name, *numbers in
                  re.findall(r"^\| ([\w-]+) " + r"+\| +(\d+) " * 6 + r"\|$", summary, re.MULTILINE)}
        claims = report("compare --claims")["claims"]
        self.assertEqual(counts.pop("all"), tuple(map(sum, zip(*counts.values()))))
        for name, numbers in counts.items():
            for of_document, (all_of_it, held, wrong) in ((True, numbers[:3]), (False, numbers[3:])):
                known = [claim for claim in claims if claim["algorithm"] == name and (claim["where"] is not None) == of_document]
                self.assertEqual((all_of_it, held + wrong), (len(known), len(known)), name)
                self.assertLessEqual(wrong, sum(claim["wrong"] is not None for claim in known), name)
        self.assertEqual(set(counts), {claim["algorithm"] for claim in claims})
        self.assertEqual(sum(numbers[2] + numbers[5] for numbers in counts.values()), summary.count("**wrong**"))
        more, held = map(int, re.search(r"(\d+) claims, of\s+which (\d+) held", summary).groups())
        self.assertEqual(more - held, summary.count("**not reached**"))

    def test_links_lead_somewhere(self):
        links = re.findall(r"\]\(([^)]*)\)", PAGE.read_text(encoding="utf-8"))
        self.assertGreater(len(links), 1)
        for link in links:
            name, _, anchor = link.partition("#")
            self.assertIn(f'<a id="{anchor}">', (ROOT / "doc" / name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
