"""The checker tries each fault at every moment, and its counterexamples can be replayed."""
import json
import os
import re
import tempfile
import unittest

from baton import ROOT, baton, report

FAULTS = ("--lose request", "--lose answer", "--lose token", "--duplicate request", "--duplicate answer",
          "--duplicate token", "--crash 1:holder", "--crash 1:bystander", "--crash 2", "--crash 1 --restart 1", "--cut")


def check(*words):
    return report("check", *words, expect=None)


def mutual_exclusion():
    return [a["name"] for a in report("algorithms")["algorithms"] if a["kind"] == "mutex"]


def outcome(result):
    if result["mutual_exclusion"] == "violated":
        return "two inside"
    return "waits" if "found" in (result["deadlock"], result["starvation"]) else "none"


class EveryAlgorithm(unittest.TestCase):
    def test_each_counterexample_replays_to_its_last_line(self):
        """Fails if the checker makes a step that the replay cannot make, or the other way round."""
        found = 0
        for name in mutual_exclusion():
            for fault in FAULTS:
                with self.subTest(name=name, fault=fault):
                    run = baton("check", name, "--nodes 3 --entries 1 --max-states 200000 --json", fault)
                    if run.code == 2:
                        self.assertRegex(run.err, f"{name} sends no such message")
                        continue
                    if run.code == 3: # 1,200,000 states without a counterexample
                        self.assertEqual((name, fault), ("lamport", "--duplicate answer"))
                        continue
                    scenario = json.loads(run.out)["counterexample"]
                    self.assertEqual(run.code, 1 if scenario else 0)
                    if scenario is None:
                        continue
                    found += 1
                    with tempfile.NamedTemporaryFile("w", suffix=".scn") as file:
                        file.write(scenario)
                        file.flush()
                        replay = baton("replay", file.name)
                        last = len(scenario.rstrip("\n").split("\n"))
                        self.assertEqual(replay.code, 1, scenario)
                        self.assertIn(f"{file.name}:{last}: ", replay.out + replay.err)
        self.assertGreater(found, 100)


class WhatIsKnown(unittest.TestCase):
    def expect(self, command, right):
        self.assertEqual(outcome(check(command)), right, command)

    def test_a_lost_message(self):
        self.expect("suzuki-kasami --nodes 3 --lose token", "waits")
        self.expect("suzuki-kasami --nodes 3 --lose request", "waits")
        self.expect("misra --nodes 3 --entries 2 --lose token", "none")  # the other token notices the loss

    def test_a_duplicated_message(self):
        """A duplicated REQUEST gives two REPLYs, and a ricart-agrawala node counts replies. The requests of suzuki-kasami have
        numbers."""
        self.expect("ricart-agrawala --nodes 3 --entries 2 --duplicate request", "two inside")
        self.expect("suzuki-kasami --nodes 3 --entries 2 --duplicate request", "none")
        self.expect("suzuki-kasami --nodes 3 --entries 2 --duplicate token", "two inside")

    def test_a_node_that_crashes(self):
        """For suzuki-kasami only the node with the token matters; for ricart-agrawala every node does."""
        self.expect("suzuki-kasami --nodes 3 --entries 2 --crash 1:bystander", "none")
        self.expect("suzuki-kasami --nodes 3 --crash 1:holder", "waits")
        self.expect("ricart-agrawala --nodes 3 --crash 1:bystander", "waits")

    def test_a_link_that_is_cut(self):
        self.expect("neilsen --topology line --nodes 2 --cut", "waits")
        scenario = check("ricart-agrawala --nodes 2 --cut")["counterexample"]
        self.assertIn("cut 1 2\n", scenario)

    def test_it_says_as_many_steps_as_it_lists(self):
        """The second end of a rewired link is not a step of the schedule."""
        for words in ("neilsen --nodes 3 --cut", "helary --topology line --nodes 3 --rewire 2 --param text=printed:rewire",
                      "suzuki-kasami --nodes 3 --lose token"):
            scenario = check(words)["counterexample"]
            said = re.search(r"; (\d+) steps?(?:, then (\d+) for ever)?$", scenario.splitlines()[0])
            verbs = ("request", "release", "deliver", "drop", "duplicate", "crash", "restart", "expire", "link", "unlink", "cut")
            listed = [line for line in scenario.splitlines() if line.startswith(verbs)]
            self.assertEqual(sum(int(count or 0) for count in said.groups()), len(listed), scenario)

    def test_elections(self):
        self.assertEqual(check("chang-roberts --nodes 3 --lose ELECTION")["termination"], "violated")

    def test_without_faults_nothing_is_different(self):
        self.assertEqual(check("suzuki-kasami --nodes 3")["states"], 726)
        self.assertNotIn("faults", check("suzuki-kasami --nodes 3"))

    def test_what_is_said(self):
        text = baton("check suzuki-kasami --nodes 3 --lose request --crash 1:holder --restart 1 --cut").out
        self.assertIn("; one REQUEST may be lost, one node that is inside or has the token may crash and begin again, "
                      "once, one link may be cut, at any moment\n", text)
        text = baton("check suzuki-kasami --nodes 3 --crash 3 --restart 2").out
        self.assertIn("; 3 nodes may crash and begin again, 2 times, at any moment\n", text)
        result = check("suzuki-kasami --nodes 3 --entries 2 --crash 1:bystander")
        self.assertEqual((result["invariants"], result["max_bypass"], result["max_messages"]), ({}, None, None))


