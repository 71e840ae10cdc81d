"""Descriptors: those that clients send to a node, and the one that a node sends to its clients."""
import array
import signal
import socket
import struct
import time
import unittest

from cluster import LONG_LEASE, Cluster
from resp import Client, Closed

# The last close of a socket that is sent takes this long. A node that is not blocked by it answers sooner, however slow the
# machine is.
LINGER_S = 40
SOON_S = LINGER_S / 2


class Lingering:
    """A TCP socket whose last close waits for its peer, which does not read."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.socket = socket.create_connection(listener.getsockname())
            self.peer, _ = listener.accept()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, LINGER_S))
        self.socket.setblocking(False)
        try:
            while True:
                self.socket.send(b"x" * (1 << 16))
        except BlockingIOError:
            pass

    def sent_with(self, connection, data, flags=0):
        """Sends the socket, and closes it here: only the message has it. Returns False if the kernel refuses this, as it may
        since Linux 6.16."""
        try:
            connection.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [self.socket.fileno()]))], flags)
        except PermissionError:
            # Now the close here need not wait for the peer.
            self.peer.close()
            return False
        finally:
            self.socket.close()
        return True


class Sent(unittest.TestCase):
    """A client sends a descriptor whose last close takes long. Nobody else waits for that."""

    def lingering(self):
        lingering = Lingering()
        self.addCleanup(lingering.peer.close)
        return lingering

    def cluster(self, *options):
        return self.enterContext(Cluster(1, *LONG_LEASE, *options))

    def admitted(self, node):
        """Returns a client for which there is room, as soon as the node has noticed that earlier ones are gone."""
        for _ in range(1000):
            client = node.client()
            if client.call("PING") == "PONG":
                return client
            client.close()
            time.sleep(0.01)
        self.fail("there is no room")

    def nobody_waits(self, other):
        began = time.monotonic()
        self.assertEqual(other.call("PING"), "PONG")
        self.assertLess(time.monotonic() - began, SOON_S)

    def test_with_a_command(self):
        for flags, data in ((0, b"PING\r\n"), (socket.MSG_OOB, b"!")):
            with self.subTest(flags=flags):
                cluster = self.cluster()
                with cluster[0].client() as other, cluster[0].client() as client:
                    if self.lingering().sent_with(client.socket, data, flags):
                        self.nobody_waits(other)
                        self.assertEqual(client.read(), "ERR a node takes no descriptors (SCM_RIGHTS)")
                        self.assertRaises(Closed, client.read)
                        cluster[0].says("a client was refused: it sends descriptors: uid ")
                    self.nobody_waits(other)

    def test_several_after_each_other(self):
        cluster = self.cluster()
        with cluster[0].client() as other:
            for _ in range(20):
                with cluster[0].client() as client:
                    if self.lingering().sent_with(client.socket, b"PING\r\n"):
                        self.assertEqual(client.read(), "ERR a node takes no descriptors (SCM_RIGHTS)")
                    self.nobody_waits(other)

    def test_unread_when_the_connection_ends(self):
        cluster = self.cluster()
        with cluster[0].client() as other, cluster[0].client() as client:
            # The node reads the first bytes, which are no command, and none of the others.
            cluster[0].process.send_signal(signal.SIGSTOP)
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            client.send_bytes(b"*1\r\n$x\r\n" + b"y" * 70000)
            self.lingering().sent_with(client.socket, b"PING\r\n")
            cluster[0].process.send_signal(signal.SIGCONT)
            self.assertIn("ERR Protocol error", client.read())
            self.assertRaises(Closed, client.read)
            self.nobody_waits(other)

    def test_by_a_client_that_is_refused(self):
        cluster = self.cluster("--max-user-clients", "1")
        with self.admitted(cluster[0]) as other:
            for _ in range(12):
                cluster[0].process.send_signal(signal.SIGSTOP)
                with cluster[0].client() as client:
                    self.lingering().sent_with(client.socket, b"PING\r\n")
                    cluster[0].process.send_signal(signal.SIGCONT)
                    self.nobody_waits(other)

    def test_to_a_node_that_ends(self):
        cluster = Cluster(1, *LONG_LEASE).start()
        self.addCleanup(cluster.clear)
        with cluster[0].client() as client:
            self.lingering().sent_with(client.socket, b"PING\r\n")
            with Client(cluster[0].socket) as other:
                self.nobody_waits(other)
            began = time.monotonic()
            self.assertEqual(cluster[0].end(), 0)
            self.assertLess(time.monotonic() - began, SOON_S)


if __name__ == "__main__":
    unittest.main()
