"""Tests the report of sim: which nodes got in, the means of a window, and runs of many seeds."""
import json
import statistics
import tempfile
import unittest
from decimal import Decimal

from baton import baton, report, sim

# Student's 97.5 % quantiles, from tables: degrees of freedom, then the quantile.
STUDENT = {1: 12.7062, 2: 4.3027, 4: 2.7764, 9: 2.2622, 19: 2.0930, 40: 2.0211, 120: 1.9799}


class WhoGetsIn(unittest.TestCase):
    def test_a_holder_without_effect_is_not_in_the_heading(self):
        self.assertNotIn("token", baton("sim", "central", "--holder", "2").out.splitlines()[0])
        self.assertIn("node 2 has the token", baton("sim", "neilsen", "--holder", "2").out.splitlines()[0])

    def test_entries_of_each_node(self):
        run = sim("neilsen --nodes 4 --entries 400")
        self.assertEqual(run["entries_per_node"], {"min": 100, "max": 100, "jain": 1})
        run = sim("neilsen --nodes 4 --entries 3")
        self.assertEqual((run["entries_per_node"]["min"], run["entries_per_node"]["max"]), (0, 1))
        self.assertEqual(run["entries_per_node"]["jain"], 0.75)  # 3^2 / (4 * 3)
        self.assertIn("100 to 100 a node", baton("sim neilsen --nodes 4 --entries 400").out)

    def test_who_still_waits_is_told_and_the_longest_wait_includes_them(self):
        run = sim("neilsen --nodes 5 --lose 1 --entries 100")
        self.assertEqual(run["waiting"], {"count": 4, "longest": 100})
        self.assertEqual((run["starved"], run["violations"]), ([], 0))
        self.assertEqual(run["response"]["max"], 100)
        self.assertLess(run["response"]["mean"], 1)  # counts finished entries only
        self.assertEqual(run["entries_per_node"], {"min": 0, "max": 100, "jain": 0.2})
        self.assertIn("waiting     nodes 2, 3, 4, 5 at the end; longest: node 2, since 0, for 100\n",
                      baton("sim neilsen --nodes 5 --lose 1 --entries 100").out)

    def test_a_run_too_short_to_tell_who_starves_says_so(self):
        """With ten nodes, 1000 entries of others are needed to tell, and there are 999."""
        words = "not decided: node 2 still waits, and others entered 999 times since it asked. It counts as starved after 1000 "
        result = baton("sim neilsen --lose 1 --nodes 10")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertIn("starvation  " + words, result.out)
        self.assertIn("waiting     nodes 2, 3, 4, 5, 6, 7, 8, 9, 10 at the end; longest: node 2, since 0, for 1000\n", result.out)
        result = baton("sim neilsen --lose 1 --nodes 10 --json")
        self.assertEqual(json.loads(result.out)["starved"], [])
        self.assertIn("baton sim: seed 1: starvation " + words, result.err)
        for option in ("", "--json"):
            result = baton("sim neilsen --lose 1 --nodes 10 --seeds 1..3", option)
            self.assertIn("starvation not decided in 3 runs: ", result.err if option else result.out)
        # Starvation is undecided only if some node waits that has never got in.
        self.assertIn("not decided", baton("sim neilsen --nodes 20 --entries 10").out)
        for words in ("neilsen", "neilsen --nodes 1000", "raymond --topology line --nodes 50 --entries 500",
                      "singhal --load poisson:0.1 --entries 5000", "neilsen --load light", "neilsen --lose 1 --entries 2000"):
            with self.subTest(words=words):
                self.assertNotIn("not decided", baton("sim", words).out)

    def test_nobody_waits_at_the_end_of_light_load(self):
        self.assertEqual(sim("neilsen --load light")["waiting"], {"count": 0, "longest": None})

    def test_whoever_waits_while_others_enter_a_hundred_times_each_starves(self):
        """Four of five nodes are blocked for ever, while the holder enters again and again."""
        run = sim("neilsen --lose 1", expect=1)
        self.assertEqual(run["starved"], [2, 3, 4, 5])
        self.assertGreater(run["violations"], 0)
        text = baton("sim neilsen --lose 1")
        self.assertEqual(text.code, 1)
        self.assertIn("VIOLATED", text.out)
        self.assertNotIn("no violation", text.out)
        self.assertIn("starved     nodes 2, 3, 4, 5\n", text.out)
        # Node 1 is inside before the others ask. They starve after 500 entries of others, and not before.
        self.assertEqual(sim("neilsen --lose 1 --entries 500")["starved"], [])
        self.assertEqual(sim("neilsen --lose 1 --entries 501", expect=1)["starved"], [2, 3, 4, 5])

    def test_a_hundred_entries_each_in_no_time_starve_nobody(self):
        """The holder enters again and again while the first request is still on its way."""
        run = sim("suzuki-kasami --cs constant:0 --entries 5000 --nodes 3", expect=None)
        self.assertEqual(run["starved"], [])
        run = sim("neilsen --lose 1 --cs constant:0.5 --entries 900")
        self.assertEqual((run["starved"], run["virtual_time"]), ([], 450))
        self.assertEqual(sim("neilsen --lose 1 --cs constant:0.5 --entries 1000", expect=1)["starved"], [2, 3, 4, 5])

    def test_the_text_that_starves_is_seen_to(self):
        run = sim("helary --topology complete --nodes 3 --param text=printed:min --entries 2000", expect=1)
        self.assertEqual(run["starved"], [3])

    def test_who_waits_when_nothing_can_happen_starves(self):
        run = sim("suzuki-kasami --nodes 3 --lose-token 3", expect=1)
        self.assertEqual(run["starved"], [1, 2, 3])
        self.assertEqual(run["waiting"]["count"], 3)
        run = sim("central --load light --lose 1", expect=1)
        self.assertEqual(len(run["starved"]), 1)

    def test_no_mended_algorithm_starves_anybody(self):
        for name in ("central lamport ricart-agrawala carvalho-roucairol maekawa suzuki-kasami suzuki-kasami-b "
                     "ricart-agrawala-token singhal raymond neilsen helary dijkstra-ring le-lann misra").split():
            for load in ("heavy", "light", "poisson:0.05"):
                with self.subTest(name=name, load=load):
                    self.assertEqual(sim(name, "--entries 2000 --delay exp:1 --load", load)["starved"], [])