class WhatIsSought(unittest.TestCase):
    def test_the_worst_is_found_even_if_something_else_is_nearer(self):
        """After two steps one node waits. It takes more steps until all wait, and that is the worst."""
        near, worst = (check("ricart-agrawala --nodes 3 --lose answer", find) for find in ("", "--find all-wait"))
        self.assertEqual((near["deadlock"], worst["deadlock"]), ("found", "found"))
        self.assertLess(near["depth"], worst["depth"])
        self.assertEqual(check("ricart-agrawala --nodes 3 --lose answer --find two-inside")["mutual_exclusion"], "holds")

    def test_what_was_not_sought_is_not_decided(self):
        result = check("suzuki-kasami --nodes 3 --lose token --find two-inside")
        self.assertEqual((result["complete"], result["deadlock"]), (True, None))

    def test_compare_tells_the_worst_with_its_command(self):
        rows = report("compare --faults --algorithms neilsen,suzuki-kasami,chang-roberts")["rows"]
        self.assertEqual([row["algorithm"] for row in rows], ["neilsen", "suzuki-kasami"])
        cells = rows[1]["faults"]
        self.assertEqual([cell and cell["outcome"] for cell in cells.values()],
                         ["one waits", None, "all wait", "all wait", "unnoticed", "all wait", "unnoticed"])
        for cell in filter(None, cells.values()):
            self.assertEqual(baton(cell["command"].removeprefix("baton ")).code, 0 if cell["outcome"] == "unnoticed" else 1)

    def test_each_command_of_the_page_shows_its_cell(self):
        """Runs the commands of doc/faults.md as a reader types them, except those that need more than about ten thousand
        states."""
        with open(os.path.join(ROOT, "doc/faults.md"), encoding="utf-8") as file:
            commands = [line.rstrip("\n").split("  # ") for line in file if line.startswith("baton ")]
        self.assertGreater(len(commands), 90)
        tried = 0
        for command, told in commands:
            with self.subTest(command=command):
                words = command.removeprefix("baton ")
                if words.startswith("sim "):
                    cost = report(words)["slow"]
                    right = "unnoticed" if cost["slower"] == 0 else "all slower" if cost["slower"] == cost["others"] else "one slower"
                    self.assertEqual(told.split(",")[0], right)
                    tried += 1
                    continue
                run = baton(words, "--json --max-states 60000")
                if run.code == 3:
                    continue
                tried += 1
                found = json.loads(run.out)
                waits = "found" in (found["deadlock"], found["starvation"])
                self.assertEqual(told, "two inside" if found["mutual_exclusion"] == "violated"
                                 else "unnoticed" if not waits else "all wait" if "--find all-wait" in words else "one waits")
                self.assertEqual(run.code, 0 if told == "unnoticed" else 1)
        self.assertGreater(tried, len(commands) * 3 / 4)

    def test_an_algorithm_for_any_network_is_shown_on_two(self):
        """Reads doc/faults.md; doc/test_faults.py checks that the page is what the checker finds."""
        with open(os.path.join(ROOT, "doc/faults.md"), encoding="utf-8") as file:
            lines = [[word.strip() for word in line.split("|")] for line in file if line.startswith("| ")]
        column = lines[0].index("dead bystander")
        rows = [line for line in lines if line[1] == "helary" and len(line) == len(lines[0])]
        self.assertEqual([(row[2], row[column]) for row in rows], [("complete", "unnoticed *"), ("line", "all wait *")])

    def test_what_was_never_sent_is_told(self):
        run = baton("check suzuki-kasami-b --nodes 2 --lose REPLY")
        self.assertEqual(run.code, 0)
        self.assertIn("no REPLY was ever sent, so none was lost", run.out)
        self.assertEqual(check("suzuki-kasami-b --nodes 2 --lose REPLY")["never_sent"], ["REPLY"])
        self.assertEqual(check("suzuki-kasami-b --nodes 2 --lose REQUEST")["never_sent"], [])

    def test_one_entry_is_no_comfort_about_a_second_copy(self):
        once, twice = (baton(f"check ricart-agrawala --nodes 2 --duplicate REQUEST --entries {k}") for k in (1, 2))
        self.assertEqual((once.code, twice.code), (0, 1))
        self.assertIn("use --entries 2", once.out)
        self.assertNotIn("use --entries 2", baton("check ricart-agrawala --nodes 2 --lose REQUEST").out)

    def test_compare_refuses_what_it_would_ignore(self):
        for words, text in (("--claims", "not both"), ("--csv", "not with --csv"), ("--load light", "--load"),
                            ("--nodes 6", "--nodes"), ("--algorithms bully", "which elections do not have"),
                            ("--algorithms misra:bounded=off", "takes no parameters")):
            run = baton("compare --faults", words)
            self.assertEqual((run.code, run.out), (2, ""), words)
            self.assertIn(text, run.err)


