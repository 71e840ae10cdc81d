"""The program is compiled so that a memory bug ends it instead of letting somebody in."""
import os
import re
import subprocess
import unittest

from baton import BATON


def readelf(*words):
    return subprocess.run(["readelf", "-W", *words, BATON], capture_output=True, text=True, check=True).stdout


@unittest.skipIf(os.environ.get("SANITIZE", "none") != "none", "sanitizers are used instead")
class Hardening(unittest.TestCase):
    def test_its_addresses_are_random(self):
        self.assertRegex(readelf("-h"), r"Type: +DYN")
        self.assertRegex(readelf("-d"), r"FLAGS_1.*\bPIE\b")

    def test_what_the_linker_wrote_is_read_only_from_the_start_on(self):
        self.assertIn("GNU_RELRO", readelf("-l"))
        self.assertRegex(readelf("-d"), r"FLAGS_1.*\bNOW\b")

    def test_nothing_that_can_be_written_is_executed(self):
        segments = re.findall(r"^  (LOAD|GNU_STACK) .* ([RWE ]{3}) 0x\w+$", readelf("-l"), re.M)
        self.assertGreater(len(segments), 4)
        for kind, flags in segments:
            self.assertFalse("W" in flags and "E" in flags, (kind, flags))

    def test_the_stack_and_the_string_functions_are_guarded(self):
        names = readelf("--dyn-syms")
        self.assertIn("__stack_chk_fail", names)
        self.assertRegex(names, r"__(memcpy|snprintf|vsnprintf)_chk")


if __name__ == "__main__":
    unittest.main()