def traced(words):
    with tempfile.NamedTemporaryFile("r") as file:
        baton("sim", words, "--trace", file.name)
        return [json.loads(line) for line in file]


class Askers(unittest.TestCase):
    def test_only_they_ask_whatever_the_load(self):
        for load in ("heavy", "light", "poisson:0.5", "wishes:0.5"):
            for algorithm in ("neilsen", "misra", "ricart-agrawala"):
                events = traced(f"{algorithm} --nodes 5 --askers 5,2 --entries 50 --load {load}")
                self.assertEqual({event["node"] for event in events if event["ev"] == "request"}, {2, 5}, (algorithm, load))

    def test_what_is_said_of_each_node_is_said_of_those_that_ask(self):
        run = sim("ricart-agrawala --nodes 5 --askers 2,4 --entries 100")
        self.assertEqual(run["entries_per_node"], {"min": 50, "max": 50, "jain": 1})
        self.assertIn("50 to 50 a node", baton("sim ricart-agrawala --nodes 5 --askers 2,4 --entries 100").out)

    def test_all_of_them_are_as_none_given(self):
        words = "neilsen --nodes 4 --entries 200 --load light --delay exp:1"
        self.assertEqual(traced(words), traced(words + " --askers 1,2,3,4"))

    def test_bad_input(self):
        for words, text in (("--askers 1,1", "node 1 occurs twice"), ("--askers 9", "there is no node 9, only 1 to 5"),
                            ("--askers 0", "a whole number from 1"), ("--slow 2", "such as 2:10"),
                            ("--slow 9:2", "there is no node 9, only 1 to 5"), ("--slow 1:0", "a whole number from 1 to 1000000")):
            run = baton("sim neilsen", words)
            self.assertEqual((run.code, run.out), (2, ""), words)
            self.assertIn(text, run.err)
        self.assertIn("bully is an election", baton("sim bully --askers 1").err)


