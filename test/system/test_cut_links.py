"""Does the work of test_load.py on a bad network: links are cut at random, and bytes arrive late
and in pieces. Nothing is lost or duplicated."""
import time
import unittest

from cluster import SANITIZED, Cluster, free_port, until
from proxy import Proxy
from work import comes_back_to, fds_with_one_client, work

NODES = 5


def settle(cluster):
    """Waits until no node has opened or closed a connection for two seconds, because connections come back one by one."""
    before, since = None, time.monotonic()

    def is_quiet():
        nonlocal before, since
        now = [node.fds() for node in cluster]
        if now != before:
            before, since = now, time.monotonic()
        return time.monotonic() > since + 2

    until("nothing is opened or closed", is_quiet)


class CutLinks(unittest.TestCase):
    def hold(self, rounds, *options):
        proxied = [free_port() for _ in range(NODES)]
        # All nodes reach each other through proxies. The lease is long, because a machine under load needs more time.
        cluster = Cluster(NODES, "--lease", "20s", *options, peers_of=lambda cluster, _: cluster.peers(proxied))
        with Proxy(list(zip(proxied, cluster.ports)), 0.03, seed=1) as proxy, cluster:
            report = work(cluster, rounds // 2 if SANITIZED else rounds)
            print(f"{options}: {report}, {proxy.cuts} cuts, {proxy.bytes} bytes", flush=True)
            self.assertGreater(proxy.cuts, 5)
            proxy.heal()
            work(cluster, 10, seed=2)
            cluster.ready()
            settle(cluster)
            fds = [fds_with_one_client(node) for node in cluster]
            work(cluster, 10, seed=3)
            comes_back_to(cluster, fds)
            self.assertEqual(cluster[0].status()["locks"], [])

    def test_neilsen(self):
        self.hold(100, "--algorithm", "neilsen")

    def test_suzuki_kasami(self):
        self.hold(40, "--algorithm", "suzuki-kasami")

    def test_maekawa(self):
        self.hold(40, "--algorithm", "maekawa")

    def test_helary_on_a_line(self):
        self.hold(40, "--algorithm", "helary", "--topology", "line")

    def test_misra(self):
        self.hold(40, "--algorithm", "misra")


if __name__ == "__main__":
    unittest.main()
