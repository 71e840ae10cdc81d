"""Five daemons, fifty clients and twenty locks do random work: there are never two inside, nobody starves, nothing is left
behind."""
import json
import unittest

from baton import baton
from cluster import SANITIZED, Cluster, until
from work import comes_back_to, fds_with_one_client, work


def every_one(status):
    """Returns the status if no member is silent, or None. On a busy machine a member may be silent for a moment."""
    return status if status["silent"] == [] else None


class RandomWork(unittest.TestCase):
    def hold(self, algorithm, rounds):
        with Cluster(5, "--algorithm", algorithm) as cluster:
            fds = [fds_with_one_client(node) for node in cluster]
            report = work(cluster, rounds // 2 if SANITIZED else rounds)
            print(f"{algorithm}: {report}", flush=True)
            comes_back_to(cluster, fds)
            status = until("everybody answers", lambda: every_one(cluster[0].status()))
            self.assertEqual(status["locks"], [])
            self.assertGreaterEqual(status["grants"], report["grants"])


def claim(algorithm, rounds):
    return lambda self: self.hold(algorithm, rounds)


NAMES = [row["name"] for row in json.loads(baton("algorithms --json").out)["algorithms"] if row["kind"] == "mutex"]
assert len(NAMES) == 15, NAMES
# Under the sanitizers every third algorithm is enough: here they check the daemon.
# check/test_every_algorithm.py runs all algorithms under them.
for name in NAMES[::3] if SANITIZED else NAMES:
    setattr(RandomWork, f"test_{name.replace('-', '_')}", claim(name, 200 if name == "neilsen" else 30))

if __name__ == "__main__":
    unittest.main()
