"""Every good scenario holds, and every bad one is refused as bad input."""
import glob
import os
import unittest

from baton import ROOT, baton

FOLDER = os.path.join(ROOT, "test/scenarios")


class Scenarios(unittest.TestCase):
    def test_every_scenario_holds(self):
        paths = [p for p in glob.glob(f"{FOLDER}/*/*.scn") if os.path.dirname(p) not in (f"{FOLDER}/bad", f"{FOLDER}/violated")]
        self.assertGreater(len(paths), 5)
        for path in paths:
            with self.subTest(path=path):
                result = baton("replay", path)
                self.assertEqual((result.code, result.err), (0, ""), result)

    def test_every_counterexample_fails_on_its_last_line(self):
        paths = glob.glob(f"{FOLDER}/violated/*.scn")
        self.assertGreater(len(paths), 5)
        for path in paths:
            with self.subTest(path=path):
                result = baton("replay", path)
                with open(path, encoding="utf-8") as file:
                    last = len(file.readlines())
                self.assertEqual((result.code, result.out), (1, ""), result)
                self.assertIn(f"{path}:{last}: ", result.err)

    def test_every_bad_scenario_is_one_line_and_exit_2(self):
        for path in glob.glob(f"{FOLDER}/bad/*.scn"):
            with self.subTest(path=path):
                result = baton("replay", path)
                self.assertEqual((result.code, result.out, result.err.count("\n")), (2, "", 1), result)


if __name__ == "__main__":
    unittest.main()
