"""Nodes that must not talk to each other say so, on both sides, in a line that tells what to do; and restarts."""
import os
import random
import signal
import socket
import struct
import unittest

from cluster import Cluster, Node, free_port, until
from resp import Wrong

HELLO, REFUSAL = 1, 2
VERSION = 2 # the version of the handshake


def hello(kind, version, body=b""):
    """Makes the first record of a connection, by hand."""
    record = bytes([kind]) + b"baton" + struct.pack("<I", version) + body
    return struct.pack("<I", len(record)) + record


def read_hello(connection):
    """Returns (type, version, body) of the other side's first record."""
    data = b""
    while len(data) < 4 or len(data) < 4 + struct.unpack("<I", data[:4])[0]:
        more = connection.recv(4096)
        assert more, data
        data += more
    assert data[5:10] == b"baton", data
    return data[4], struct.unpack("<I", data[10:14])[0], data[14:4 + struct.unpack("<I", data[:4])[0]]


class Differences(unittest.TestCase):
    """Two nodes that differ in something; n1 dials."""

    def refuse(self, each, refused, asked):
        cluster = Cluster(2, each=lambda index: each[index])
        try:
            for node in cluster:
                node.start()
            cluster[1].says(refused)
            cluster[0].says(asked)
            for node in cluster:
                self.assertIsNotNone(node.status()["waiting_for"])
                with node.client() as client:
                    self.assertIn("NOVIEW", client.call("LOCK", "x"))
        except AssertionError:
            print(cluster.logs())
            raise
        finally:
            cluster.end()

    def test_another_cluster(self):
        text = "n1 is of another cluster than n2 ('two'): see --cluster"
        self.refuse((["--cluster", "one"], ["--cluster", "two"]),
                    f"a connection from 127.0.0.1 is refused: {text}", f"n2: it ends the connection: {text}")

    def test_another_algorithm(self):
        text = "n1 and n2 differ in --peers, --algorithm, --topology, --param or --lease"
        self.refuse((["--algorithm", "neilsen"], ["--algorithm", "raymond"]), text, text)

    def test_another_topology(self):
        text = "n1 and n2 differ in --peers, --algorithm, --topology, --param or --lease"
        self.refuse((["--algorithm", "neilsen", "--topology", "line"],
                     ["--algorithm", "neilsen", "--topology", "star"]), text, text)

    def test_another_parameter(self):
        text = "n1 and n2 differ in --peers, --algorithm, --topology, --param or --lease"
        self.refuse((["--algorithm", "suzuki-kasami-b", "--param", "L=3"],
                     ["--algorithm", "suzuki-kasami-b", "--param", "L=4"]), text, text)

    def test_other_peers(self):
        cluster = Cluster(2, peers_of=lambda cluster, index: cluster.peers() + (
            f",n3=127.0.0.1:{free_port()}" if index == 0 else ""))
        text = "n1 and n2 differ in --peers, --algorithm, --topology, --param or --lease"
        try:
            for node in cluster:
                node.start()
            for node in cluster:
                node.says(text)
        finally:
            cluster.end()

    def test_a_wrong_address(self):
        """n1 mistakes n3 for n2."""
        def peers_of(cluster, index):
            ports = list(cluster.ports)
            if index == 0:
                ports[1], ports[2] = ports[2], ports[1]
            return cluster.peers(ports)

        cluster = Cluster(3, peers_of=peers_of)
        try:
            for node in cluster:
                node.start()
            cluster[2].says("this is n3, and n1 looks for n2: see --peers")
            cluster[0].says("n2: it ends the connection: this is n3, and n1 looks for n2: see --peers")
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
        connection = self.dialled()
        connection.sendall(hello(HELLO, 99, b"whatever comes then"))
        kind, version, text = read_hello(connection)
        self.assertEqual((kind, version), (REFUSAL, VERSION))
        self.assertIn(f"the other side speaks version 99 of the protocol, this one {VERSION}", text.decode())
        self.node.says(f"speaks version 99 of the protocol, this one {VERSION}")

        with socket.create_server(("127.0.0.1", self.cluster.ports[1])) as listener:
            listener.settimeout(30)
            answered, _ = listener.accept()
            with answered:
                self.assertEqual(read_hello(answered)[:2], (HELLO, VERSION))
                answered.sendall(hello(HELLO, 7))
                kind, _, text = read_hello(answered)
            self.assertEqual(kind, REFUSAL)
            self.node.says(f"n2: the other side speaks version 7 of the protocol, this one {VERSION}")
            answered, _ = listener.accept()
            with answered:
                read_hello(answered)
                answered.sendall(hello(REFUSAL, 8, b"I am too new\x1b[2J for you"))
            self.node.says("n2: it ends the connection: I am too new?[2J for you")

    def test_a_peer_that_talks_nonsense_after_its_hello_does_no_harm(self):
        chance = random.Random(1)
        payloads = [chance.randbytes(chance.randrange(1, 300)) for _ in range(15)]
        for kind in range(8): # whole records of every type, with any body
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
                    kind, version, body = read_hello(connection)
                    self.assertEqual((kind, version), (HELLO, VERSION))
                    # n1 sends cluster, setup, its incarnation, ours as it knows it, the last frame it received, its name, ours.
                    cluster, setup, _, known, _ = struct.unpack("<5Q", body[:40])
                    numbers = struct.pack("<5Q", cluster, setup, known or 12345, 0, 0)
                    connection.sendall(hello(HELLO, VERSION, numbers + b"\x02n2\x02n1") + payload)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(4096):
                        pass
                refused += 1
        self.assertEqual(refused, len(payloads))
        self.assertIsNotNone(self.node.status()["waiting_for"])
        self.node.says("n2: a record of type")

    def test_nonsense_is_refused(self):
        connection = self.dialled()
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        kind, _, text = read_hello(connection)
        self.assertEqual((kind, text), (REFUSAL, b"it does not speak baton's protocol"))
        self.assertEqual(connection.recv(100), b"")
        self.node.says("it does not speak baton's protocol")

    def test_who_says_nothing_is_let_go(self):
        connection = self.dialled()
        connection.sendall(hello(HELLO, VERSION, bytes(60))[:20])
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
        with Cluster(3) as cluster:
            second = Node(cluster.folder, "n2", ["--listen", f"127.0.0.1:{free_port()}", "--peers", cluster.peers()])
            second.socket += ".second.sock"
            second.log_path += ".second"
            second.start()
            try:
                text = "another process is connected as n2 already: two nodes with one name?"
                second.says(f"n3: it ends the connection: {text}")
                cluster[2].says(text)
                self.assertIsNotNone(second.status()["waiting_for"])
                with cluster[0].client() as client:
                    self.assertGreater(client.call("LOCK", "x"), 0)
            finally:
                self.assertEqual(second.end(), 0)

    def test_a_node_that_comes_back_is_refused_and_its_locks_stay_closed(self):
        with Cluster(3) as cluster:
            holder, other = cluster[1].client(), cluster[0].client()
            holder.call("LOCK", "taken along")
            cluster[1].signal(signal.SIGKILL)
            holder.close()
            other.send("LOCK", "taken along")
            cluster[1].start()
            text = "n2 restarted; this version cannot take it back: restart every node"
            cluster[1].says(f"a connection from 127.0.0.1 is refused: {text}") # n1's
            cluster[0].says(f"n2: it ends the connection: {text}")
            cluster[1].says(f"n3: it ends the connection: {text}")
            cluster[2].says(f"a connection from 127.0.0.1 is refused: {text}")
            self.assertTrue(other.quiet(0.5))
            with cluster[1].client() as client:
                self.assertIsInstance(client.call("LOCK", "taken along", "NOWAIT"), Wrong)
            other.close()
            self.assertIn("n2", cluster[0].status()["silent"])

    def test_when_all_restart_fences_go_on(self):
        for count in (1, 3):
            with self.subTest(count=count), Cluster(count) as cluster:
                last = 0
                for _ in range(4):
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

    def test_the_epoch_is_kept_where_data_is(self):
        with Cluster(1) as cluster:
            cluster[0].end()
            cluster[0].options += ["--data", cluster.folder]
            with open(f"{cluster.folder}/epoch", "w", encoding="ascii") as file:
                file.write("400000\n")
            cluster.start()
            self.assertEqual(cluster[0].status()["epoch"], 400001)
            cluster[0].end()
            cluster.start()
            self.assertEqual(cluster[0].status()["epoch"], 400002)

    def test_data_knows_when_the_clock_goes_back_within_the_hour(self):
        with Cluster(1) as cluster:
            cluster[0].end()
            cluster[0].options += ["--data", cluster.folder]
            cluster.start()
            path = f"{cluster.folder}/epoch"
            with open(path, encoding="ascii") as file:
                epoch, floor = map(int, file.read().split())
            self.assertEqual(cluster[0].status()["epoch"], epoch)
            cluster[0].end()
            with open(path, "w", encoding="ascii") as file:
                file.write(f"{epoch} {(1 << 34) - 1}\n") # as if it had started in the last moment of the hour
            cluster.start()
            self.assertGreater(cluster[0].status()["epoch"], epoch)
            self.assertLess(floor, 1 << 34)

    def test_data_that_holds_no_epoch_is_not_passed_over(self):
        with Cluster(1) as cluster:
            cluster[0].end()
            cluster[0].options += ["--data", cluster.folder]
            for text in ("", "soon\n", "-3\n", "0\n", "524287\n", "99999999999999999999999\n"):
                with open(f"{cluster.folder}/epoch", "w", encoding="ascii") as file:
                    file.write(text)
                cluster[0].start()
                self.assertEqual(cluster[0].wait(), 1, text)
                cluster[0].says("does not hold an epoch from 1 to 524286")
            os.unlink(f"{cluster.folder}/epoch")
            cluster.start()

    def test_the_epoch_has_a_floor(self):
        with Cluster(2, each=lambda index: ["--epoch-floor", "500000"] if index == 1 else []) as cluster:
            self.assertEqual([node.status()["epoch"] for node in cluster], [500000, 500000])


if __name__ == "__main__":
    unittest.main()
