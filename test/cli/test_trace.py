"""The trace is consistent, agrees with the report, and is the same for the same seed."""
import json
import os
import pty
import re
import signal
import subprocess
import tempfile
import unittest
from xml.etree import ElementTree

from baton import BATON, baton, report, sim
from cluster import until
from tracefile import Trace

SCENARIO = """\
algorithm neilsen
topology star
nodes 3
request 2
deliver 2 1
deliver 1 2
release 2
"""

# Node 2 leaves at the end, and never returns.
LEAVING = """\
algorithm suzuki-kasami-b
topology complete
nodes 2
holder 1
param text=printed:wait
param L=2
reorder
request 2
deliver 2 1 REQUEST
request 1
deliver 1 2 PRIVILEGE
release 2
deliver 1 2 REQUEST
request 2
deliver 2 1 PRIVILEGE
release 1
deliver 2 1 REQUEST
deliver 1 2 REPLY
deliver 1 2 PRIVILEGE
release 2
request 2
release 2
"""

# The trace of the first scenario, as a person would write it.
TRACE = """\
{"ev":"start","algorithm":"neilsen","topology":"star","nodes":3,"edges":[[1,2],[1,3]],"holder":1,"fifo":false,"seed":1,"params":{}}
{"t":0,"ev":"request","node":2}
{"t":0,"ev":"send","msg":1,"from":2,"to":1,"type":"REQUEST","text":"REQUEST(2,2)","bytes":3,"token":false}
{"t":0,"ev":"state","node":2,"vars":{"HOLDING":false,"NEXT":0,"FOLLOW":0}}
{"t":1,"ev":"deliver","msg":1,"from":2,"to":1,"type":"REQUEST"}
{"t":1,"ev":"send","msg":2,"from":1,"to":2,"type":"PRIVILEGE","text":"PRIVILEGE","bytes":1,"token":true}
{"t":1,"ev":"state","node":1,"vars":{"HOLDING":false,"NEXT":2,"FOLLOW":0}}
{"t":2,"ev":"deliver","msg":2,"from":1,"to":2,"type":"PRIVILEGE"}
{"t":2,"ev":"enter","node":2}
{"t":3,"ev":"exit","node":2}
{"t":3,"ev":"state","node":2,"vars":{"HOLDING":true,"NEXT":0,"FOLLOW":0}}
{"t":3,"ev":"end"}
"""


