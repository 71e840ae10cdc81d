"""No flag is ignored silently: it has an effect, or it is refused, or a message says that it has no effect."""
import os
import statistics
import subprocess
import tempfile
import unittest

from baton import BATON, baton, report, sim


class Flags(unittest.TestCase):
    def test_a_holder_where_there_is_no_token(self):
        for words in ("sim central --holder 2", "check central --nodes 3 --holder 2", "sim chang-roberts --holder 2",
                      "check lamport --nodes 2 --holder 1", "sim ricart-agrawala --holder 3 --json"):
            with self.subTest(words=words):
                result = baton(words)
                command, name = words.split()[:2]
                holder = words.split("--holder ")[1].split()[0]
                self.assertEqual(result.code, 0)
                self.assertEqual(result.err, f"baton {command}: --holder {holder} has no effect: {name} has no token\n")
        for words in ("sim neilsen --holder 2", "check misra --nodes 2 --holder 2", "sim central"):
            self.assertEqual(baton(words).err, "")

    def test_a_holder_in_a_scenario_where_there_is_no_token(self):
        for name, token in (("central", False), ("lamport", False), ("neilsen", True)):
            result = baton("replay -", stdin=f"algorithm {name}\nnodes 3\nholder 2\nrequest 1\nrun\nexpect 1 in\n")
            self.assertEqual(result.code, 0)
            self.assertEqual(result.err, "" if token else f"baton replay: -: holder 2 has no effect: {name} has no token\n")

    def test_a_variant_is_measured_by_its_own_claim(self):
        text = baton("sim dolev-klawe-rodeh --param variant=peterson2").out
        self.assertIn("(claimed: 1.44N log N+O(N))", text)
        self.assertIn("(claimed: at most 2N log N+N)", baton("sim dolev-klawe-rodeh").out)

    def test_elections_have_no_entries_and_no_load(self):
        for words in ("--load heavy", "--entries 100"):
            result = baton("compare --algorithms chang-roberts,bully --nodes 4", words)
            self.assertEqual((result.code, result.err), (0, f"baton compare: {words.split()[0]} has no effect: these are "
                                                            "elections, which have no entries\n"))
        self.assertEqual(baton("compare --algorithms chang-roberts,central --nodes 4 --seeds 1..2 --load heavy").err, "")

    def test_a_list_of_claims_runs_nothing(self):
        for words in ("--nodes 4", "--topology star", "--load light", "--entries 5", "--seeds 1..2", "--threads 1"):
            result = baton("compare --claims --algorithms central", words)
            self.assertEqual((result.code, result.out), (2, ""), words)
            self.assertIn(f"{words.split()[0]}: --claims runs nothing", result.err)

    def test_chance_has_a_say_in_poisson_load(self):
        """The error is the standard error of the runs' means. For a single run it is unknown."""
        words = "compare --algorithms neilsen,central --nodes 8 --load poisson:0.05 --entries 200"
        for row in report(words, "--seeds 1..10")["rows"]:
            messages = row["poisson"][0]["messages"]
            self.assertGreater(messages["error"], 0)
            means = [sim(f"{row['algorithm']} --nodes 8 --load poisson:0.05 --entries {320 + 16} --warmup 16 --seed {seed}")
                     ["messages"]["per_entry"] for seed in range(1, 11)]
            self.assertAlmostEqual(messages["mean"], statistics.mean(means), places=9)
            self.assertAlmostEqual(messages["error"], statistics.stdev(means) / 10 ** 0.5, places=9)
        for row in report(words, "--seeds 1..1")["rows"]:
            self.assertIsNone(row["poisson"][0]["messages"]["error"])
        row, = report("compare --algorithms neilsen --nodes 8 --load heavy --seeds 1..2")["rows"]
        self.assertEqual(row["heavy"]["messages"]["error"], 0)  # all nodes want to enter all the time, and all delays are equal


