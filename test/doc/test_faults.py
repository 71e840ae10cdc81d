"""doc/faults.md, its figure and the sections made from it match what the checker finds now, and the tool notices if not."""
import unittest

from documents import Copy, spoil, tool


class Faults(unittest.TestCase):
    def test_the_page_is_what_is_found_now(self):
        """One cell is changed: only that row is reported, so all others are right."""
        with Copy() as root:
            spoil(root / "doc/faults.md", "| unnoticed ", "| one waits ")
            result = tool("faults", "--compare", root=root)
        self.assertEqual(result.returncode, 1, result)
        self.assertRegex(result.stdout, r"\Adoc/faults\.md lacks: \| carvalho-roucairol .*unnoticed.*\n\Z")


if __name__ == "__main__":
    unittest.main()