class Traces(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "trace")

    def tearDown(self):
        self.folder.cleanup()

    def read(self):
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def test_the_trace_of_a_scenario_line_by_line(self):
        result = baton(f"replay - --trace {self.path}", stdin=SCENARIO)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.read(), TRACE)

    def test_every_trace_makes_sense_and_agrees_with_the_report(self):
        for row in report("algorithms")["algorithms"]:
            if row["kind"] != "mutex":
                continue
            for work in ("--delay exp:1", "--load light", "--load poisson:0.1 --delay uniform:0,2"):
                words = f"{row['name']} {work} --entries 200 --warmup 0 --trace {self.path}"
                with self.subTest(words=words):
                    run = sim(words)
                    trace = Trace(self.path)
                    self.assertEqual(trace.entries, run["entries"])
                    if run["messages"]["idle"] is None:
                        self.assertEqual(trace.sent, run["messages"]["total"] + run["messages"]["init"])

    def test_the_initialization_follows_the_start(self):
        sim(f"neilsen --param init=wave --entries 1 --trace {self.path}")
        lines = Trace(self.path).events
        self.assertEqual(lines[0]["params"], {"init": "wave"})
        self.assertEqual([line["type"] for line in lines[1:5]], ["INITIALIZE"] * 4)

    def test_losses_are_told(self):
        sim(f"suzuki-kasami --lose 0.2 --trace {self.path}", expect=1)
        self.assertGreater(Trace(self.path).lost, 0)

    def test_an_interrupt_leaves_whole_lines(self):
        words = f"sim neilsen --nodes 20 --entries 100000000 --trace {self.path}"
        with subprocess.Popen([BATON, *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            until("a trace", lambda: os.path.exists(self.path) and os.path.getsize(self.path) > 100_000)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
        self.assertEqual((process.returncode, out), (-signal.SIGINT, ""))
        self.assertRegex(err, r"^baton sim: seed 1: interrupted after \d+ entries\n$")
        with open(self.path, encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.endswith("\n"))
        # The trace of an interrupted run does not end like a complete one.
        self.assertEqual([json.loads(line)["ev"] for line in text.splitlines()[-1:]], ["cut"])

    def test_a_diagram_of_an_interrupted_run_says_so(self):
        words = f"sim neilsen --nodes 3 --entries 100000000 --trace {self.path} --diagram {self.path}.svg"
        with subprocess.Popen([BATON, *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            until("a trace", lambda: os.path.exists(self.path) and os.path.getsize(self.path) > 100_000)
            process.send_signal(signal.SIGINT)
            process.communicate()
        texts = [text.text or "" for text in ElementTree.parse(f"{self.path}.svg").getroot().iter(f"{SVG}text")]
        self.assertTrue(any(text.endswith("messages before the run was stopped") for text in texts), texts)

    def test_a_replay_that_is_interrupted_ends_with_a_whole_line(self):
        scenario = os.path.join(self.folder.name, "long.scn")
        with open(scenario, "w", encoding="utf-8") as file:
            file.write("algorithm le-lann\nnodes 3\n" + "request 1\nrun\nexpect 1 in\nrelease 1\n" * 200_000)
        words = f"replay {scenario} --trace {self.path}"
        with subprocess.Popen([BATON, *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            until("a trace", lambda: os.path.exists(self.path) and os.path.getsize(self.path) > 100_000)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
        self.assertEqual((process.returncode, out), (-signal.SIGINT, ""))
        self.assertRegex(err, r"^baton replay: .*/long\.scn: interrupted after \d+ steps\n$")
        self.assertEqual(json.loads(self.read().splitlines()[-1])["ev"], "cut")

    def test_a_scenario_that_cannot_go_on_is_cut(self):
        self.assertEqual(baton(f"replay - --trace {self.path}", stdin=SCENARIO + "release 2\n").code, 2)
        self.assertEqual(json.loads(self.read().splitlines()[-1])["ev"], "cut")

    def test_a_run_that_memory_ends_is_cut_too(self):
        words = f"sim lamport --nodes 300 --load poisson:100 --max-memory 3M --trace {self.path}"
        self.assertEqual(baton(words).code, 3)
        self.assertEqual(json.loads(self.read().splitlines()[-1])["ev"], "cut")

    def test_an_interrupt_clears_the_bar(self):
        """The next line that a shell prints must start in the first column."""
        ours, theirs = pty.openpty()
        words = "compare --algorithms lamport --nodes 512 --entries 100000"
        with subprocess.Popen([BATON, *words.split()], stdout=subprocess.DEVNULL, stderr=theirs) as process:
            os.close(theirs)
            seen = b""
            while not re.search(rb"\[[# ]+\]", seen):
                seen += os.read(ours, 4096)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(), -signal.SIGINT)
            try:
                while more := os.read(ours, 4096):
                    seen += more
            except OSError:  # the reader has closed its end
                pass
        os.close(ours)
        self.assertTrue(seen.endswith(b"\r\033[K"), seen[-200:])

    def test_the_same_seed_gives_the_same_bytes(self):
        words = f"sim neilsen --nodes 7 --delay exp:1 --seed 3 --trace {self.path}"
        texts = set()
        for fork in (True, False, False):  # forks have the same addresses, programs have others
            self.assertEqual(baton(words, fork=fork).code, 0)
            texts.add(self.read())
        self.assertEqual(len(texts), 1)


SVG = "{http://www.w3.org/2000/svg}"


class Diagrams(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "diagram.svg")

    def tearDown(self):
        self.folder.cleanup()

    def draw(self, words):
        run = sim(f"{words} --warmup 0 --diagram {self.path}")
        picture = ElementTree.parse(self.path).getroot()
        arrows = [path for path in picture.iter(f"{SVG}path") if path.get("class", "").startswith("arrow") and re.search("[LQ]", path.get("d"))]
        return run, picture, arrows

    def test_a_short_diagram_is_in_one_piece(self):
        run, picture, arrows = self.draw("neilsen --nodes 3 --entries 2")
        self.assertEqual(len(arrows), run["messages"]["total"])
        self.assertEqual(picture.findall(f"{SVG}svg"), [])

    def test_who_is_still_leaving_does_not_look_idle(self):
        for text, leaving in ((LEAVING, True), (SCENARIO, False)):
            baton(f"replay - --diagram {self.path}", stdin=text)
            picture = ElementTree.parse(self.path).getroot()
            bars = [bar for bar in picture.iter(f"{SVG}rect") if bar.get("class") == "leave"]
            # One bar is in the picture, one in its legend.
            self.assertEqual(len(bars), 2 if leaving else 0)

    def test_a_long_diagram_is_cut_into_strips_that_show_all_of_it(self):
        run, picture, arrows = self.draw("neilsen --nodes 3 --entries 40 --delay uniform:0.5,2")
        self.assertEqual(len(arrows), run["messages"]["total"])
        strips = picture.findall(f"{SVG}svg")
        self.assertGreater(len(strips), 2)
        for strip in strips:
            self.assertEqual([use.get("href") for use in strip], ["#all"])
        boxes = [[float(number) for number in strip.get("viewBox").split()] for strip in strips]
        for before, after in zip(boxes, boxes[1:]):
            self.assertAlmostEqual(before[0] + before[2], after[0], delta=0.2)
        widest = max(float(strip.get("x")) + float(strip.get("width")) for strip in strips)
        self.assertLessEqual(widest, float(picture.get("width")) + 1)
        self.assertLess(float(picture.get("width")), 1400)
        lowest = max(float(strip.get("y")) + float(strip.get("height")) for strip in strips)
        self.assertLessEqual(lowest, float(picture.get("height")) + 1)
        # Every strip begins with the names of all nodes.
        names = [text for text in picture.iter(f"{SVG}text") if text.get("class") == "node"]
        self.assertEqual(len(names), 3 * len(strips))


if __name__ == "__main__":
    unittest.main()