class Slow(unittest.TestCase):
    def test_what_it_sends_takes_so_many_times_as_long(self):
        for delay, algorithm in (("constant:2", "ricart-agrawala"), ("constant:2", "lamport")):
            events = traced(f"{algorithm} --nodes 4 --entries 40 --slow 3:7 --delay {delay}")
            sent = {event["msg"]: event for event in events if event["ev"] == "send"}
            taken = {(event["t"] - sent[event["msg"]]["t"], event["from"] == 3) for event in events if event["ev"] == "deliver"}
            self.assertEqual(taken, {(2, False), (14, True)})

    def test_order_is_kept(self):
        events = traced("lamport --nodes 4 --entries 100 --slow 3:7 --delay exp:1")
        arrived = {}
        for event in events:
            if event["ev"] == "deliver":
                channel = (event["from"], event["to"])
                self.assertLess(arrived.get(channel, 0), event["msg"])
                arrived[channel] = event["msg"]

    def test_what_it_costs_the_others(self):
        """With a slow node, a question and its answer take 1 + 10 instead of 2. A node that need not be asked delays nobody."""
        for words, slower, response in (
                ("central --slow 1:10 --askers 2,3,4", 3, (2, 11)), ("ricart-agrawala --slow 2:10 --askers 1,3,4", 3, (2, 11)),
                ("raymond --slow 2:10 --askers 1,3,4", 0, None), ("suzuki-kasami --slow 2:10 --askers 1,3,4", 0, None)):
            cost = sim(f"{words} --nodes 4 --load light")["slow"]
            self.assertEqual((cost["factor"], cost["others"], cost["slower"]), (10, 3, slower), words)
            if response is not None:
                self.assertEqual((cost["response"]["without"], cost["response"]["with"]), response, words)
            else:
                self.assertEqual(cost["response"]["without"], cost["response"]["with"])
            text = baton(f"sim {words} --nodes 4 --load light").out
            self.assertIn("3 of 3 others wait longer, 11 on average instead of 2\n" if response else "nobody else waits longer\n", text)

    def test_the_run_is_the_one_that_was_asked_for(self):
        run = sim("central --nodes 3 --slow 1:10 --askers 2,3")
        self.assertEqual((run["sync_delay"]["mean"], run["response"]["mean"]), (11, 23))
        self.assertEqual(run["slow"]["sync_delay"], {"without": 2, "with": 11})
        self.assertNotIn("slow", sim("central --nodes 3"))

    def test_a_bound_that_it_exceeds_makes_two_leaders(self):
        self.assertEqual(sim("bully --slow 5:10", expect=1)["agreed"], False)
        self.assertEqual(sim("bully --slow 5:10 --bound 10")["agreed"], True)


