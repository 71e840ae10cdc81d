"""What Neilsen's thesis claims, claim by claim."""
import unittest

from baton import check, no_violation_over, sim


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


if __name__ == "__main__":
    unittest.main()
