"""Locks across nodes that cannot all reach each other: only the topology's links exist, and everything works end to end."""
import os
import re
import subprocess
import unittest

from cluster import Cluster, Node, free_port, until
from hosts import Hosts
from resp import Client
from work import work


def links(cluster):
    """Returns the pairs of nodes with TCP connections, as the kernel lists them: {("n1", "n2"), …}; the second one was dialled.
    """
    ports = dict(zip(cluster.ports, cluster.names))
    owners, accepted = {}, []
    for node in cluster:
        folder = f"/proc/{node.process.pid}/fd"
        inodes = set()
        for fd in os.listdir(folder):
            found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"{folder}/{fd}"))
            inodes |= {found[1]} if found else set()
        with open("/proc/net/tcp", encoding="ascii") as file:
            for line in list(file)[1:]:
                _, local, remote, state, *rest = line.split()
                if rest[5] not in inodes or state != "01": # established
                    continue
                near, far = (int(address.split(":")[1], 16) for address in (local, remote))
                owners[near] = node.name
                if near in ports:
                    accepted.append((far, ports[near]))
    return {(owners.get(far, "?"), name) for far, name in accepted}


class Links(unittest.TestCase):
    def end_to_end(self, cluster):
        """From the first node to the last, through all between them."""
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

    def test_helary_on_edges(self):
        self.has_only([(1, 4), (2, 4), (3, 4), (3, 5), (2, 5)], "--algorithm", "helary", "--topology",
                      "edges:1-4,2-4,3-4,3-5,2-5")

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
        count = 4
        with Hosts(count, [(0, 1), (1, 2), (2, 3)]) as hosts:
            cluster = Cluster(count, "--algorithm", "helary", "--topology", "line")
            for index, node in enumerate(cluster):
                port = cluster.ports[index]
                peers = ",".join(f"{name}={hosts.address(other, index)}:{cluster.ports[other]}"
                                 for other, name in enumerate(cluster.names))
                node.prefix = hosts.within(index)
                node.options = ["--algorithm", "helary", "--topology", "line", "--insecure", "--listen", f"0.0.0.0:{port}",
                                "--peers", peers]
            with cluster:
                Links.end_to_end(self, cluster)
                work(cluster, 80, clients=20, locks=5)
                for near, far in ((0, 2), (0, 3), (1, 3)):
                    dialled = subprocess.run(
                        [*hosts.within(near), "python3", "-c",
                         f"import socket; socket.create_connection(('{hosts.address(far, near)}', {cluster.ports[far]}), 1)"],
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
                        self.assertTrue(other.quiet(11)) # it lives although it sends nothing, for longer than the timeout
                        hosts.pull(0)
                        self.assertGreater(other.read(), fence)
                finally:
                    holder.kill()
                    holder.communicate()


if __name__ == "__main__":
    unittest.main()
