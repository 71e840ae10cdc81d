"""The programs and the library are compiled so that a memory bug ends them instead of letting somebody in."""
import os
import pathlib
import re
import subprocess
import unittest

from baton import BATON
from running import Node

BUILD = pathlib.Path(BATON).parent
PROGRAMS = [path for path in (pathlib.Path(BATON), BUILD / "baton-web") if path.exists()] # PAGE=no builds no baton-web
LIBRARY = BUILD / "src/service/client/libbaton.so"


def readelf(path, *words):
    return subprocess.run(["readelf", "-W", *words, path], capture_output=True, text=True, check=True).stdout


@unittest.skipIf(os.environ.get("SANITIZE", "none") != "none", "sanitizers are used instead")
class Hardening(unittest.TestCase):
    def each(self, *paths):
        for path in paths:
            with self.subTest(path=path.name):
                yield path

    def test_their_addresses_are_random(self):
        for path in self.each(*PROGRAMS, LIBRARY):
            self.assertRegex(readelf(path, "-h"), r"Type: +DYN")
        for path in self.each(*PROGRAMS):
            self.assertRegex(readelf(path, "-d"), r"FLAGS_1.*\bPIE\b")

    def test_what_the_linker_wrote_is_read_only_from_the_start_on(self):
        for path in self.each(*PROGRAMS, LIBRARY):
            self.assertIn("GNU_RELRO", readelf(path, "-l"))
            self.assertRegex(readelf(path, "-d"), r"FLAGS_1.*\bNOW\b")

    def test_nothing_that_can_be_written_is_executed(self):
        for path in self.each(*PROGRAMS, LIBRARY):
            segments = re.findall(r"^  (LOAD|GNU_STACK) .* ([RWE ]{3}) 0x\w+$", readelf(path, "-l"), re.M)
            self.assertGreater(len(segments), 4)
            for kind, flags in segments:
                self.assertFalse("W" in flags and "E" in flags, (kind, flags))

    def test_the_stack_and_the_string_functions_are_guarded(self):
        for path in self.each(*PROGRAMS, LIBRARY):
            names = readelf(path, "--dyn-syms")
            self.assertIn("__stack_chk_fail", names)
            self.assertRegex(names, r"__(memcpy|snprintf|vsnprintf)_chk")


class Process(unittest.TestCase):
    def test_a_node_that_is_started_by_hand_gains_no_rights(self):
        with Node() as node:
            status = pathlib.Path(f"/proc/{node.process.pid}/status").read_text(encoding="utf-8")
        self.assertRegex(status, r"(?m)^NoNewPrivs:\t1$")


if __name__ == "__main__":
    unittest.main()