class Files(unittest.TestCase):
    def test_a_trace_does_not_destroy_the_scenario_that_it_tells(self):
        scenario = b"algorithm neilsen\nnodes 2\nrequest 2\nrun\nexpect 2 in\n"
        with tempfile.TemporaryDirectory() as folder:
            path, other = os.path.join(folder, "a.scn"), os.path.join(folder, "b.scn")
            with open(path, "wb") as file:
                file.write(scenario)
            os.link(path, other)
            os.symlink(path, os.path.join(folder, "c.scn"))
            for option in ("--trace", "--diagram"):
                for name in ("a.scn", "b.scn", "c.scn", "./a.scn"):
                    result = baton("replay", path, option, os.path.join(folder, name))
                    self.assertEqual((result.code, result.out), (2, ""))
                    self.assertIn(f"{option}", result.err)
                    self.assertIn("is the scenario itself", result.err)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), scenario)
            self.assertEqual(baton("replay", path, "--trace", os.path.join(folder, "new")).code, 0)
            result = baton("replay", path, "--trace", path + ".t", "--diagram", path + ".t")
            self.assertEqual(result.code, 2)
            self.assertIn("the same file", result.err)
            # The file does not exist yet, and it is named in two ways.
            os.symlink(folder, os.path.join(folder, "again"))
            result = baton("replay", path, "--trace", path + ".t", "--diagram", os.path.join(folder, "again", "a.scn.t"))
            self.assertEqual(result.code, 2)
            self.assertIn("the same file", result.err)
            self.assertFalse(os.path.exists(path + ".t"))
            with open(path, "rb") as file:
                done = subprocess.run([BATON, "replay", "-", "--trace", path], stdin=file, capture_output=True, check=False)
            self.assertEqual(done.returncode, 2)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), scenario)

    def test_no_output_destroys_the_file_of_the_topology(self):
        edges = b"1-2\n1-3\n"
        with tempfile.TemporaryDirectory() as folder:
            path, link = os.path.join(folder, "g.txt"), os.path.join(folder, "link")
            with open(path, "wb") as file:
                file.write(edges)
            os.symlink(path, link)
            scenario = f"algorithm neilsen\ntopology file:{path}\nrequest 2\nrun\nexpect 2 in\n"
            for words in ("sim neilsen --topology file:{} --trace {}", "sim neilsen --topology file:{} --diagram {}",
                          "check neilsen --reorder --topology file:{} --trace {}", "replay - --trace {1}",
                          "check suzuki-kasami --topology file:{} --lose-token --trace {}", "replay - --diagram {1}",
                          "compare --algorithms neilsen --topology file:{} --html {}"):
                for other in (path, link, f"{folder}/./g.txt"):
                    with self.subTest(words=words, other=other):
                        result = baton(words.format(path, other), stdin=scenario)
                        self.assertEqual((result.code, result.out), (2, ""))
                        self.assertIn(f"'{other}' is the topology itself: give another file\n", result.err)
                        with open(path, "rb") as file:
                            self.assertEqual(file.read(), edges)

    def test_a_dash_is_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for words in ("sim neilsen --trace -", "sim neilsen --diagram -", "replay - --trace -", "replay - --diagram -",
                          "check neilsen --trace -", "check suzuki-kasami --lose-token --trace -",
                          "compare --algorithms neilsen --html -"):
                done = subprocess.run([BATON, *words.split()], input=b"algorithm neilsen\nnodes 2\n", cwd=folder,
                                      capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stdout, os.listdir(folder)), (2, b"", []), words)
                self.assertIn(b"'-': a file is needed, because the report goes to standard output\n", done.stderr)

    def test_not_where_the_report_goes(self):
        with tempfile.NamedTemporaryFile() as file:
            done = subprocess.run([BATON, "sim", "neilsen", "--trace", file.name], stdout=file, stderr=subprocess.PIPE,
                                  check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"is where standard output goes", done.stderr)


if __name__ == "__main__":
    unittest.main()
