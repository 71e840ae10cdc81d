"""Two nodes that must not talk to each other say so, on both sides, in a line that tells what to do. Also tests restarts."""
import os
import random
import socket
import struct
import unittest

from cluster import Cluster, Node, free_port, until
from handshake import CALL, HELLO, REFUSAL, VERSION, call, hello, read_hello
from resp import Wrong


class Differences(unittest.TestCase):
    """Two founders that differ in something."""

    def refuse(self, cluster, first, second):
        """The node that notices the difference says what both have, and ends. If the other does not notice, it serves nobody."""
        said = {"n1": f"node 'n2' has {second}, and this node 'n1' has {first}:",
                "n2": f"node 'n1' has {first}, and this node 'n2' has {second}:"}
        try:
            for node in cluster:
                node.start()
            until("one ends", lambda: any(node.process.poll() is not None for node in cluster))
            for node in cluster:
                if node.process.poll() is None and node.answers():
                    self.assertIsNotNone(node.status()["waiting_for"])
                    node.terminate()
                if node.wait() != 0:
                    self.assertIn(said[node.name], node.log())
        except AssertionError:
            print(cluster.logs())
            raise
        finally:
            cluster.end()

    def refuse_options(self, first, second, *values):
        self.refuse(Cluster(2, each=lambda index: (first, second)[index]), *values)

    def test_another_algorithm(self):
        self.refuse_options(["--algorithm", "neilsen"], ["--algorithm", "raymond"], "algorithm = neilsen", "algorithm = raymond")

    def test_another_topology(self):
        self.refuse_options(["--topology", "line"], ["--topology", "star"], "topology = line", "topology = star")

    def test_another_parameter(self):
        self.refuse_options(["--algorithm", "suzuki-kasami-b", "--param", "L=3"], ["--algorithm", "suzuki-kasami-b", "--param", "L=4"],
                            "param = L=3", "param = L=4")

    def test_another_lease(self):
        self.refuse_options(["--lease", "3s"], ["--lease", "4s"], "lease = 3s", "lease = 4s")

    def test_a_default_that_is_given_is_no_difference(self):
        with Cluster(2, each=lambda index: ["--lease", "3s", "--algorithm", "neilsen"] if index == 0 else []) as cluster:
            self.assertEqual(cluster[1].status()["algorithm"], "neilsen")

    def test_other_peers(self):
        third = f"127.0.0.1:{free_port()}"
        self.refuse(Cluster(2, peers_of=lambda cluster, index: cluster.peers() + (f",n3={third}" if index == 1 else "")),
                    "nothing of that kind", f"peer n3 = {third}")

    def test_a_list_that_lacks_the_other(self):
        """n2 believes that the cluster is n2 and n3; n1 waits for n2."""
        cluster = Cluster(2, peers_of=lambda cluster, index: cluster.peers() if index == 0 else
                          f"n2=127.0.0.1:{cluster.ports[1]},n3=127.0.0.1:{free_port()}")
        try:
            for node in cluster:
                node.start()
            cluster[1].says("n1, its list of peers has this node: this node's list does not have it")
        finally:
            cluster.end()

    def test_a_wrong_address(self):
        """n1 has n3's address for n2."""
        def peers_of(cluster, index):
            ports = list(cluster.ports)
            if index == 0:
                ports[1], ports[2] = ports[2], ports[1]
            return cluster.peers(ports)

        cluster = Cluster(3, peers_of=peers_of)
        try:
            for node in cluster:
                node.start()
            cluster[2].says("n1, 127.0.0.1: it looks for another node at this address")
            cluster[0].says("n2: refuses this node: it looks for another node at this address")
        finally:
            cluster.end()


