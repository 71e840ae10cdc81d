"""Every bad input gives exit code 2, one line on stderr that says what is wrong, and nothing on stdout."""
import os
import subprocess
import tempfile
import unittest

from baton import BATON, baton

# The words that are typed, and the text that the line must contain.
CASES = [
    ("frobnicate", "unknown command 'frobnicate'"),
    ("smi neilsen", "did you mean 'sim'?"),
    ("--frobnicate", "unknown option"),
    ("help smi", "did you mean 'sim'?"),
    ("help sim check", "one command at a time"),
    ("sim", "which algorithm?"),
    ("sim neilson", "did you mean 'neilsen'?"),
    ("sim NEILSEN", "did you mean 'neilsen'?"),
    ("torture --algorithm neilson", "did you mean 'neilsen'?"),
    ("sim xyzzy", "'baton algorithms' lists them"),
    ("sim neilsen central", "'central' is the second"),
    ("sim neilsen --nodes", "needs a value"),
    ("sim neilsen --nodse 5", "did you mean '--nodes'?"),
    ("sim neilsen --json=yes", "takes no value"),
    ("sim neilsen -q", "unknown option '-q'"),
    ("sim neilsen --nodes 0", "--nodes '0'"),
    ("sim neilsen --slow 1:10 --slow 2:10", "--slow is given twice"),
    ("sim neilsen --delay constant:1 --delay=constant:2", "--delay is given twice"),
    ("check neilsen --nodes 3 --lose request --lose token", "--lose is given twice"),
    ("sim neilsen --load poisson:1000000000", "above 0 and below 1000000000"),
    ("sim neilsen --nodes -1", "--nodes '-1'"),
    ("sim neilsen --nodes 3x", "--nodes '3x'"),
    ("sim neilsen --nodes 99999999999999999999999", "a whole number from 1 to 16777216"),
    ("sim neilsen --nodes 16777217", "a whole number from 1 to 16777216"),
    ("sim neilsen --holder 6", "there are only 5 nodes"),
    ("sim neilsen --holder 0", "--holder '0'"),
    ("sim neilsen --topology ring", "does not suit neilsen, which needs a tree"),
    ("sim neilsen --topology complete", "needs a tree"),
    ("sim suzuki-kasami --topology star", "needs a complete"),
    ("sim central --topology line", "node 1 in the middle"),
    ("sim central --topology edges:2-1,2-3", "node 1 in the middle"),
    ("sim neilsen --topology trie:2", "did you mean 'tree:K'?"),
    ("sim neilsen --topology tree", "tree:K"),
    ("sim neilsen --topology tree:0", "tree:K"),
    ("sim neilsen --topology tree:x", "tree:K"),
    ("sim neilsen --topology grid:2x3 --nodes 7", "6 nodes, not 7"),
    ("sim neilsen --topology edges:1-2,2-3 --nodes 5", "3 nodes, not 5"),
    ("sim neilsen --topology edges:1-1", "edges"),
    ("sim neilsen --topology edges:1-2,4-5", "not connected"),
    ("sim neilsen --topology edges:", "edge"),
    ("sim neilsen --topology file:/nowhere/at/all", "No such file"),
    ("sim suzuki-kasami --nodes 9000000", "for their states"),
    ("sim neilsen --topology \udcff", "UTF-8"),
    ("sim neilsen --param init=\udcff", "UTF-8"),
    ("sim neilsen --param", "needs a value"),
    ("sim neilsen --param init", "NAME=VALUE"),
    ("sim neilsen --param init=never", "computed, wave"),
    ("sim neilsen --param text=printed", "neilsen has init"),
    ("sim central --param init=wave", "central has no parameters"),
    ("sim neilsen --entries 0", "--entries '0'"),
    ("sim neilsen --entries many", "--entries 'many'"),
    ("sim neilsen --seed -1", "--seed '-1'"),
    ("sim neilsen --seeds 5", "A..B is needed"),
    ("sim neilsen --seeds 9..5", "--seeds '9..5': the first must not be above the last: 5..9?"),
    ("sim neilsen --seeds 9..x", "'x': a whole number from 0"),
    ("sim neilsen --seeds 1..2 --trace /tmp/x", "--trace and --diagram are for one run"),
    ("sim neilsen --load medium", "light, heavy, poisson:RATE or wishes:RATE is needed"),
    ("sim neilsen --load wish:1", "did you mean wishes:RATE?"),
    ("sim neilsen --load wishes:0", "wishes:RATE needs a decimal above 0"),
    ("sim neilsen --load ligth", "did you mean light?"),
    ("sim neilsen --load poisson:0", "poisson:RATE needs a decimal above 0"),
    ("sim neilsen --load poisson:", "poisson:RATE"),
    ("sim neilsen --delay 3", "constant:D"),
    ("sim neilsen --delay constant:", "constant:D"),
    ("sim neilsen --delay constant:-1", "constant:D"),
    ("sim neilsen --delay constant:1e9", "constant:D"),
    ("sim neilsen --delay uniform:3,1", "A at most B"),
    ("sim neilsen --delay uniform:1", "uniform:A,B"),
    ("sim neilsen --delay expo:1", "did you mean exp:M?"),
    ("sim neilsen --delay constant:0.1234567", "6 digits"),
    ("sim neilsen --delay constant:99999999999", "below 1000000000"),
    ("sim neilsen --cs exp:", "--cs"),
    ("sim neilsen --lose 2", "a probability from 0 to 1"),
    ("sim neilsen --lose-token 0", "increasing numbers of hops"),
    ("sim neilsen --lose-token 5,3", "increasing numbers of hops"),
    ("sim neilsen --trace /nowhere/at/all", "No such file"),
    ("sim neilsen --diagram /nowhere/at/all.svg", "No such file"),
    ("sim lamport --reorder --delay exp:1 --trace /nowhere/at/all", "No such file"),
    ("sim central --holder 2 --trace /dev/full", "could not be written"),
    ("sim le-lann --delay constant:0", "time would stand still"),
    ("sim misra --delay exp:0 --load light", "time would stand still"),
    ("sim central --lose-token 1", "central has no token"),
    ("sim neilsen --bound 3", "neilsen has no timers"),
    ("sim bully --bound 0", "a decimal above 0"),
    ("sim chang-roberts --entries 5", "chang-roberts is an election"),
    ("sim chang-roberts --load light", "chang-roberts is an election"),
    ("sim neilsen --arrangement random", "neilsen is not an election"),
    ("sim neilsen --initiators one", "neilsen is not an election"),
    ("sim chang-roberts --arrangement 1,2,1", "occurs twice"),
    ("sim chang-roberts --nodes 4 --arrangement 1,2,3", "4 numbers are needed"),
    ("sim chang-roberts --arrangement up", "increasing, decreasing, random"),
    ("sim chang-roberts --initiators 6", "a whole number from 1 to 5"),
    ("sim chang-roberts --initiators some", "all, one, random:K"),
    ("sim chang-roberts --crash 2", "assumes that nobody fails"),
    ("sim bully --crash 5 --initiators 4,5", "place 5 is dead"),
    ("sim bully --nodes 2 --crash 1,2", "nobody is left"),
    ("sim suzuki-kasami --cs constant:999999999 --entries 20000", "longer than virtual time can count"),
    ("sim neilsen --fifo --reorder", "--fifo or --reorder, not both"),
    ("check neilsen --reorder --fifo", "--fifo or --reorder, not both"),
    ("check misra --lose-tokens", "did you mean '--lose-token'?"),
    ("sim neilsen --ent 5", "unknown option '--ent'"),
    ("check", "which algorithm?"),
    ("check chang-roberts --entries 1", "use --initiators"),
    ("check neilsen --nodes 2 --trace /nowhere/at/all", "No such file"),
    ("check lamport --nodes 2 --entries 2 --reorder --trace /dev/full", "No space left"),
    ("check neilsen --nodes 65", "at most 64"),
    ("check neilsen --entries 1,2", "a number for each of the 5 nodes"),
    ("check neilsen --entries 1,2,3,4,5,6", "a number for each of the 5 nodes"),
    ("check neilsen --entries x", "--entries"),
    ("check neilsen --max-states 0", "--max-states '0'"),
    ("check neilsen --max-memory 12Q", "500M or 4G"),
    ("check neilsen --max-memory M", "500M or 4G"),
    ("check neilsen --timeout soon", "250ms, 3s, 2m"),
    ("check neilsen --timeout 3y", "250ms, 3s, 2m"),
    ("check neilsen --seeds 1..2", "unknown option '--seeds'"),
    ("compare x", "'x' is not an option"),
    ("compare --nodes 0", "a whole number from 1 to 1024"),
    ("compare --nodes 2000", "a whole number from 1 to 1024"),
    ("compare --nodes 4,,5", "--nodes ''"),
    ("compare --nodes 4,8,4", "4 occurs twice"),
    ("compare --algorithms neilson", "did you mean 'neilsen'?"),
    ("compare --algorithms neilsen,", "unknown algorithm ''"),
    ("compare --algorithms neilsen,central,neilsen", "neilsen occurs twice"),
    ("compare --load medium", "light, heavy or poisson:RATE is needed"),
    ("compare --load wishes:1", "light, heavy or poisson:RATE is needed"),
    ("compare --load poisson:0", "poisson:RATE needs a decimal above 0"),
    ("compare --entries 0", "--entries '0'"),
    ("compare --seeds 5", "A..B is needed"),
    ("compare --seeds 5..1", "the first must not be above the last: 1..5?"),
    ("compare --seeds 1..1000000", "at most 100000 seeds"),
    ("compare --threads 0", "--threads '0'"),
    ("compare --json --csv", "not both"),
    ("compare --topology trie:2", "did you mean 'tree:K'?"),
    ("compare --topology edges:1-2,4-5", "not connected"),
    ("compare --topology grid:2x3 --nodes 7", "6 nodes, not 7"),
    ("compare --topology grid:50x50", "nodes of the topology '2500'"),
    ("compare --topology ring --algorithms neilsen", "nothing can run: topology 'ring' of 4 nodes does not suit neilsen"),
    ("compare --topology file:/nowhere/at/all", "No such file"),
    ("compare --topology \udcff", "UTF-8"),
    ("compare --thread 2", "did you mean '--threads'?"),
    ("choose x", "unexpected 'x'"),
    ("choose --nodes 0", "a whole number from 1 to 1024"),
    ("choose --nodes 4,5", "a whole number from 1 to 1024"),
    ("choose --topology trie:2", "did you mean 'tree:K'?"),
    ("choose --topology edges:1-2,4-5", "not connected"),
    ("choose --topology grid:2x3 --nodes 7", "6 nodes, not 7"),
    ("choose --topology grid:50x50", "2500 nodes; at most 1024"),
    ("choose --topology \udcff", "UTF-8"),
    ("choose --load ligth", "did you mean light?"),
    ("choose --seed -1", "--seed '-1'"),
    ("choose --csv", "unknown option '--csv'"),
    ("replay", "FILE"),
    ("replay /nowhere/at/all.scn", "No such file"),
    ("replay a.scn b.scn", "b.scn"),
    ("replay a.scn --at 3", "--tree"),
    ("replay a.scn --tree x.svg --at three", "--at"),
    ("replay --jsn x", "did you mean '--json'?"),
    ("algorithms neilson", "did you mean 'neilsen'?"),
    ("algorithms neilsen central", "'central' is the second"),
    ("algorithms --frob", "unknown option '--frob'"),
]


