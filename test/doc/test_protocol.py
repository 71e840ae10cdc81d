"""Tests baton-protocol(7): its examples run, its bytes are those on the wire, and it has every command and error."""

import pathlib
import re
import shutil
import subprocess
import unittest

from baton import BATON
from resp import Client, Wrong
from running import Node

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "doc" / "man" / "baton-protocol.7.scd").read_text()


def blocks(section):
    """Returns the blocks of code in a section, as a reader sees them."""
    text = PAGE.split(f"# {section}\n", 1)[1].split("\n# ", 1)[0]
    return [block.replace("\\\\", "\\") for block in re.findall(r"^```\n(.*?)^```$", text, re.S | re.M)]


class Protocol(unittest.TestCase):
    def setUp(self):
        self.node = self.enterContext(Node("--name", "host1"))

    def client(self):
        return self.enterContext(Client(self.node.socket))

    def test_every_example_runs(self):
        examples = blocks("EXAMPLES")
        self.assertGreater(len(examples), 3)
        if shutil.which("redis-cli") is None:
            self.skipTest("redis-cli is not here: tools/setup test installs it")
        for block in examples:
            with self.subTest(example=block):
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], env=self.node.environment, capture_output=True,
                                      text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIsNone(re.search(r"^([A-Z]{3,} |\(error\))|errors: [1-9]", done.stdout + done.stderr, re.M),
                                  done.stdout + done.stderr)

    def test_the_wire_is_as_it_is_shown(self):
        """Fences differ from run to run. But where the page shows the same fence twice, the node must send the same one twice."""
        client = self.client()
        block, = blocks("ON THE WIRE")
        fences = {}

        def real(line):
            return re.sub(r"\d{12,}", lambda found: fences.get(found[0], found[0]), line)

        for line in block.splitlines():
            who, said = line.split(": ", 1)
            if who == "C":
                client.send_bytes(real(said).encode() + b"\r\n")
                continue
            self.assertEqual(who, "S")
            heard = client._line().decode()
            for shown, found in zip(re.findall(r"\d{12,}", said), re.findall(r"\d{12,}", heard)):
                fences.setdefault(shown, found)
            self.assertEqual(heard, real(said))
        self.assertGreater(len(fences), 0)

    def test_every_command_is_told(self):
        client = self.client()
        names = client.call("COMMAND", "LIST")
        self.assertGreater(len(names), 10)
        for name in names:
            self.assertRegex(PAGE, rf"\*{name.upper()}[* ]", name)
        known = client.call("CLIENT", "NONSENSE")
        self.assertIsInstance(known, Wrong)
        for name in re.findall(r"([A-Z]{2,})[^,]*", known.split("CLIENT knows ", 1)[1]):
            self.assertIn(f"*CLIENT {name}*", PAGE)

    def test_every_error_is_told(self):
        codes = re.findall(r"X\(BATON_E(\w+), -(\d+),", (ROOT / "include" / "baton" / "error.h").read_text())
        told = {name for name, number in codes if 6 <= int(number) <= 19}
        self.assertGreater(len(told), 10)
        errors = PAGE.split("# ERRORS\n", 1)[1].split("\n# ", 1)[0]
        for name in told:
            self.assertIn(f"*{name}*", errors)

    def test_it_is_built_fits_a_terminal_and_is_linked(self):
        built = pathlib.Path(BATON).parent / "doc" / "man" / "baton-protocol.7"
        text = subprocess.run(["groff", "-man", "-Tutf8", "-rLL=80n", "-P-cbou", str(built)], capture_output=True, text=True,
                              check=True).stdout
        self.assertIn("LOCK name [NOWAIT | TIMEOUT ms]", text)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
        for page in ("baton.1", "libbaton.3"):
            self.assertIn("*baton-protocol*(7)", (ROOT / "doc" / "man" / f"{page}.scd").read_text())


if __name__ == "__main__":
    unittest.main()
