"""Tests baton fence-check: its exit codes and its messages."""
import os
import tempfile
import unittest

from baton import baton, report


class FenceCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "fence")

    def expect(self, fence, code, error=""):
        result = baton("fence-check", self.file, fence)
        self.assertEqual((result.code, result.out), (code, ""), result)
        self.assertIn(error, result.err)
        self.assertEqual(result.err == "", code == 0, result)

    def test_passes_and_refuses(self):
        self.expect(5, 0)
        self.expect(5, 0)
        self.expect(4, 1, "the fence 4 is stale: 5 was seen")
        self.expect(9007199254740991, 0)
        self.expect(6, 1, "stale")
        with open(self.file, encoding="ascii") as file:
            self.assertEqual(file.read(), "9007199254740991\n")

    def test_json(self):
        self.assertEqual(report("fence-check", self.file, 5), {"passed": True, "fence": 5, "highest": 5})
        self.assertEqual(report("fence-check", self.file, 4, expect=1), {"passed": False, "fence": 4, "highest": 5})

    def test_a_torn_file_is_an_error(self):
        for text in ("", "5", "5\n6\n", "five\n"):
            with open(self.file, "w", encoding="ascii") as file:
                file.write(text)
            self.expect(7, 2, "does not hold a fence")

    def test_bad_usage(self):
        for words, error in (("", "a file and a fence"), (self.file, "a file and a fence"),
                             (f"{self.file} 1 2", "a file and a fence"), (f"{self.file} 0", "'0' is no fence"),
                             (f"{self.file} 9007199254740992", "is no fence"), (f"{self.file} 1x", "'1x' is no fence"),
                             (f"{self.file} 1 --jsn", "did you mean '--json'?"),
                             ("/nonexistent/fence 1", "/nonexistent/fence: No such file or directory")):
            result = baton("fence-check", words)
            self.assertEqual((result.code, result.out), (2, ""), result)
            self.assertIn(error, result.err)
            self.assertEqual(result.err.count("\n"), 1)


unittest.main()