class WarmUp(unittest.TestCase):
    def test_defaults(self):
        for words, warmup in (("neilsen", 5), ("neilsen --nodes 1000", 500), ("neilsen --entries 7", 3),
                              ("neilsen --load light", 0), ("neilsen --load poisson:0.1 --nodes 20", 20),
                              ("neilsen --entries 1", 0), ("neilsen --warmup 100", 100)):
            with self.subTest(words=words):
                run = sim(words)
                self.assertEqual(run["warmup"], warmup)

    def test_means_are_of_the_entries_behind_it(self):
        run = sim("neilsen --nodes 1000")
        self.assertLessEqual(run["messages"]["per_entry"], 3)
        self.assertEqual(run["entries"], 1000)
        self.assertEqual(run["messages"]["per_entry"], run["messages"]["total"] / 500)
        self.assertEqual(sum(run["messages"]["by_type"].values()), run["messages"]["total"])
        self.assertEqual(run["bytes"]["per_entry"], run["bytes"]["total"] / 500)
        self.assertIn("500 of them left out of the means", baton("sim neilsen --nodes 1000").out)

    def test_a_window_is_what_lies_between_two_exits(self):
        """The shorter run is the beginning of the longer one, so a window is the difference between two runs."""
        def run(entries, warmup):
            return sim(f"ricart-agrawala --delay exp:1 --seed 3 --entries {entries} --warmup {warmup}")
        whole, first = run(300, 0), run(100, 0)
        window = run(300, 100)
        self.assertEqual(window["messages"]["total"], whole["messages"]["total"] - first["messages"]["total"])
        self.assertEqual(window["bytes"]["total"], whole["bytes"]["total"] - first["bytes"]["total"])
        for name in ("bypass", "entries_per_node", "virtual_time", "events", "waiting", "entries"):
            self.assertEqual(window[name], whole[name], name)
        self.assertEqual(window["sync_delay"]["max"], whole["sync_delay"]["max"])
        self.assertEqual(window["response"]["max"], whole["response"]["max"])

    def test_a_run_that_ends_before_it_is_over_measures_nothing(self):
        run = sim("suzuki-kasami --lose-token 3", expect=1)
        self.assertEqual((run["entries"], run["warmup"]), (3, 5))
        messages, each = run["messages"], run["bytes"]
        for value in (messages["total"], messages["per_entry"], each["total"], each["per_entry"],
                      *messages["by_type"].values(), run["sync_delay"]["mean"],
                      *(run["response"][name] for name in ("mean", "p50", "p99"))):
            self.assertIsNone(value)
        # The maximum over the whole run is known.
        self.assertEqual((run["response"]["max"], run["sync_delay"]["max"], each["largest"]), (6, 1, 10))
        text = baton("sim suzuki-kasami --lose-token 3").out
        self.assertIn("measured    nothing: the run ended in its warm-up of 5 entries\n", text)
        self.assertNotIn("left out", text)
        self.assertNotIn("an entry", text)

    def test_as_many_as_there_are_entries_are_too_many(self):
        for words in ("--warmup 1000", "--entries 5 --warmup 5", "--warmup x", "--warmup -1"):
            result = baton("sim neilsen", words)
            self.assertEqual((result.code, result.out), (2, ""), words)
            self.assertRegex(result.err, r"^baton sim: --warmup")
        self.assertEqual(baton("sim chang-roberts --warmup 3").code, 2)


class Conditions(unittest.TestCase):
    def test_the_heading_names_what_was_given(self):
        for words, there in (("neilsen --param init=wave --holder 3 --delay exp:2", "; init=wave; delay exp:2; node 3 has the token at the start\n"),
                             ("neilsen --fifo --cs uniform:0,2 --lose-token 900", "; channels keep order; cs uniform:0,2; lose-token 900\n"),
                             ("neilsen --delay exp:1 --reorder", "; delay exp:1; messages may overtake each other\n"),
                             ("bully --crash 4 --initiators 1,2 --bound 2", "; dead: 4; initiators 1,2; bound 2\n"),
                             ("neilsen", ", seed 1\n")):
            self.assertTrue(baton("sim", words).out.splitlines(keepends=True)[0].endswith(there), words)
        self.assertIn("\n  with init=wave; lose 0\n", baton("sim neilsen --param init=wave --lose 0 --seeds 1..3").out)

    def test_what_has_no_effect_is_told(self):
        result = baton("sim neilsen --lose-token 7,5000 --entries 100")
        self.assertRegex(result.err, r"^baton sim: seed 1: --lose-token 5000 has no effect: the token made \d+ hops\n$")
        self.assertEqual(baton("sim misra --lose-token 7").err, "")
        result = baton("sim lamport --reorder")
        self.assertEqual((result.code, result.err), (0, "baton sim: --reorder has no effect: with constant delays no message "
                                                        "overtakes another; with --delay exp:1 they do\n"))
        self.assertIn("expect violations", baton("sim lamport --reorder --delay exp:1").err)