class BadInput(unittest.TestCase):
    def test_every_case(self):
        for words, text in CASES:
            with self.subTest(words=words):
                result = baton(words)
                self.assertEqual((result.code, result.out, result.err.count("\n")), (2, "", 1), result)
                self.assertIn(text, result.err)
                self.assertTrue(result.err.startswith("baton"), result)

    def test_a_report_that_cannot_be_written_is_not_given(self):
        for words in ("sim neilsen", "sim neilsen --json", "check neilsen --nodes 2", "algorithms", "help", "--version",
                      "compare --nodes 2 --entries 1 --csv", "choose --nodes 2"):
            with open("/dev/full", "w", encoding="utf-8") as full, self.subTest(words=words):
                process = subprocess.run([BATON, *words.split()], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual((process.returncode, process.stderr.count("\n")), (2, 1), process)
        for words in ("sim neilsen --trace /dev/full", "sim neilsen --diagram /dev/full"):
            result = baton(words)
            self.assertEqual((result.code, result.out, result.err.count("\n")), (2, "", 1), result)

    def test_a_bad_step_is_told_without_a_warning_before_it(self):
        result = baton("replay -", stdin="algorithm central\nnodes 3\nholder 2\nrelease 1\n")
        self.assertEqual((result.code, result.out, result.err.count("\n")), (2, "", 1), result)
        self.assertIn("-:4: ", result.err)

    def test_a_page_that_cannot_be_written_leaves_no_report(self):
        scenario = "algorithm neilsen\nnodes 2\nrequest 2\nrun\nexpect 2 in\n"
        for words in ("replay - --html /nowhere/at/all", "replay - --json --html /nowhere/at/all",
                      "replay - --steps --html /dev/full", "sim neilsen --html /nowhere/at/all"):
            with self.subTest(words=words):
                result = baton(words, stdin=scenario)
                self.assertEqual((result.code, result.out, result.err.count("\n")), (2, "", 1), result)

    def test_a_file_of_edges_that_is_none(self):
        for content, says in (("1 2\n", "line 1: an edge"), ("1-2\n2-x\n", "line 2: an edge"), ("", "it has no edge"),
                              ("\0\0", "is not a list of edges"), ("# 2-x\n\n", "it has no edge"),
                              ("1-2 # fine\n\n3-\n", "line 3: an edge"), ("1-2\r\n2-2\r\n", "line 2: an edge")):
            with tempfile.NamedTemporaryFile("w", suffix=".edges", newline="") as file:
                file.write(content)
                file.flush()
                result = baton(f"sim neilsen --topology file:{file.name}")
                self.assertEqual((result.code, result.out, result.err.count("\n")), (2, "", 1), (content, result))
                self.assertIn(f"topology file '{file.name}': {says}", result.err)

    def test_a_file_of_edges(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tree")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# a tree\n1-2\n2-3\n\n3-4  # the end\n")
            self.assertEqual(baton(f"sim neilsen --topology file:{path} --json").code, 0)


if __name__ == "__main__":
    unittest.main()
