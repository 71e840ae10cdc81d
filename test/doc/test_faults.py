"""doc/faults.md, its figure and the sections made from it agree with what the checker finds now. The tool notices if they do
not."""
import unittest

from documents import Copy, spoil, tool


class Faults(unittest.TestCase):
    def test_the_page_is_what_is_found_now(self):
        """The test changes one cell. The tool reports only that row, so all others are right."""
        with Copy() as root:
            spoil(root / "doc/faults.md", "| unnoticed ", "| one waits ")
            result = tool("faults", "--compare", root=root)
        self.assertEqual(result.returncode, 1, result)
        self.assertRegex(result.stdout, r"\Adoc/faults\.md lacks: \| carvalho-roucairol .*unnoticed.*\n\Z")


if __name__ == "__main__":
    unittest.main()