class Memory(unittest.TestCase):
    def test_what_can_be_foreseen_is_refused_before_it_starts(self):
        # Each of 20,000 nodes sends a request to 19,999 others, and each state has 20,000 numbers.
        for words in ("lamport --nodes 20000 --max-memory 8G", "lamport --nodes 2000 --load light --max-memory 10M",
                      "bully --nodes 3000 --arrangement increasing --max-memory 20M"):
            with self.subTest(words=words):
                result = baton("sim", words)
                self.assertEqual((result.code, result.out), (2, ""))
                self.assertRegex(result.err, r"^baton sim: \d+ nodes of \S+ need at least [\d.]+ [MG]B of memory for their "
                                             r"states and the first messages, and --max-memory is [\d.]+ [MG]B: .*\n$")

    def test_what_cannot_ends_the_run(self):
        result = baton("sim lamport --nodes 300 --load poisson:100 --max-memory 3M")
        self.assertEqual((result.code, result.out), (3, ""))
        self.assertRegex(result.err, r"^baton sim: seed 1: --max-memory 3 MB was reached after \d+ entr(y|ies), by messages "
                                     r"in flight: .*\n$")

    def test_what_fits_is_run(self):
        self.assertEqual(baton("sim lamport --nodes 300 --load poisson:100 --entries 50 --max-memory 100M").code, 0)
        for words in ("--max-memory x", "--max-memory 0"):
            self.assertEqual(baton("sim neilsen", words).code, 2)


class Wishes(unittest.TestCase):
    """Tests --load wishes:RATE: the times of a node's wishes depend only on the seed and the node."""

    def requests(self, *words):
        """Returns, for each node, the times of its requests and of its exits."""
        requests, exits = {}, {}
        with tempfile.NamedTemporaryFile() as file:
            result = baton("sim", *words, "--trace", file.name)
            self.assertEqual(result.code, 0, result)
            for line in file.read().splitlines():
                event = json.loads(line, parse_float=Decimal)
                times = {"request": requests, "exit": exits}.get(event["ev"], {})
                times.setdefault(event.get("node"), []).append(Decimal(event.get("t", 0)))
        return requests, exits

    def wishes(self, *words):
        """Where nothing takes time, every node asks at the moment of its wish."""
        return self.requests("central --delay constant:0 --cs constant:0 --entries 400 --load wishes:0.2", *words)[0]

    def test_an_algorithm_asks_when_it_wished_or_when_it_left(self):
        wishes = self.wishes()
        for name in ("neilsen", "lamport", "maekawa", "raymond --nodes 5 --delay exp:2 --topology line", "misra"):
            with self.subTest(name=name):
                requests, exits = self.requests(name, "--entries 150 --load wishes:0.2")
                kept = 0
                for node, times in requests.items():
                    for turn, time in enumerate(times):
                        left = exits[node][turn - 1] if turn > 0 else 0
                        kept += left > wishes[node][turn]
                        self.assertEqual(time, max(wishes[node][turn], left), (node, turn))
                self.assertGreater(kept, 0)

    def test_seed_and_node_fix_the_times(self):
        whole, few, other = self.wishes(), self.wishes("--nodes 3"), self.wishes("--seed 2")
        for node in (1, 2, 3):
            common = min(len(whole[node]), len(few[node]))
            self.assertGreater(common, 20)
            self.assertEqual(whole[node][:common], few[node][:common])
        self.assertEqual(len({tuple(times[:20]) for run in (whole, other) for times in run.values()}), 10)

    def test_the_rate_is_the_rate(self):
        """Five nodes with a rate of 0.2 each make 400 wishes: one for each unit of time."""
        last = max(times[-1] for times in self.wishes().values())
        self.assertGreater(last, 340)
        self.assertLess(last, 460)

    def test_it_warms_up_as_poisson_does(self):
        run = sim("neilsen --load wishes:0.1 --nodes 20")
        self.assertEqual((run["warmup"], run["load"], run["violations"]), (20, "wishes:0.1", 0))

    def test_all_wait_for_ever_however_much_they_wish(self):
        run = sim("suzuki-kasami --load wishes:0.1 --lose-token 1", expect=1)
        self.assertEqual(run["starved"], [1, 2, 3, 4, 5])


