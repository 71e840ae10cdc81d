"""Documents are wrapped evenly at 100 columns, and the tool that wraps them leaves other text alone."""
import unittest

from documents import ROOT, Copy, tool

TEXT = """# A heading that is longer than one hundred columns is left alone, because it cannot be told in two lines of text

A paragraph
of short lines, with `code that is not broken at its blanks` inside it, which is filled up to one hundred columns.

- An item that is longer than one hundred columns is continued under its own text and not under its bullet, as here.
- Another, with a table:

  | a row | that is indented and longer than one hundred columns | is left alone like any other row of a table, of course |
  | --- | --- | --- |

| a table | that is longer than one hundred columns | is left alone, because its rows cannot be broken into several lines |
| --- | --- | --- |

    code that is indented:
      - a line that looks like an item
        and what belongs to it

```
code that is longer than one hundred columns, for instance the output of a command, is left alone, too, of course it is
```
"""
FILLED = """# A heading that is longer than one hundred columns is left alone, because it cannot be told in two lines of text

A paragraph of short lines, with `code that is not broken at its blanks` inside it, which is filled
up to one hundred columns.

- An item that is longer than one hundred columns is continued under its own text and not under its
  bullet, as here.
- Another, with a table:

  | a row | that is indented and longer than one hundred columns | is left alone like any other row of a table, of course |
  | --- | --- | --- |

| a table | that is longer than one hundred columns | is left alone, because its rows cannot be broken into several lines |
| --- | --- | --- |

    code that is indented:
      - a line that looks like an item
        and what belongs to it

```
code that is longer than one hundred columns, for instance the output of a command, is left alone, too, of course it is
```
"""


class Wrapping(unittest.TestCase):
    def test_all_documents_are_wrapped(self):
        result = tool("wrap", "--check")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_what_is_filled_and_what_is_left(self):
        with Copy() as root:
            (root / "README.md").write_text(TEXT, encoding="utf-8")
            result = tool("wrap", "--check", root=root)
            self.assertEqual(result.returncode, 1)
            self.assertIn("README.md: not wrapped", result.stderr)
            self.assertEqual(tool("wrap", root=root).returncode, 0)
            self.assertEqual((root / "README.md").read_text(encoding="utf-8"), FILLED)
            self.assertEqual(tool("wrap", "--check", root=root).returncode, 0)

    def test_this_tree_has_its_documents(self):
        for name in ("README.md", "doc/architecture.md", "doc/operating.md", "doc/wire.md"):
            self.assertTrue((ROOT / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()
