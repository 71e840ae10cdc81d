"""Runs the examples of the manual, and checks that its pages fit a terminal."""

import os
import pathlib
import re
import subprocess
import unittest

from baton import BATON
from running import Node

PAGES = sorted((pathlib.Path(__file__).parents[2] / "doc" / "man").glob("*.[15].scd"))


def examples(page):
    """Returns the blocks of code under EXAMPLES."""
    text = page.read_text().split("# EXAMPLES", 1)[1].split("\n# ", 1)[0]
    return re.findall(r"^```\n(.*?)^```$", text, re.S | re.M)


class Manual(unittest.TestCase):
    def setUp(self):
        node = self.enterContext(Node("--name", "host1"))
        self.folder = node.folder
        # The examples call the program `baton`.
        (pathlib.Path(self.folder) / "bin").mkdir()
        os.symlink(BATON, self.folder + "/bin/baton")
        self.environment = {**node.environment, "PATH": self.folder + "/bin:" + os.environ["PATH"]}

    def test_every_example_runs(self):
        self.assertEqual([page.name for page in PAGES],
                         ["baton-break.1.scd", "baton-cert.1.scd", "baton-drain.1.scd", "baton-elect.1.scd", "baton-fence-check.1.scd", "baton-lock.1.scd",
                          "baton-member.1.scd", "baton-node.1.scd", "baton-run.1.scd", "baton-scenario.5.scd", "baton-status.1.scd",
                          "baton-torture.1.scd", "baton-trace.5.scd", "baton-web.1.scd", "baton-whoami.1.scd", "baton.1.scd"])
        for page in PAGES:
            if page.name == "baton-web.1.scd" and not os.path.exists(os.path.dirname(BATON) + "/baton-web"):
                continue  # built without the page
            blocks = examples(page)
            self.assertGreater(len(blocks), 0, page.name)
            for block in blocks:
                with self.subTest(page=page.name, example=block):
                    done = subprocess.run(["bash", "-euc", block], cwd=self.folder, env=self.environment,
                                          capture_output=True, text=True, timeout=60, check=False)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_option_of_the_help_is_in_its_page(self):
        for command in ("run", "lock", "elect", "observe", "node", "member", "cert", "drain", "status", "break", "fence-check", "torture",
                        "web", "whoami", "can"):
            name = {"observe": "elect", "can": "whoami"}.get(command, command)
            page = next(p for p in PAGES if p.name == f"baton-{name}.1.scd").read_text().replace("\\", "")
            text = subprocess.run([BATON, "help", command], capture_output=True, text=True, check=True).stdout
            for option in re.findall(r"^  (--?[\w-]+)", text, re.M):
                with self.subTest(command=command, option=option):
                    self.assertIn(f"*{option}*", page)

    def test_every_page_has_what_readers_look_for(self):
        general = next(p for p in PAGES if p.name == "baton.1.scd").read_text()
        linked = general.split("# SEE ALSO", 1)[1]
        for page in PAGES:
            text = page.read_text()
            sections = re.findall(r"^# (.*)$", text, re.M)
            with self.subTest(page=page.name):
                name, number, _ = page.name.split(".")
                synopsis = ["SYNOPSIS"] if number == "1" else []
                for section in ("NAME", *synopsis, "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
                    self.assertIn(section, sections)
                if text != general:
                    self.assertIn(f"*{name}*({number})", linked)
                    self.assertIn("*baton*(1)", text.split("# SEE ALSO", 1)[1])
                for name, number in re.findall(r"\*(baton[a-z-]*)\*\((\d)\)", text):
                    self.assertTrue((page.parent / f"{name}.{number}.scd").is_file(), f"{name}({number}) is not there")

    def test_exit_codes_of_the_help_are_in_the_page(self):
        """Compares the codes in the paragraph `Exit: …` of the help with those of the page."""
        for command in ("run", "lock", "status", "break", "fence-check"):
            page = next(p for p in PAGES if p.name == f"baton-{command}.1.scd").read_text()
            status = page.split("# EXIT STATUS", 1)[1].split("\n# ", 1)[0]
            text = subprocess.run([BATON, "help", command], capture_output=True, text=True, check=True).stdout
            codes = re.findall(r"(?<![\d+])(\d+) [a-z]", text.split("Exit: ", 1)[1].split("\n\n", 1)[0])
            self.assertGreater(len(codes), 2, command)
            for code in codes:
                with self.subTest(command=command, code=code):
                    self.assertIn(f"*{code}*", status)

    def test_its_pages_fit_a_terminal(self):
        built = pathlib.Path(BATON).parent / "doc" / "man"
        pages = sorted(built.glob("*.[135]"))
        self.assertEqual(len(pages), len(PAGES) + 1) # the exit codes of the library are in the page too
        for page in pages:
            text = subprocess.run(["groff", "-man", "-Tutf8", "-rLL=80n", "-P-cbou", str(page)],
                                  capture_output=True, text=True, check=True).stdout
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, f"{page.name}: {line}")


if __name__ == "__main__":
    unittest.main()
