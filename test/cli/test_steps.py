"""Tests baton replay --steps: the table agrees with the trace."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest
import unittest.mock

from baton import BATON, ROOT, baton

FIGURE = os.path.join(ROOT, "test/scenarios/neilsen/figure-6.scn")


def replay(text, *words):
    with tempfile.NamedTemporaryFile("w", suffix=".scn") as file:
        file.write(text)
        file.flush()
        return baton("replay", file.name, *words)


def table(text):
    """Returns the rows as a wide terminal shows them, a line each."""
    return replay(text, "--steps").out.splitlines()[1:-1]


def folded(path, columns):
    """Returns the lines of the table for a terminal of this width; None: there is no terminal."""
    with unittest.mock.patch.dict(os.environ):
        os.environ.pop("COLUMNS", None)
        if columns is not None:
            os.environ["COLUMNS"] = columns
        return baton("replay", path, "--steps").out.splitlines()[:-1]


def cells(lines):
    """Returns the words of each column, from its folded lines. Columns begin where the head
    says."""
    starts = [0, lines[0].index("what"), lines[0].index("sends"), lines[0].index("its")]
    ends = starts[1:] + [None]
    return [" ".join(line[start:end].strip() for line in lines).split() for start, end in zip(starts, ends)]


class Width(unittest.TestCase):
    def test_the_table_fits_the_terminal_and_no_word_is_lost(self):
        wide = folded(FIGURE, "300")
        self.assertGreater(max(map(len, wide)), 80)
        for columns in ("60", "80", "100"):
            lines = folded(FIGURE, columns)
            self.assertLessEqual(max(map(len, lines)), int(columns))
            self.assertEqual(cells(lines), cells(wide))
            self.assertEqual([line for line in lines if line != line.rstrip()], [])

    def test_without_a_terminal_it_has_80_columns(self):
        eighty = folded(FIGURE, "80")
        for columns in (None, "", "0", "-5", "many", "80x"):
            self.assertEqual(folded(FIGURE, columns), eighty, columns)

    def test_the_terminal_says_how_wide_it_is(self):
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        screen, terminal = pty.openpty()
        try:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 70, 0, 0))
            with subprocess.Popen([BATON, "replay", FIGURE, "--steps"], stdout=terminal, env=environment) as process:
                os.close(terminal)
                shown = b""
                try:
                    while more := os.read(screen, 65536):
                        shown += more
                except OSError:  # the other end is closed
                    pass
            self.assertEqual(process.returncode, 0)
        finally:
            os.close(screen)
        self.assertEqual(shown.decode().splitlines()[:-1], folded(FIGURE, "70"))

    def test_a_long_array_is_folded_at_commas_and_a_narrow_screen_keeps_all(self):
        with tempfile.NamedTemporaryFile("w", suffix=".scn") as file:
            file.write("algorithm suzuki-kasami\nnodes 20\nrequest 2\nrun\n")
            file.flush()
            lines = folded(file.name, "80")
            narrow = folded(file.name, "1")
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertIn("".join(f",{i}" for i in range(3, 21)), "".join(cells(lines)[2]))
        self.assertIn("*RN=[-1,0" + ",-1" * 18 + "]", "".join(cells(lines)[3]))
        self.assertEqual("".join(cells(narrow)[3]), "".join(cells(lines)[3]))


class Steps(unittest.TestCase):
    def setUp(self):
        patch = unittest.mock.patch.dict(os.environ, COLUMNS="300")
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_row_for_each_step_with_a_star_at_what_changed(self):
        self.assertEqual(table("algorithm neilsen\ntopology line\nnodes 2\nrequest 2\nrun\nrelease 2\nexpect 2 idle\n"), [
            '    1  request 2                              REQUEST(2,2) to 1  2: HOLDING=false *NEXT=0 FOLLOW=0 *figure="R"',
            '    2  deliver REQUEST(2,2) from 2 to 1       PRIVILEGE to 2     1: *HOLDING=false *NEXT=2 FOLLOW=0 *figure="N"',
            '    3  deliver PRIVILEGE from 1 to 2, enters                     2: HOLDING=false NEXT=0 FOLLOW=0 *figure="E"',
            '    4  release 2                                                 2: *HOLDING=true NEXT=0 FOLLOW=0 *figure="H"'])
        self.assertEqual(table("algorithm raymond\ntopology line\nnodes 2\nrequest 1\n"),
                         ["    1  request 1, enters         1: NEXT=1 *USING=true ASKED=false queue=[]"])

    def test_the_states_of_the_figure_are_those_that_the_scenario_expects(self):
        """For Neilsen's Figure 4: an expectation follows a step of its node, and names the state that the row shows."""
        path = os.path.join(ROOT, "test/scenarios/neilsen/figure-4.scn")
        run = baton("replay", path, "--steps")
        self.assertIn("its state in Figure 4", run.out.splitlines()[0])
        shown = [re.search(r'(\d): .*figure="(\w+)"', row).groups() for row in run.out.splitlines()[1:-1]]
        with open(path) as file:
            expected = re.findall(r'^expect (\d) figure="(\w+)"', file.read(), re.M)
        self.assertEqual({state for _, state in shown}, {"N", "R", "RF", "E", "EF", "H"})
        for node, state in expected[2:]:  # the first two expectations are about the start
            self.assertIn((node, state), shown)
            shown = shown[shown.index((node, state)):]

    def test_a_link_has_two_ends_and_both_show_their_variables(self):
        """After the change, each end of the link has another array of neighbours; the trace shows it too."""
        rows = table("algorithm helary\ntopology ring\nnodes 3\nunlink 2 1\nlink 1 2\n")
        self.assertRegex(rows[0], r"unlink 1 2 +1: .*\*req_array=\[\[3,\[\]\]\] .*; 2: .*\*req_array=\[\[3,\[\]\]\]")
        self.assertRegex(rows[1], r" link 1 2 +1: .*\*req_array=\[\[2,\[\]\],\[3,\[\]\]\].*; 2: .*\*req_array=\[\[1,\[\]\],\[3")
        with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as file:
            replay("algorithm helary\ntopology ring\nnodes 3\nunlink 1 2\nlink 1 2\n", "--trace", file.name)
            lines = [json.loads(line) for line in file]
        self.assertEqual([(line["ev"], line.get("node")) for line in lines[1:-1]],
                         [("unlink", 1), ("state", 1), ("state", 2), ("link", 1), ("state", 1), ("state", 2)])

    def test_bad_input_leaves_nothing(self):
        run = replay("algorithm neilsen\nnodes 2\nrequest 2\nrequest 2\n", "--steps")
        self.assertEqual((run.code, run.out), (2, ""))

    def test_faults_and_multicasts(self):
        rows = table("algorithm suzuki-kasami\nnodes 3\nrequest 2\nduplicate 2 1\ndrop 2 1\ncrash 3\ncut 1 2\nrun\n")
        self.assertIn("REQUEST(2,0) to 1,3", rows[0])
        self.assertEqual(rows[1:3], ["    2  duplicate REQUEST(2,0) from 2 to 1", "    3  lose REQUEST(2,0) from 2 to 1"])
        self.assertRegex(rows[3], "^    4  crash 3 ")
        self.assertRegex(rows[4], "^    5  cut 1 2 ")

    def test_the_trace_has_as_many_steps_and_the_last_variables(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace")
            run = baton("replay", FIGURE, "--steps --trace", path, "--diagram", os.path.join(folder, "a.svg"))
            with open(path) as file:
                lines = [json.loads(line) for line in file]
        rows = run.out.splitlines()[1:-1]
        steps = [line for line in lines if line["ev"] in ("request", "deliver", "exit")]
        self.assertEqual(len(rows), len(steps))
        last = [line for line in lines if line["ev"] == "state"][-1]
        shown = " ".join(f"{name}={json.dumps(value)}" for name, value in last["vars"].items())
        self.assertEqual(rows[-1].split(": ")[-1].replace("*", "").split(" figure=")[0], shown)

    def test_a_failed_expectation_leaves_the_table(self):
        run = replay("algorithm neilsen\nnodes 2\nrequest 2\nexpect 2 in\n", "--steps")
        self.assertEqual(run.code, 1)
        self.assertEqual(len(run.out.splitlines()), 2)

    def test_not_with_json(self):
        run = replay("algorithm neilsen\n", "--steps --json")
        self.assertEqual((run.code, run.out), (2, ""))


if __name__ == "__main__":
    unittest.main()
