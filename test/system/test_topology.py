"""Locks across nodes that cannot all reach each other: only the topology's links exist, and everything works end to end."""
import subprocess
import unittest

from cluster import Cluster, Node, free_port, until
from hosts import Hosts
from resp import Client
from work import work


def links(cluster):
    """Returns the pairs of nodes with a link, {("n1", "n2"), …}. Both nodes must say so."""
    said = [(node.name, other) for node in cluster for other in node.status()["links"]]
    return {pair for pair in said if pair[0] < pair[1] and pair[::-1] in said}


class Links(unittest.TestCase):
    def end_to_end(self, cluster):
        """Sends locks from the first node to the last, through all nodes between them."""
        last = len(cluster.nodes) - 1
        with cluster[0].client() as first, cluster[last].client() as other, cluster[last].client() as listener:
            listener.call("SUBSCRIBE", "far")
            fence = first.call("LOCK", "far")
            self.assertEqual(listener.read(), ["message", "far", f"granted {fence} {cluster.names[0]}"])
            self.assertIsNone(other.call("LOCK", "far", "NOWAIT"))
            other.send("LOCK", "far")
            until("it waits", lambda: cluster[0].status("far")["locks"][0]["waiters"])
            first.call("UNLOCK", "far")
            self.assertEqual(other.read(), fence + 1)
            self.assertEqual(first.call("BREAK", "far", fence + 1), 1)
            fence = other.call("ELECT", "boss", "me")
            for node in cluster:
                with node.client() as client:
                    self.assertEqual(client.call("LEADER", "boss"), [fence, cluster.names[last], "me"])
        for node in cluster:
            status = node.status()
            self.assertEqual((status["silent"], len(status["members"])), ([], len(cluster.nodes)))

    def has_only(self, expected, *options):
        with Cluster(5, *options) as cluster:
            self.end_to_end(cluster)
            work(cluster, 40, clients=20, locks=5)
            self.assertEqual(links(cluster), {(f"n{a}", f"n{b}") for a, b in expected})

    def test_helary_on_a_line(self):
        self.has_only([(1, 2), (2, 3), (3, 4), (4, 5)], "--algorithm", "helary", "--topology", "line")

    def test_helary_on_a_ring(self):
        self.has_only([(1, 2), (2, 3), (3, 4), (4, 5), (1, 5)], "--algorithm", "helary", "--topology", "ring")

    def test_helary_on_links_by_name(self):
        self.has_only([(1, 4), (2, 4), (3, 4), (3, 5), (2, 5)], "--algorithm", "helary", "--links", "n1-n4,n4-n2,n3-n4,n5-n3,n2-n5")

    def test_raymond_on_a_tree(self):
        self.has_only([(1, 2), (1, 3), (2, 4), (2, 5)], "--algorithm", "raymond", "--topology", "tree:2")

    def test_dijkstra_on_a_ring(self):
        self.has_only([(1, 2), (2, 3), (3, 4), (4, 5), (1, 5)], "--algorithm", "dijkstra-ring")

    def test_central_is_a_star(self):
        self.has_only([(1, 2), (1, 3), (1, 4), (1, 5)], "--algorithm", "central")

    def test_neilsen_needs_all(self):
        self.has_only([(a, b) for a in range(1, 6) for b in range(a + 1, 6)], "--algorithm", "neilsen", "--topology", "line")


class SeparateHosts(unittest.TestCase):
    def test_locks_across_hosts_that_cannot_reach_each_other(self):
        """Three nodes vote and reach each other. Two that only join reach these three, but not each other."""
        cables = [(0, 1), (0, 2), (1, 2), *((near, far) for near in (3, 4) for far in (0, 1, 2))]
        settings = ["--algorithm", "helary", "--links", "n1-n2,n2-n3,n1-n4,n3-n5"]
        with Hosts(5, cables) as hosts:
            cluster = Cluster(5)
            homes = [f"{hosts.home(index)}:{port}" for index, port in enumerate(cluster.ports)]
            for index, node in enumerate(cluster):
                node.prefix = hosts.within(index)
                node.options = ["--insecure", "--listen", homes[index]]
                if index < 3:
                    node.options += ["--data", node.data, "--peers",
                                     ",".join(f"n{founder + 1}={homes[founder]}" for founder in range(3)), *settings]
                else:
                    node.options += ["--join", ",".join(homes[:3])]
            with cluster:
                Links.end_to_end(self, cluster)
                work(cluster, 80, clients=20, locks=5)
                self.assertEqual(links(cluster), {("n1", "n2"), ("n2", "n3"), ("n1", "n4"), ("n3", "n5")})
                dialled = subprocess.run(
                    [*hosts.within(3), "python3", "-c",
                     f"import socket; socket.create_connection(('{hosts.home(4)}', {cluster.ports[4]}), 1)"],
                    capture_output=True, text=True, check=False)
                self.assertNotEqual(dialled.returncode, 0)
                self.assertRegex(dialled.stderr, "unreachable|timed out")

    def test_a_tcp_client_whose_host_vanishes_is_given_up(self):
        with Hosts(2, [(0, 1)]) as hosts:
            port = free_port()
            cluster = Cluster(1)
            cluster.nodes = [Node(cluster.folder, "n1", ["--insecure", "--clients", f"0.0.0.0:{port}", "--client-timeout", "10s"],
                                  prefix=hosts.within(0))]
            with cluster:
                holder = subprocess.Popen(
                    [*hosts.within(1), "python3", "-c",
                     "import sys, time\n"
                     f"from resp import Client\nclient = Client(('{hosts.address(0, 1)}', {port}))\n"
                     "print(client.call('LOCK', 'x'), flush=True)\nsys.stdin.read()"],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                try:
                    fence = int(holder.stdout.readline())
                    with Client(cluster[0].socket) as other:
                        other.send("LOCK", "x")
                        self.assertTrue(other.quiet(11)) # the holder stays connected though it is silent for longer than the timeout
                        hosts.pull(0)
                        self.assertGreater(other.read(), fence)
                finally:
                    holder.kill()
                    holder.communicate()


if __name__ == "__main__":
    unittest.main()
