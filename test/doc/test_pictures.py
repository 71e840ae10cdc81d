"""librsvg, which is not a browser, also draws every picture in doc/ with its colours and its words."""
import pathlib
import re
import shutil
import struct
import subprocess
import unittest
import zlib

from baton import ROOT

PICTURES = sorted(pathlib.Path(ROOT, "doc").rglob("*.svg"))
PAPER = (0xfc, 0xfb, 0xf8)


def pixels(png):
    """Returns the colours of a PNG with eight bits a channel, row by row."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert depth == 8 and kind in (2, 6)
    size, data, at = {2: 3, 6: 4}[kind], b"", 8
    while at < len(png):
        length = struct.unpack(">I", png[at:at + 4])[0]
        if png[at + 4:at + 8] == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    raw, before, rows = zlib.decompress(data), bytearray(width * size), []
    for y in range(height):
        rule, row = raw[y * (width * size + 1)], bytearray(raw[y * (width * size + 1) + 1:(y + 1) * (width * size + 1)])
        for i, value in enumerate(row):
            left, up = row[i - size] if i >= size else 0, before[i]
            corner = before[i - size] if i >= size else 0
            guess = left + up - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            row[i] = (value + (0, left, up, (left + up) // 2, nearest)[rule]) & 255
        rows.append(row)
        before = row
    return {tuple(row[i:i + 3]) for row in rows for i in range(0, len(row), size)}


class Pictures(unittest.TestCase):
    def test_there_are_some(self):
        self.assertGreater(len(PICTURES), 30)

    def test_each_is_on_a_page(self):
        pages = "\n".join(page.read_text(encoding="utf-8") for page in pathlib.Path(ROOT).rglob("*.md") if "build" not in page.parts)
        shown = {pathlib.Path(path).name for path in re.findall(r"!\[[^\]]*\]\(([^)]+\.svg)\)|<img [^>]*src=\"([^\"]+\.svg)", pages)
                 for path in path if path}
        self.assertEqual({path.name for path in PICTURES} - shown, set())

    def test_colours_are_written_out(self):
        for path in PICTURES:
            with self.subTest(path=path.name):
                self.assertNotIn("var(", path.read_text(encoding="utf-8"))

    @unittest.skipUnless(shutil.which("rsvg-convert"), "tools/setup test installs rsvg-convert")
    def test_librsvg_draws_them(self):
        for path in PICTURES:
            with self.subTest(path=path.name):
                made = subprocess.run(["rsvg-convert", "--width", "300", path], capture_output=True, check=True)
                self.assertEqual(made.stderr, b"")
                if path == PICTURES[0]:
                    colours = pixels(made.stdout)
                    self.assertIn(PAPER, colours)
                    self.assertGreater(len(colours), 50)

    def test_a_counterexample_says_what_is_wrong(self):
        for path in PICTURES:
            if path.parent.name == "errata":
                with self.subTest(path=path.name):
                    text = path.read_text(encoding="utf-8")
                    self.assertIn('class="band"', text)
                    said = " ".join(re.findall(r'<text class="bad"[^>]*>([^<]+)</text>', text))
                    self.assertRegex(said, r"^(Deadlock|No mutual exclusion|More than one leader|The election has stopped|The invariant "
                                     r"\w+ is broken|A step that may not happen|Node \d should be inside by now|\d+ messages were sent)")
                    self.assertRegex(said, r"\.$")

    def test_a_picture_names_its_variant(self):
        """A picture of an erratum names the parameters of its scenario; a picture of a run names its seed."""
        for path in PICTURES:
            text = path.read_text(encoding="utf-8")
            scenario = pathlib.Path(ROOT, "test/scenarios/violated", f"{path.stem}.scn")
            if path.parent.name == "errata" and scenario.exists():
                for param in re.findall(r"^param (\S+)", scenario.read_text(encoding="utf-8"), re.M):
                    self.assertIn(f"; {param};", text, path.name)
            if path.name.startswith("example-"):
                self.assertRegex(text, r'<text class="soft"[^>]*>[\w:]+;[^<]*; seed 1</text>')


if __name__ == "__main__":
    unittest.main()
