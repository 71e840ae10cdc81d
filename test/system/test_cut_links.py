"""The same work on a bad network: links are cut at random, bytes are late and arrive in pieces. Nothing is lost or duplicated."""
import unittest

from cluster import SANITIZED, Cluster, free_port
from proxy import Proxy
from work import comes_back_to, fds_with_one_client, work

NODES = 5


class CutLinks(unittest.TestCase):
    def hold(self, rounds, *options):
        roads = {(i, j): free_port() for i in range(NODES) for j in range(i + 1, NODES)}

        # Of two nodes, the one whose name comes first dials: through the proxy.
        def peers_of(cluster, index):
            return cluster.peers([roads.get((index, other), port) for other, port in enumerate(cluster.ports)])

        cluster = Cluster(NODES, *options, peers_of=peers_of)
        ways = [(port, cluster.ports[other]) for (_, other), port in roads.items()]
        with Proxy(ways, 0.03, seed=1) as proxy, cluster:
            report = work(cluster, rounds // 2 if SANITIZED else rounds)
            print(f"{options}: {report}, {proxy.cuts} cuts, {proxy.bytes} bytes", flush=True)
            self.assertGreater(proxy.cuts, 5)
            proxy.heal()
            work(cluster, 10, seed=2)
            cluster.ready()
            fds = [fds_with_one_client(node) for node in cluster]
            work(cluster, 10, seed=3)
            comes_back_to(cluster, fds)
            self.assertEqual(cluster[0].status()["locks"], [])

    def test_neilsen(self):
        self.hold(400, "--algorithm", "neilsen")

    def test_suzuki_kasami(self):
        self.hold(80, "--algorithm", "suzuki-kasami")

    def test_maekawa(self):
        self.hold(80, "--algorithm", "maekawa")

    def test_helary_on_a_line(self):
        self.hold(80, "--algorithm", "helary", "--topology", "line")

    def test_misra(self):
        self.hold(80, "--algorithm", "misra")


if __name__ == "__main__":
    unittest.main()
