"""Tests the fields, defaults and exit codes that scripts rely on."""
import unittest

from baton import baton, check, report, sim


class Contract(unittest.TestCase):
    def test_fields_of_algorithms(self):
        for row in report("algorithms")["algorithms"]:
            self.assertEqual(list(row), ["name", "kind", "title", "year", "topology", "shape", "fifo", "token",
                                         "messages", "sync_delay"])
            self.assertIn(row["topology"], ("complete", "star", "ring", "tree", "connected"))
        rows = {row["name"]: row for row in report("algorithms")["algorithms"]}
        self.assertEqual((rows["neilsen"]["topology"], rows["neilsen"]["shape"]), ("complete", "tree"))
        self.assertEqual((rows["suzuki-kasami"]["messages"], rows["suzuki-kasami"]["sync_delay"]), ("0 or N", "1"))
        self.assertIsNone(rows["central"]["shape"])

    def test_every_algorithm_has_its_page(self):
        for row in report("algorithms")["algorithms"]:
            page = baton("algorithms", row["name"])
            self.assertEqual((page.code, page.err), (0, ""))
            for heading in ("Idea", "Variables", "Messages", "Assumptions", "Bounds", "Corrections to the text", "Parameters"):
                self.assertIn(f"## {heading}", page.out, row["name"])

    def test_where_the_rules_come_from_is_told(self):
        """Five algorithms follow their own paper. The others follow another document's account, or only an idea."""
        table = baton("algorithms").out
        self.assertLessEqual(max(map(len, table.splitlines())), 100)
        rows = {line.split()[0]: line for line in table.splitlines() if line}
        own = [name for name, line in rows.items() if line.endswith(" its paper")]
        self.assertEqual(sorted(own), ["dijkstra-ring", "helary", "neilsen", "suzuki-kasami", "suzuki-kasami-b"])
        made = [name for name, line in rows.items() if line.endswith(" reconstructed")]
        self.assertEqual(sorted(made), ["bully", "central", "franklin", "korach-moran-zaks", "le-lann-election", "singhal"])
        for name in ("lamport", "raymond", "maekawa"):
            self.assertRegex(rows[name], r" Neilsen 2\.\d$")
        for name in ("misra", "chang-roberts", "dolev-klawe-rodeh"):
            self.assertRegex(rows[name], r" Raynal [45]\.\d$")
        for name in (*own, *made):
            self.assertIn("## Where the rules come from\n", baton("algorithms", name).out)
        self.assertIn("another document's description, not the paper: Raynal 5.2.", baton("algorithms chang-roberts").out)

    def test_fields_of_sim(self):
        run = sim("neilsen")
        self.assertEqual(list(run), [
            "algorithm", "topology", "nodes", "edges", "holder", "seed", "load", "fifo", "entries", "warmup",
            "entries_per_node", "waiting", "starved", "messages", "bytes", "sync_delay", "response", "bypass", "state_bytes", "lost", "regenerated", "virtual_time", "events",
            "seconds", "events_per_second", "violations"])
        self.assertEqual(list(run["entries_per_node"]), ["min", "max", "jain"])
        self.assertEqual(list(run["waiting"]), ["count", "longest"])
        self.assertEqual(list(run["messages"]), ["total", "per_entry", "min", "max", "idle", "init", "by_type"])
        self.assertEqual((run["topology"], run["nodes"], run["edges"], run["holder"], run["seed"], run["load"],
                          run["fifo"], run["entries"]), ("star", 5, 4, 1, 1, "heavy", False, 1000))
        self.assertEqual(sum(run["messages"]["by_type"].values()), run["messages"]["total"])
        self.assertIsNone(run["messages"]["min"])
        self.assertIsNone(run["messages"]["idle"])
        self.assertIsNone(run["regenerated"])
        self.assertEqual(list(run["response"]), ["mean", "p50", "p99", "max"])

    def test_what_does_not_apply_is_null(self):
        run = sim("neilsen --load light")
        self.assertIsNone(run["sync_delay"])
        self.assertEqual(run["messages"]["min"], 0)
        self.assertIsNone(sim("central")["holder"])

    def test_seeds_give_runs(self):
        runs = sim("suzuki-kasami --seeds 3..5 --delay exp:1")["runs"]
        self.assertEqual([run["seed"] for run in runs], [3, 4, 5])
        self.assertEqual(len({run["virtual_time"] for run in runs}), 3)

    def test_the_same_seed_gives_the_same_report(self):
        def shown(words):
            run = sim(words)
            del run["seconds"], run["events_per_second"]
            return run
        words = "neilsen --topology tree:3 --nodes 20 --delay exp:2 --cs uniform:0,1 --load poisson:0.1 --seed 9"
        self.assertEqual(shown(words), shown(words))

    def test_virtual_time_is_exact(self):
        self.assertEqual(sim("neilsen --nodes 1 --entries 3 --cs constant:0.000001")["virtual_time"], 0.000003)
        self.assertEqual(sim("neilsen --nodes 1 --entries 3 --cs constant:0.5")["virtual_time"], 1.5)

    def test_a_lost_token_leaves_everybody_waiting(self):
        run = sim("suzuki-kasami --lose-token 3", expect=1)
        self.assertEqual((run["lost"], run["violations"], run["entries"]), (1, 1, 3))
        run = sim("central --load light --lose 1", expect=1)
        self.assertEqual((run["messages"]["total"], run["lost"]), (1, 1))

    def test_fields_of_check(self):
        result = check("suzuki-kasami --nodes 2")
        self.assertEqual(list(result)[:19], [
            "algorithm", "topology", "nodes", "entries", "fifo", "states", "transitions", "depth", "complete",
            "mutual_exclusion", "deadlock", "starvation", "invariants", "max_bypass", "max_messages", "min_messages",
            "seconds", "states_per_second", "bytes_per_state"])
        self.assertEqual((result["entries"], result["mutual_exclusion"], result["deadlock"], result["starvation"]),
                         (1, "holds", "none", None))
        self.assertEqual(result["invariants"], {"one_token": "holds", "queue_has_each_once": "holds"})
        self.assertEqual(check("neilsen --nodes 2 --entries unlimited")["entries"], "unlimited")
        self.assertEqual(check("neilsen --nodes 2 --entries unlimited")["starvation"], "none")

    def test_topologies(self):
        for topology, nodes, edges in (("edges:1-2,1-3,2-3", 3, 3), ("complete --nodes 4", 4, 6)):
            run = sim(f"suzuki-kasami --topology {topology}")
            self.assertEqual((run["nodes"], run["edges"]), (nodes, edges))
        for topology, nodes in (("line", 5), ("tree:2 --nodes 7", 7), ("radiating:3 --nodes 10", 10), ("grid:1x4", 4),
                                ("edges:1-2,2-3,3-4,2-5,4-6", 6), ("complete --nodes 2", 2), ("ring --nodes 2", 2)):
            run = sim(f"neilsen --topology {topology}")
            self.assertEqual((run["nodes"], run["edges"]), (nodes, nodes - 1))

    def test_one_node_needs_no_message(self):
        for algorithm in ("neilsen", "suzuki-kasami", "central"):
            run = sim(f"{algorithm} --nodes 1")
            self.assertEqual((run["messages"]["total"], run["entries"]), (0, 1000))

    def test_help_fits_80_columns_and_has_an_example(self):
        for words in ("", "help", "help sim", "help check", "help replay", "help algorithms", "sim --help",
                      "check --help", "replay --help", "algorithms --help", "help compare", "compare --help",
                      "help choose", "choose --help"):
            result = baton(words)
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertIn("example", result.out)
            self.assertLessEqual(max(map(len, result.out.splitlines())), 80)
        self.assertRegex(baton("--version").out, r"^baton \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
