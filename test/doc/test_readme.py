"""The picture in README.md is the one that baton draws now, and the README's statements about commands are true."""
import re
import subprocess
import tempfile
import unittest

from baton import BATON
from documents import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


class Readme(unittest.TestCase):
    def test_the_picture_is_what_is_drawn_now(self):
        command = re.search(r"`baton (sim [^`]*?) --diagram (\S+)`", README)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([BATON, *command[1].split(), "--diagram", f"{folder}/{command[2]}"], check=True, capture_output=True)
            with open(f"{folder}/{command[2]}", encoding="utf-8") as file:
                drawn = file.read()
        self.assertEqual(drawn, (ROOT / "doc" / command[2]).read_text(encoding="utf-8"),
                         f"baton {command[1]} --diagram doc/{command[2]} draws it again")
        self.assertIn(f"](doc/{command[2]})", README)

    def test_it_opens_with_two_sentences(self):
        first = README.split("\n\n")[1]
        self.assertEqual(len(re.findall(r"\.(?:\s|$)", first)), 2, first)

    def test_every_command_is_told(self):
        commands = re.findall(r"^  (\w[\w-]*)", subprocess.run([BATON, "help"], capture_output=True, text=True, check=True).stdout, re.M)
        self.assertGreater(len(commands), 10)
        for command in commands:
            with self.subTest(command):
                self.assertRegex(README, rf"baton {command}\b")


if __name__ == "__main__":
    unittest.main()
