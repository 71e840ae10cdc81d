"""The checker itself: exact counts, counterexamples that replay, limits."""
import os
import tempfile
import unittest

from baton import baton, check


class Check(unittest.TestCase):
    def test_numbers_of_states_are_pinned(self):
        for words, states in (
            ("suzuki-kasami --nodes 3", 726),
            ("suzuki-kasami --nodes 3 --entries 2", 58973),
            ("neilsen --topology star --nodes 3 --entries unlimited --fifo", 128),
            ("neilsen --topology star --nodes 4 --entries 2 --fifo", 20404),
            ("neilsen --topology line --nodes 4 --entries 2", 16226),
            ("central --nodes 3 --entries unlimited", 98),
        ):
            with self.subTest(words=words):
                self.assertEqual(check(words)["states"], states)

    def test_a_lost_token_is_a_deadlock_whose_counterexample_replays(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "lost.scn")
            result = check(f"suzuki-kasami --nodes 2 --lose-token --trace {path}", expect=1)
            self.assertEqual(result["deadlock"], "found")
            self.assertEqual(result["mutual_exclusion"], "holds")
            replayed = baton("replay", path)
            self.assertEqual(replayed.code, 1, replayed)
            with open(path, encoding="utf-8") as file:
                last = len(file.readlines())
            self.assertIn(f":{last}: expected", replayed.err)

    def test_a_check_that_holds_leaves_no_counterexample_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "old.scn")
            check(f"suzuki-kasami --nodes 2 --lose-token --trace {path}", expect=1)
            check(f"suzuki-kasami --nodes 2 --trace {path}")
            self.assertFalse(os.path.exists(path))

    def test_limits_end_the_search_with_exit_3(self):
        for limit in ("--max-states 1000", "--max-memory 1M", "--timeout 50ms"):
            result = check(f"suzuki-kasami --nodes 4 --entries 3 {limit}", expect=3)
            self.assertFalse(result["complete"])
        self.assertLess(check("suzuki-kasami --nodes 4 --max-states 1000", expect=3)["states"], 1100)

    def test_entries_node_by_node(self):
        result = check("suzuki-kasami --nodes 3 --entries 1,0,0")
        self.assertEqual((result["entries"], result["max_messages"]), ([1, 0, 0], 0))
        result = check("suzuki-kasami --nodes 3 --entries 0,1,0")
        self.assertEqual((result["max_messages"], result["min_messages"]), (3, 3))


if __name__ == "__main__":
    unittest.main()
