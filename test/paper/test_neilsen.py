"""Tests the claims of Neilsen's thesis, one by one."""
import os
import re
import tempfile
import unittest

from baton import ROOT, baton, check, no_violation_over, sim
from tracefile import Trace

# Figure 4: the states of a node, and its transitions by their numbers, each with its two states.
FIGURE_4 = {
    ("N", "R"): 1, ("R", "RF"): 2, ("E", "EF"): 2, ("R", "E"): 4, ("RF", "EF"): 4, ("E", "H"): 5, ("H", "E"): 6, ("EF", "N"): 7,
    ("H", "N"): 8,
}


def states_of_figure_4(events):
    """Returns the states that each node goes through, one per step of the node, derived from its variables and its actions."""
    phase, variables, states, stepping = {}, {}, {}, None
    for event in [*events, {"ev": "deliver", "to": None}]:
        if event["ev"] in ("request", "exit", "deliver", "end"):
            if stepping in variables:
                values = variables[stepping]
                state = "H" if values["HOLDING"] else (phase.get(stepping, "") + ("F" if values["FOLLOW"] else "")) or "N"
                states.setdefault(stepping, []).append((state, values))
            stepping = event.get("to", event.get("node"))
        if event["ev"] in ("request", "enter", "exit"):
            phase[event["node"]] = {"request": "R", "enter": "E", "exit": ""}[event["ev"]]
        elif event["ev"] == "state":
            variables[event["node"]] = event["vars"]
    return states


class Neilsen(unittest.TestCase):
    def test_average_on_a_star_is_that_of_section_6_2(self):
        for n in (4, 10, 100):
            messages = sim(f"neilsen --topology star --nodes {n} --load light --entries 200000")["messages"]
            self.assertAlmostEqual(messages["per_entry"] / (3 - 5 / n + 2 / n**2), 1, delta=0.02)
            self.assertEqual((messages["min"], messages["max"]), (0, 3))

    def test_upper_bound_is_the_diameter_plus_one_as_in_section_6_1(self):
        for topology, n, diameter in (("line", 7, 6), ("star", 7, 2), ("tree:2", 7, 4), ("radiating:3", 7, 4)):
            messages = sim(f"neilsen --topology {topology} --nodes {n} --load light --entries 20000")["messages"]
            self.assertEqual(messages["max"], diameter + 1, topology)
            self.assertEqual(messages["min"], 0)

    def test_average_on_a_line(self):
        for n in (4, 10):
            messages = sim(f"neilsen --topology line --nodes {n} --load light --entries 200000")["messages"]
            self.assertAlmostEqual(messages["per_entry"] / ((n**2 - 1) / (3 * n) + 1 - 1 / n), 1, delta=0.02)
            self.assertEqual(messages["max"], n)

    def test_heavy_demand_costs_three_messages_at_most(self):
        for n in (4, 10, 100):
            run = sim(f"neilsen --topology star --nodes {n} --entries {200 * n}")
            self.assertAlmostEqual(run["messages"]["per_entry"] / (3 - 2 / n), 1, delta=0.02)

    def test_synchronization_delay_is_one_message_as_in_section_6_3(self):
        for topology in ("star", "line", "tree:2"):
            delay = sim(f"neilsen --topology {topology} --nodes 8")["sync_delay"]
            self.assertEqual((delay["mean"], delay["max"]), (1, 1))

    def test_the_token_carries_no_data_as_in_section_6_4(self):
        trace = sim("neilsen --nodes 8 --entries 100")
        self.assertEqual(trace["bytes"]["total"],
                         trace["messages"]["by_type"]["PRIVILEGE"] + 3 * trace["messages"]["by_type"]["REQUEST"])

    def test_initialization_takes_a_message_an_edge_as_in_figure_5(self):
        for holder in (1, 4):
            run = sim(f"neilsen --topology tree:2 --nodes 9 --holder {holder} --param init=wave --delay exp:1")
            self.assertEqual(run["messages"]["init"], 8)
            self.assertNotIn("INITIALIZE", run["messages"]["by_type"])

    def test_no_violation_on_any_tree(self):
        for topology in ("star", "line", "tree:2", "tree:3", "radiating:2", "radiating:3"):
            for n in (2, 3, 5, 8):
                no_violation_over("1..1000", f"neilsen --topology {topology} --nodes {n} --entries 100 --delay exp:1")
        no_violation_over("1..1000", "neilsen --topology tree:2 --nodes 8 --entries 100 --param init=wave --delay exp:1")

    def test_theorems_1_and_2_in_every_interleaving_without_order_too(self):
        for topology in ("star", "line"):
            for order in ("--fifo", "--reorder"):
                result = check(f"neilsen --topology {topology} --nodes 4 --entries 2 {order}")
                self.assertTrue(result["complete"])
        for nodes in (2, 3, 4):
            check(f"neilsen --topology line --nodes {nodes} --entries unlimited")
        check("neilsen --topology line --nodes 4 --param init=wave")

    def test_no_transition_happens_but_those_of_figure_4(self):
        """In transition 3 a node forwards a REQUEST, and ends in N, RF or EF. A node is a sink in
        R, E and H."""
        seen = set()
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(1, 6):
                path = os.path.join(folder, "trace")
                baton(f"sim neilsen --topology line --nodes 5 --load poisson:0.3 --delay exp:1 --entries 300 --seed {seed}",
                      f"--trace {path}")
                for states in states_of_figure_4(Trace(path).events).values():
                    for state, variables in states:
                        self.assertEqual(state in ("R", "E", "H"), variables["NEXT"] == 0, (state, variables))
                    seen |= {(a, b) for (a, _), (b, _) in zip(states, states[1:]) if a != b}
        self.assertEqual(seen, set(FIGURE_4))

    def test_the_checker_knows_figure_4_and_the_tree_shows_its_states(self):
        """Every arrow is in a scenario. The checker looks for others in every interleaving (each of its mutants lacks one)."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tree.svg")
            scenario = os.path.join(ROOT, "test/scenarios/neilsen/figure-6.scn")
            self.assertEqual(baton("replay", scenario, "--tree", path, "--at", "130").code, 0)
            with open(path, encoding="utf-8") as file:
                picture = file.read()
            beyond = baton("replay", scenario, "--tree", path, "--at", "999")
        self.assertEqual((beyond.code, beyond.out), (2, ""))
        self.assertRegex(beyond.err, r"--at 999: .*figure-6.scn has \d+ lines")
        self.assertIn("waiting queue: 2, 1, 5<", picture)
        states = re.findall(r'class="state"[^>]*>(\w+)<', picture)
        self.assertEqual(states, ["RF", "RF", "EF", "N", "R", "N"])
        self.assertEqual(picture.count('class="holder"'), 2)  # one for the holder, one for the legend
        # The arrows are NEXT of all nodes but the sink (5), FOLLOW of 3, 2 and 1, and those of the
        # legend.
        self.assertEqual(len(re.findall(r'<path class="arrow(?! dashed)', picture)), 5 + 1)
        self.assertEqual(len(re.findall(r'<path class="arrow dashed', picture)), 3 + 1)

    def test_lemma_2_and_the_shape_and_the_sinks_in_every_interleaving(self):
        for topology in ("star", "line"):
            result = check(f"neilsen --topology {topology} --nodes 4 --entries unlimited")
            for name in ("every_path_ends_at_a_sink", "shape_is_unchanged", "sinks_are_one_and_requests"):
                self.assertEqual(result["invariants"][name], "holds")


if __name__ == "__main__":
    unittest.main()
