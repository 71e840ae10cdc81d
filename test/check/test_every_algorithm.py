"""Runs every algorithm briefly in every driver of the laboratory, and each form of a comparison. Other tests check the results.
This one is for the sanitizers, under which the others would take too long.
"""
import json
import os
import tempfile
import unittest

from baton import baton, check, sim

ALGORITHMS = json.loads(baton("algorithms --json").out)["algorithms"]


class EveryAlgorithm(unittest.TestCase):
    def test_all_are_here(self):
        self.assertEqual(len(ALGORITHMS), 22)

    def test_sim_under_each_load(self):
        for row in ALGORITHMS:
            loads = ["heavy", "light", "poisson:0.1"] if row["kind"] == "mutex" else []
            for load in loads:
                with self.subTest(row["name"], load=load):
                    run = sim(row["name"], f"--entries 60 --nodes 6 --load {load} --delay exp:1 --seed 5")
                    self.assertEqual((run["entries"], run["violations"]), (60, 0))

    def test_sim_of_elections(self):
        for row in ALGORITHMS:
            if row["kind"] == "election":
                with self.subTest(row["name"]):
                    run = sim(row["name"], "--nodes 6 --arrangement random --initiators random:3 --seed 5")
                    self.assertEqual((run["agreed"], run["violations"]), (True, 0))

    def test_check_of_the_smallest(self):
        for row in ALGORITHMS:
            with self.subTest(row["name"]):
                report = check(row["name"], "--nodes 2")
                self.assertTrue(report["complete"])

    def test_as_printed(self):
        """Runs the errors of the documents, which are other branches of the same files."""
        for row in ALGORITHMS:
            with self.subTest(row["name"]):
                self.assertIn(baton("check", row["name"], "--nodes 3 --param text=printed --max-states 20000 --timeout 60").code,
                              (0, 1, 2, 3))


class Comparing(unittest.TestCase):
    def test_each_form_of_a_comparison(self):
        with tempfile.TemporaryDirectory() as folder:
            for words in ("", "--json", "--csv --load heavy", "--topology ring", f"--html {folder}/page.html"):
                with self.subTest(words):
                    done = baton("compare --nodes 2,4 --entries 20 --seeds 1..2", words)
                    self.assertEqual((done.code, done.err), (0, ""))
            self.assertGreater(os.path.getsize(f"{folder}/page.html"), 10000)

    def test_faults(self):
        self.assertEqual(baton("compare --faults --algorithms central,neilsen --nodes 2").code, 0)

    def test_choose(self):
        for words in ("--nodes 5", "--nodes 4 --load light --json", "--topology ring --nodes 4 --load heavy"):
            with self.subTest(words):
                self.assertEqual(baton("choose", words).code, 0)


if __name__ == "__main__":
    unittest.main()
