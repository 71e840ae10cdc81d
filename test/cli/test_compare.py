"""Tests baton compare: its table, its JSON and its CSV, which depend neither on chance nor on the number of threads."""
import csv
import functools
import io
import json
import os
import pty
import subprocess
import unittest

from baton import BATON, baton, report, sim

SMALL = "--entries 50 --seeds 1..3"


def compare(*words, expect=0):
    return report("compare", *words, expect=expect)


def at(row, path):
    """Returns the figure of a row at a path such as "light.messages.max", which a claim names."""
    return functools.reduce(lambda value, name: None if value is None else value[name], path.split("."), row)


class Table(unittest.TestCase):
    def test_fits_100_columns(self):
        for words in ("--nodes 2,4,8,16,32,64 --entries 5 --seeds 1..1", "--nodes 1,2,3", "--load light", "--load heavy", "--load poisson:0.05",
                      "--nodes 100,160 --algorithms lamport,carvalho-roucairol,suzuki-kasami-b,maekawa,chang-roberts --seeds 1..1",
                      "--topology ring", "--topology edges:1-2,2-3,3-4,4-5,5-1", "--topology random:2.123456 --nodes 12",
                      "--algorithms central,bully,dolev-klawe-rodeh --nodes 320"):
            result = baton("compare", SMALL, words)
            self.assertEqual((result.code, result.err), (0, ""), words)
            self.assertLessEqual(max(map(len, result.out.splitlines())), 100, words)
            self.assertNotIn("\033", result.out)

    def test_groups_by_size_and_has_elections_apart(self):
        lines = baton("compare --nodes 16,4 --algorithms neilsen,franklin,central", SMALL).out.splitlines()
        firsts = [line.split(" ")[0] for line in lines if line]
        self.assertEqual(firsts[:12], ["", "mutual", "4", "neilsen", "central", "16", "neilsen", "central",
                                       "", "election", "4", "franklin"])

    def test_says_what_was_left_out_and_why(self):
        result = baton("compare --topology ring --nodes 3,5", SMALL)
        self.assertEqual(result.code, 0)
        text = " ".join(result.out.split())
        self.assertIn("left out at 3, 5 nodes, because topology 'ring' is not a tree graph: raymond, neilsen", text)
        self.assertIn("left out at 5 nodes, because topology 'ring' is not a complete graph: lamport, ricart-agrawala, ", text)
        self.assertIn("left out at 5 nodes, because node 1 is not linked to all others in topology 'ring': central", text)
        self.assertEqual(text.count("left out"), 3)
        text = " ".join(baton("compare --topology grid:2x3 --nodes 5,6 --algorithms helary,raymond", SMALL).out.split())
        self.assertIn("left out because topology 'grid:2x3' has 6 nodes, not 5: helary, raymond", text)
        self.assertIn("left out at 6 nodes, because topology 'grid:2x3' is not a tree graph: raymond", text)
        left = {(row["algorithm"], row["nodes"]) for row in compare("--topology ring --nodes 3,5", SMALL)["left_out"]}
        self.assertIn(("lamport", 5), left)
        self.assertNotIn(("lamport", 3), left)  # a ring of three nodes is complete

    def test_a_topology_is_not_cut(self):
        for topology in ("radiating:3 --nodes 7", "edges:1-2,2-3,3-4,4-5,5-6,6-7,7-8,8-1"):
            lines = baton("compare --algorithms helary --topology", topology, SMALL).out.splitlines()
            self.assertEqual(lines[0], f"topology of all: {topology.split()[0]}")
            self.assertNotIn("…", "".join(lines))

    def test_says_who_claims_it(self):
        """Each claim about messages names its document. Claims that follow from the rules are counted separately."""
        text = baton("compare --nodes 4 --algorithms maekawa,lamport,dijkstra-ring,dolev-klawe-rodeh", SMALL).out
        rows = {line.split()[0]: line for line in text.splitlines()[3:] if line.startswith(("ma", "la", "di", "do", "  var"))}
        self.assertIn(" 3√N–7√N ", rows["maekawa"])
        self.assertIn(" ≤3(N-1) ", rows["lamport"])
        self.assertRegex(rows["dijkstra-ring"], r" - +\+\d ")
        self.assertIn(" 1.44N log N+O(N) ", rows["variant=peterson2"])
        self.assertIn("messages claimed: maekawa (Neilsen 2.6, 6.1); lamport (Neilsen 2.1, 6.1; Raynal 3.1); dolev-klawe-rodeh (Raynal "
                      "5.4); by no document: dijkstra-ring", " ".join(text.split()))
        whole = compare("--nodes 4 --algorithms lamport,dijkstra-ring", SMALL)
        self.assertEqual([row["claimed"] for row in whole["rows"]],
                         [{"messages": "at most 3(N-1)", "where": "Neilsen 2.1, 6.1; Raynal 3.1"}, None])
        for name, rules in (("claims", (True, False)), ("rules", (False,))):
            counted = [claim["verdict"] for row in whole["rows"] for claim in row["claims"] if (claim["where"] is not None) in rules]
            self.assertEqual(whole[name], {verdict: counted.count(verdict) for verdict in whole[name]})

    def test_long_work_is_announced(self):
        """A run that takes minutes says so before it begins, and says what would take less. A shorter run says nothing."""
        with subprocess.Popen([BATON, *"compare --nodes 1024 --csv".split()], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            line = process.stderr.readline()
            process.kill()
        self.assertRegex(line, r"^baton compare: about \d+ million messages to simulate, \d+ minutes or so; fewer --nodes, "
                               r"--algorithms, --entries or --seeds would take less$")
        self.assertEqual(baton("compare --nodes 64 --algorithms neilsen", SMALL).err, "")

    def test_progress_names_its_work(self):
        leader, follower = pty.openpty()
        with subprocess.Popen([BATON, *"compare --nodes 512 --algorithms suzuki-kasami --threads 1".split()],
                              stdout=subprocess.DEVNULL, stderr=follower) as process:
            os.close(follower)
            text = b""
            while b"suzuki-kasami of 512, " not in text and (part := os.read(leader, 4096)):
                text += part
            process.kill()
        os.close(leader)
        self.assertRegex(text.decode(), r"\[#* *\] +\d+ %  suzuki-kasami of 512, (light|heavy) load")

    def test_the_topology_tells_the_size(self):
        self.assertEqual(compare("--topology grid:2x3 --algorithms helary", SMALL)["nodes"], [6])
        self.assertEqual(compare("--topology grid:2x3 --algorithms helary --nodes 5,6", SMALL)["left_out"][0]["nodes"], 5)

    def test_colours_only_on_a_terminal_that_wants_them(self):
        def on_a_terminal(**environment):
            leader, follower = pty.openpty()
            with subprocess.Popen([BATON, *"compare --nodes 2 --algorithms central --entries 5 --seeds 1..1".split()],
                                  stdout=follower, stderr=subprocess.PIPE, env={**os.environ, **environment}) as process:
                os.close(follower)
                text = b""
                try:
                    while part := os.read(leader, 4096):
                        text += part
                except OSError:  # the reader has closed its end
                    pass
                os.close(leader)
                self.assertEqual(process.wait(), 0)
            return text
        plain = {"TERM": "xterm", "NO_COLOR": ""}
        self.assertIn(b"\033[1m", on_a_terminal(**plain))
        self.assertNotIn(b"\033", on_a_terminal(**{**plain, "NO_COLOR": "1"}))
        self.assertNotIn(b"\033", on_a_terminal(**{**plain, "TERM": "dumb"}))


class Figures(unittest.TestCase):
    def test_the_same_for_any_number_of_threads(self):
        for output in ("", "--json", "--csv"):
            texts = {baton("compare --nodes 2,9", SMALL, output, f"--threads {threads}", fork=False).out for threads in (1, 2, 5)}
            self.assertEqual(len(texts), 1)

    def test_other_seeds_draw_other_requesters(self):
        words = "--nodes 16 --algorithms neilsen --entries 50"
        first, second = (compare(words, f"--seeds {seeds}")["rows"][0]["light"]["messages"]["mean"]
                         for seeds in ("1..3", "4..6"))
        self.assertNotEqual(first, second)

    def test_json_and_csv_agree(self):
        words = f"--nodes 1,5 --load heavy --topology complete {SMALL}"
        rows = compare(words)["rows"]
        table = list(csv.DictReader(io.StringIO(baton("compare", words, "--csv").out)))
        self.assertEqual(len(rows), len(table))
        paths = {path for row in rows for path in (claim["quantity"] for claim in row["claims"])}
        self.assertGreater(len(paths), 10)
        for row, line in zip(rows, table):
            for name in ("algorithm", "kind", "topology"):
                self.assertEqual(row[name], line[name])
            self.assertEqual((row["parameter"] or "", row["nodes"]), (line["parameter"], int(line["nodes"])))
            for path in paths:
                if path.split(".")[0] not in row:
                    self.assertEqual(line[path.replace(".", "_")], "")
                    continue
                figure, cell = at(row, path), line[path.replace(".", "_")]
                self.assertEqual(cell == "", figure is None, (row["algorithm"], path))
                if figure is not None:
                    self.assertAlmostEqual(float(cell), figure, places=6)
            for verdict in ("held", "violated", "refuted", "other", "unmeasured"):
                self.assertEqual(int(line[f"claims_{verdict}"]), sum(c["verdict"] == verdict for c in row["claims"]))

    def test_csv_is_one_table_whatever_is_asked(self):
        headers = set()
        for words in ("--load light", "--load poisson:0.1", "--algorithms franklin", "--topology edges:1-2,2-3"):
            lines = baton("compare --nodes 3", words, SMALL, "--csv").out.splitlines()
            headers.add(lines[0])
            for line in csv.reader(lines):
                self.assertEqual(len(line), lines[0].count(",") + 1)
        self.assertEqual(len(headers), 1)

    def test_what_a_claim_is_about_is_where_it_says(self):
        for row in compare("--nodes 5", SMALL)["rows"]:
            for claim in row["claims"]:
                if claim["measured"] is not None:
                    self.assertEqual(at(row, claim["quantity"]), claim["measured"], (row["algorithm"], claim))

    def test_light_figures_are_those_of_sim(self):
        """The figures of compare are the extremes and the mean of a long run without its
        beginning."""
        for algorithm in ("central", "suzuki-kasami", "dijkstra-ring", "helary"):
            row = compare(f"--nodes 6 --algorithms {algorithm} --entries 2000 --seeds 1..5")["rows"][0]
            run = sim(f"{algorithm} --nodes 6 --load light --entries 20000")
            self.assertAlmostEqual(row["light"]["messages"]["mean"] / run["messages"]["per_entry"], 1, delta=0.03)
            short = sim(f"{algorithm} --nodes 6 --load light --entries 2000")  # in a longer run numbers would need more bytes
            self.assertAlmostEqual(row["light"]["bytes"] / short["bytes"]["per_entry"], 1, delta=0.05)
            self.assertLessEqual(row["light"]["messages"]["min"], run["messages"]["min"])
            self.assertGreaterEqual(row["light"]["messages"]["max"], run["messages"]["max"])

    def test_heavy_figures_are_those_of_sim_in_the_long_run(self):
        for algorithm in ("central", "raymond", "maekawa", "suzuki-kasami-b"):
            row = compare(f"--nodes 6 --algorithms {algorithm} --load heavy")["rows"][0]
            run = sim(f"{algorithm} --nodes 6 --entries 100000")
            self.assertAlmostEqual(row["heavy"]["messages"]["mean"] / run["messages"]["per_entry"], 1, delta=0.002)
            self.assertEqual(row["heavy"]["sync_delay"]["max"], run["sync_delay"]["max"])
            self.assertEqual(row["heavy"]["bypass"]["max"], run["bypass"]["max"])

    def test_a_load_is_the_only_one(self):
        for load, there in (("light", "light"), ("heavy", "heavy"), ("poisson:0.25", "poisson")):
            row = compare(f"--nodes 3 --algorithms neilsen --load {load}", SMALL)["rows"][0]
            self.assertEqual([name for name in ("light", "heavy", "poisson") if row[name]], [there])
        self.assertEqual(row["poisson"][0]["rate"], 0.25)

    def test_elections_are_those_of_sim(self):
        for algorithm in ("chang-roberts", "franklin", "bully"):
            row = compare(f"--nodes 8 --algorithms {algorithm} --seeds 3..3")["rows"][0]
            counts = [sim(f"{algorithm} --nodes 8 --arrangement {arrangement}")["messages"]["election"]
                      for arrangement in ("increasing", "decreasing", "1,5,2,7,3,6,4,8")]
            self.assertLessEqual(row["all"]["messages"]["min"], min(counts))
            self.assertGreaterEqual(row["all"]["messages"]["max"], max(counts))


class Contract(unittest.TestCase):
    def test_fields(self):
        whole = compare("--nodes 4 --algorithms neilsen,franklin", SMALL)
        self.assertEqual(list(whole), ["nodes", "entries", "seeds", "rows", "left_out", "claims", "rules", "violated"])
        self.assertEqual(list(whole["rows"][0]), [
            "algorithm", "kind", "parameter", "topology", "nodes", "edges", "diameter", "fifo", "light", "heavy", "poisson",
            "first", "regenerated", "claimed", "committee", "state_bytes", "token_bytes", "request_bytes", "violation", "claims"])
        self.assertEqual(list(whole["rows"][1])[8:10], ["all", "one"])
        self.assertEqual(list(whole["rows"][0]["claims"][0]), [
            "quantity", "relation", "formula", "where", "claimed", "measured", "verdict", "why"])
        self.assertEqual(json.dumps(whole["seeds"]), "[1, 3]")

    def test_what_does_not_apply_is_null(self):
        token, none = compare("--nodes 4 --algorithms neilsen,lamport", SMALL)["rows"]
        self.assertEqual((none["light"]["token"], none["light"]["time"]["token"], none["token_bytes"]), (None, None, None))
        self.assertEqual(token["light"]["token"], {"min": 1, "max": 1})
        self.assertEqual(token["light"]["time"]["token"], 1)


class Claims(unittest.TestCase):
    def test_lists_what_a_comparison_judges(self):
        claims = compare("--claims")["claims"]
        self.assertEqual(list(claims[0]), ["algorithm", "parameter", "graph", "nodes_min", "quantity", "text", "relation",
                                           "formula", "where", "refuted", "other"])
        names = ("algorithm", "parameter", "quantity", "relation", "formula", "where")
        listed = [tuple(claim[name] for name in names) for claim in claims]
        self.assertEqual(len(set(listed)), len(listed))
        rows = compare("--nodes 5", SMALL)["rows"]
        rows += compare("--algorithms lamport:acknowledge=always,singhal:text=printed:outdated,helary:broadcast=flood --nodes 5", SMALL)["rows"]
        judged = {(row["algorithm"], row["parameter"], *(claim[name] for name in names[2:]))
                  for row in rows for claim in row["claims"]}
        self.assertLessEqual(judged, set(listed))
        anywhere = {key for key, claim in zip(listed, claims) if claim["graph"] == "any" and claim["nodes_min"] <= 5}
        self.assertLessEqual(anywhere, judged)

    def test_a_variant_is_compared_if_it_is_asked_for(self):
        rows = compare("--algorithms lamport:acknowledge=always,lamport --nodes 4", SMALL)["rows"]
        self.assertEqual([(row["algorithm"], row["parameter"]) for row in rows], [("lamport", "acknowledge=always"), ("lamport", None)])
        for words in ("lamport:acknowledge=never", "lamport:", "lamport:x=1", "lamport:acknowledge=always,lamport:acknowledge=always"):
            result = baton("compare --nodes 4 --algorithms", words)
            self.assertEqual((result.code, result.out), (2, ""), words)

    def test_of_some_algorithms_and_for_people(self):
        self.assertEqual({claim["algorithm"] for claim in compare("--claims --algorithms misra,bully")["claims"]},
                         {"misra", "bully"})
        result = baton("compare --claims")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertLessEqual(max(map(len, result.out.splitlines())), 100)
        text = " ".join(baton("compare --claims --algorithms maekawa,raymond").out.split())
        self.assertIn("- fewest messages for an entry: about 3 sqrt(N) (Neilsen 2.6). Where it fails, the run is not what the document means: ", text)
        self.assertIn(" raymond - most messages for an entry: at most 2D (Neilsen 2.7, 6.1) - most messages for an entry, on a "
                      "star: at most 4 (Neilsen 6.1) - ", text)
        self.assertIn("longest synchronization delay: at most 2 (follows from the rules)", text)

    def test_has_no_csv(self):
        result = baton("compare --claims --csv")
        self.assertEqual((result.code, result.out), (2, ""))
        self.assertIn("--claims can be printed with --json, but not with --csv", result.err)


if __name__ == "__main__":
    unittest.main()
