"""Five daemons, fifty clients, twenty locks, random work: never two inside, nobody starves, nothing is left behind."""
import json
import unittest

from baton import baton
from cluster import SANITIZED, Cluster
from work import comes_back_to, fds_with_one_client, work


class RandomWork(unittest.TestCase):
    def hold(self, algorithm, seconds):
        with Cluster(5, "--algorithm", algorithm) as cluster:
            fds = [fds_with_one_client(node) for node in cluster]
            report = work(cluster, seconds / 2 if SANITIZED else seconds)
            print(f"{algorithm}: {report}", flush=True)
            comes_back_to(cluster, fds)
            status = cluster[0].status()
            self.assertEqual(status["locks"], [])
            self.assertEqual(status["silent"], [])
            self.assertGreaterEqual(status["grants"], report["grants"])


def claim(algorithm, seconds):
    return lambda self: self.hold(algorithm, seconds)


NAMES = [row["name"] for row in json.loads(baton("algorithms --json").out)["algorithms"] if row["kind"] == "mutex"]
assert len(NAMES) == 15, NAMES
for name in NAMES:
    setattr(RandomWork, f"test_{name.replace('-', '_')}", claim(name, 20 if name == "neilsen" else 2))

if __name__ == "__main__":
    unittest.main()