class BadInput(unittest.TestCase):
    def test_each_says_what_would_be_right(self):
        for command, words in (
                ("neilsen --lose TOKEN", "it sends REQUEST, PRIVILEGE, INITIALIZE; request, answer and token each mean all messages of that kind"),
                ("neilsen --lose request,", "sends no such message"),
                ("neilsen --crash 1:waiter", "holder, bystander or any is needed"),
                ("neilsen --crash 0", "--crash"),
                ("neilsen --restart 1", "give --crash K"),
                ("neilsen --find nobody", "any, two-inside or all-wait"),
                ("bully --find all-wait", "this is for mutual exclusion"),
                ("misra --lose token --lose-token", "--lose token loses one"),
                ("chang-roberts --cut", "this is for mutual exclusion"),
                ("chang-roberts --fifo --reduce --lose ELECTION", "--reduce cannot be combined with faults")):
            with self.subTest(command=command):
                run = baton("check", command)
                self.assertEqual((run.code, run.out), (2, ""))
                self.assertIn(words, run.err)
                self.assertEqual(run.err.count("\n"), 1)


class Scenarios(unittest.TestCase):
    def replay(self, *lines):
        path = os.path.join(tempfile.mkdtemp(), "a.scn")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        return baton("replay", path)

    def test_steps_that_cannot_happen(self):
        head = ("algorithm neilsen", "topology line", "nodes 2")
        for steps, words in ((("restart 1",), "node 1 is not dead"),
                             (("crash 1", "crash 1"), "node 1 is dead already"),
                             (("crash 2", "request 2"), "node 2 is dead: it cannot ask"),
                             (("duplicate 1 2",), "no message is in flight from 1 to 2")):
            with self.subTest(steps=steps):
                run = self.replay(*head, *steps)
                self.assertEqual(run.code, 2)
                self.assertIn(words, run.err)

    def test_a_copy_arrives_too(self):
        run = self.replay("algorithm suzuki-kasami", "nodes 2", "request 2", "duplicate 2 1 REQUEST #1",
                          "expect flight 2 1 REQUEST x2", "run", "expect 2 in", "release 2", "expect messages 2")
        self.assertEqual((run.code, run.err), (0, ""))

    def test_a_node_that_begins_again_has_forgotten(self):
        run = self.replay("algorithm suzuki-kasami", "nodes 2", "request 2", "run", "expect 2 in", "crash 2", "restart 2",
                          "expect 2 idle", "request 2", "run", "expect 2 waiting")
        self.assertEqual((run.code, run.err), (0, ""))


if __name__ == "__main__":
    unittest.main()
