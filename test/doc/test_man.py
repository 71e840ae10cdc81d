"""The manual's examples are run, and its pages fit a terminal."""

import os
import pathlib
import re
import subprocess
import unittest

from baton import BATON
from running import Node

PAGES = sorted((pathlib.Path(__file__).parents[2] / "doc" / "man").glob("*.1.scd"))


def examples(page):
    """The blocks of code under EXAMPLES."""
    text = page.read_text().split("# EXAMPLES", 1)[1].split("\n# ", 1)[0]
    return re.findall(r"^```\n(.*?)^```$", text, re.S | re.M)


class Manual(unittest.TestCase):
    def setUp(self):
        node = self.enterContext(Node("--name", "host1"))
        self.folder = node.folder
        # The examples say `baton`.
        (pathlib.Path(self.folder) / "bin").mkdir()
        os.symlink(BATON, self.folder + "/bin/baton")
        self.environment = {**node.environment, "PATH": self.folder + "/bin:" + os.environ["PATH"]}

    def test_every_example_runs(self):
        self.assertEqual([page.name for page in PAGES],
                         ["baton-elect.1.scd", "baton-lock.1.scd", "baton-run.1.scd", "baton.1.scd"])
        for page in PAGES:
            blocks = examples(page)
            self.assertGreater(len(blocks), 0, page.name)
            for block in blocks:
                with self.subTest(page=page.name, example=block):
                    done = subprocess.run(["bash", "-euc", block], cwd=self.folder, env=self.environment,
                                          capture_output=True, text=True, timeout=60, check=False)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_option_of_the_help_is_in_its_page(self):
        for command in ("run", "lock", "elect"):
            page = next(p for p in PAGES if p.name == f"baton-{command}.1.scd").read_text().replace("\\", "")
            text = subprocess.run([BATON, "help", command], capture_output=True, text=True, check=True).stdout
            for option in re.findall(r"^  (--?[\w-]+)", text, re.M):
                if option not in ("--help", "--socket"):
                    with self.subTest(command=command, option=option):
                        self.assertIn(f"*{option}*", page)

    def test_its_pages_fit_a_terminal(self):
        built = pathlib.Path(BATON).parent / "doc" / "man"
        pages = sorted(built.glob("*.[13]"))
        self.assertEqual(len(pages), len(PAGES) + 1) # and the library's
        for page in pages:
            text = subprocess.run(["groff", "-man", "-Tutf8", "-rLL=80n", "-P-cbou", str(page)],
                                  capture_output=True, text=True, check=True).stdout
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, f"{page.name}: {line}")


if __name__ == "__main__":
    unittest.main()