class Strangers(unittest.TestCase):
    """Connects by hand to a node that waits for n2."""

    def setUp(self):
        self.cluster = Cluster(2)
        self.node = self.cluster[0].start()
        self.addCleanup(self.cluster.end)
        until("it listens", lambda: self.dialled() is not None)

    def dialled(self):
        try:
            connection = socket.create_connection(("127.0.0.1", self.cluster.ports[0]), 30)
        except OSError:
            return None
        self.addCleanup(connection.close)
        return connection

    def test_another_version_is_refused_on_both_sides(self):
        for kind in (HELLO, CALL): # the other side is a link, or the engine
            connection = self.dialled()
            connection.sendall(hello(kind, 3, b"whatever comes then"))
            answer, version, text = read_hello(connection)
            self.assertEqual((answer, version), (REFUSAL, VERSION))
            self.assertEqual(text, b"it speaks version 3 of the protocol between nodes, and this node speaks version 6")
        self.node.says("127.0.0.1: it speaks version 3 of the protocol between nodes, and this node speaks version 6")

        with socket.create_server(("127.0.0.1", self.cluster.ports[1])) as listener:
            listener.settimeout(30)
            answered, _ = listener.accept()
            with answered:
                self.assertEqual(read_hello(answered)[:2], (CALL, VERSION))
                answered.sendall(hello(CALL, 7))
                kind, _, text = read_hello(answered)
            self.assertEqual(kind, REFUSAL)
            self.node.says(f"n2, 127.0.0.1:{self.cluster.ports[1]}: it speaks version 7 of the protocol between nodes, and "
                           "this node speaks version 6")
            answered, _ = listener.accept()
            with answered:
                read_hello(answered)
                answered.sendall(hello(REFUSAL, 8, b"I am too new\x1b[2J for you"))
            self.node.says("n2: refuses this node: I am too new?[2J for you")

    def test_a_peer_that_talks_nonsense_after_its_hello_does_no_harm(self):
        chance = random.Random(1)
        payloads = [chance.randbytes(chance.randrange(1, 300)) for _ in range(15)]
        for kind in range(8): # complete records of every type, with arbitrary bodies
            for size in (0, 1, 8, 9, 60):
                payloads.append(struct.pack("<IB", 1 + size, kind) + chance.randbytes(size))
        payloads.append(struct.pack("<I", 0xffffffff) + bytes(100))
        payloads.append(struct.pack("<I", 0))
        refused = 0
        with socket.create_server(("127.0.0.1", self.cluster.ports[1])) as listener:
            listener.settimeout(30)
            for payload in payloads:
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(30)
                    self.assertEqual(read_hello(connection)[:2], (CALL, VERSION))
                    connection.sendall(call("n2", "n1") + payload)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(4096):
                        pass
                refused += 1
        self.assertEqual(refused, len(payloads))
        self.assertIsNotNone(self.node.status()["waiting_for"])
        self.node.says("it sends bytes that are not a packet")

    def test_nonsense_is_refused(self):
        connection = self.dialled()
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        kind, _, text = read_hello(connection)
        self.assertEqual((kind, text), (REFUSAL, b"it does not speak baton's protocol"))
        self.assertEqual(connection.recv(100), b"")
        self.node.says("it does not speak baton's protocol")

    def test_who_says_nothing_is_let_go(self):
        connection = self.dialled()
        connection.sendall(hello(CALL, VERSION, bytes(60))[:20])
        self.assertEqual(connection.recv(100), b"")
        self.node.says("it says nothing")

    def test_many_strangers_leave_nothing_behind(self):
        before = self.node.fds()
        for size in range(1, 40):
            connection = self.dialled()
            connection.sendall(hello(HELLO, VERSION, bytes(range(100)))[:size])
            connection.close()
        until("all are gone", lambda: self.node.fds() <= before)
        self.assertIsNotNone(self.node.status()["waiting_for"])


class Restarts(unittest.TestCase):
    def test_two_nodes_with_one_name(self):
        """The second cannot join while the first is there, and does not disturb anybody."""
        with Cluster(3) as cluster:
            port = free_port()
            second = Node(cluster.folder, "n2", ["--listen", f"127.0.0.1:{port}", "--join", f"127.0.0.1:{cluster.ports[0]}"])
            second.socket += ".second.sock"
            second.log_path += ".second"
            second.start()
            try:
                until("it has met the cluster", lambda: "belongs to the cluster" in second.log())
                with second.client() as client:
                    self.assertIsInstance(client.call("LOCK", "x", "TIMEOUT", 4000), Wrong)
                with cluster[0].client() as client:
                    self.assertGreater(client.call("LOCK", "x"), 0)
                addresses = {member["name"]: member["address"] for member in cluster[0].status()["members"]}
                self.assertEqual(addresses["n2"], f"127.0.0.1:{cluster.ports[1]}")
            finally:
                self.assertEqual(second.end(), 0)

    def test_two_processes_with_one_folder(self):
        with Cluster(2) as cluster:
            second = Node(cluster.folder, "n1", cluster[0].options)
            second.socket += ".second.sock"
            second.log_path += ".second"
            second.start()
            self.assertEqual(second.wait(), 1)
            self.assertIn("is in use by another process", second.log())
            self.assertEqual(cluster[0].status()["waiting_for"], None)

    def test_when_all_restart_fences_go_on(self):
        for count in (1, 3):
            with self.subTest(count=count), Cluster(count) as cluster:
                last = 0
                for _ in range(3):
                    for node in cluster:
                        with node.client() as client:
                            for _ in range(100):
                                fence = client.call("LOCK", "for ever")
                                self.assertGreater(fence, last)
                                last = fence
                                client.call("UNLOCK", "for ever")
                    for node in cluster:
                        self.assertEqual(node.end(), 0)
                    cluster.start()

    def test_fences_go_on_from_the_first_version(self):
        """The epoch of the first version is in the data folder. That version granted epoch * 2^34 + counter."""
        with Cluster(1) as cluster:
            cluster[0].end()
            cluster[0].options += ["--data", cluster.folder, "--listen", f"127.0.0.1:{free_port()}"]
            with open(f"{cluster.folder}/epoch", "w", encoding="ascii") as file:
                file.write("400000\n")
            cluster.start()
            with cluster[0].client() as client:
                self.assertGreater(client.call("LOCK", "x"), 400001 << 34)

    def test_an_epoch_of_the_first_version_that_cannot_be_read_is_not_passed_over(self):
        with Cluster(1) as cluster:
            cluster[0].end()
            cluster[0].options += ["--data", cluster.folder, "--listen", f"127.0.0.1:{free_port()}"]
            for text in ("", "soon\n", "-3\n", "0\n", "524287\n", "99999999999999999999999\n"):
                with open(f"{cluster.folder}/epoch", "w", encoding="ascii") as file:
                    file.write(text)
                cluster[0].start()
                self.assertEqual(cluster[0].wait(), 1, text)
                cluster[0].says("does not hold an epoch from 1 to 524286")
            os.unlink(f"{cluster.folder}/epoch")
            cluster.start()


if __name__ == "__main__":
    unittest.main()