class Seeds(unittest.TestCase):
    def test_a_summary_has_means_and_students_intervals(self):
        for last in (2, 3, 5, 10, 20, 41, 121):
            report = sim(f"neilsen --delay exp:1 --entries 50 --seeds 1..{last}")
            values = [run["messages"]["per_entry"] for run in report["runs"]]
            summary = report["summary"]["messages.per_entry"]
            self.assertEqual(list(summary), ["mean", "ci95"])
            self.assertAlmostEqual(summary["mean"], statistics.mean(values), places=9)
            half = STUDENT[last - 1] * statistics.stdev(values) / last ** 0.5
            self.assertAlmostEqual(summary["ci95"][1] - summary["mean"], half, delta=half / 1e4)
            self.assertAlmostEqual(summary["mean"] - summary["ci95"][0], half, delta=half / 1e4)

    def test_every_figure_has_its_summary(self):
        summary = sim("neilsen --seeds 1..3")["summary"]
        for field in ("messages.total", "messages.per_entry", "messages.by_type.REQUEST", "bytes.per_entry",
                      "sync_delay.mean", "sync_delay.max", "response.mean", "response.p99", "response.max", "bypass.max",
                      "entries_per_node.jain", "waiting.count", "virtual_time", "events"):
            self.assertIn(field, summary)
        for field in ("seed", "seconds", "events_per_second", "nodes"):
            self.assertNotIn(field, summary)
        self.assertIn("messages.election", sim("chang-roberts --arrangement random --seeds 1..3")["summary"])

    def test_one_run_has_no_interval(self):
        self.assertEqual(sim("neilsen --seeds 4..4")["summary"]["messages.per_entry"]["ci95"], None)

    def test_people_get_a_table(self):
        text = baton("sim neilsen --delay exp:1 --seeds 1..20").out
        self.assertRegex(text, r"^neilsen, star of 5, heavy load, seeds 1\.\.20: 20 runs, none violated\n")
        self.assertRegex(text, r"(?m)^ +mean +95 % interval$")
        self.assertRegex(text, r"(?m)^  messages an entry +[\d.]+ +[\d.]+ to [\d.]+$")
        self.assertRegex(text, r"(?m)^  response, longest +[\d.]+ +[\d.]+ to [\d.]+$")
        self.assertIn("1 run, none violated", baton("sim neilsen --seeds 3..3").out)

    def test_a_figure_that_not_every_run_has_says_of_how_many_it_is(self):
        """Some of these runs end during their warm-up."""
        words = "sim suzuki-kasami --lose 0.1 --seeds 1..20"
        runs = report(words, expect=1)["runs"]
        count = sum(run["messages"]["per_entry"] is not None for run in runs)
        self.assertTrue(0 < count < 20, count)
        self.assertRegex(baton(words).out, rf"(?m)^  messages an entry +[\d.]+ +[\d.]+ to [\d.]+   \(of {count} runs?\)$")

    def test_runs_that_are_violated_are_named(self):
        result = baton("sim lamport --nodes 3 --entries 100 --delay exp:1 --reorder --seeds 1..50")
        self.assertEqual(result.code, 1)
        self.assertRegex(result.out, r"(?m)^  seed \d+: VIOLATED: ")
        self.assertRegex(result.out, r"50 runs, \d+ violated\n")

    def test_more_than_memory_has_room_for_are_refused(self):
        for words in ("0..9223372036854775807", "1..100001"):
            result = baton("sim neilsen --entries 1 --seeds", words)
            self.assertEqual((result.code, result.out), (2, ""))
            self.assertIn("at most 100000 seeds", result.err)

    def test_not_beside_a_seed(self):
        for words in ("--seed 3 --seeds 1..3", "--seeds 1..3 --seed 3"):
            result = baton("sim neilsen", words)
            self.assertEqual((result.code, result.out), (2, ""))
            self.assertIn("--seed or --seeds, not both", result.err)


if __name__ == "__main__":
    unittest.main()
