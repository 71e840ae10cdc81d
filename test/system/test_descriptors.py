"""Descriptors: those that clients send to a node, and the one that a node sends to its clients."""
import array
import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import unittest

from baton import BATON
from cluster import LONG_LEASE, Cluster, until
from resp import Client, Closed, encode

# The last close of a socket that is sent takes this long. A node that is not blocked by it answers sooner, however slow the
# machine is.
LINGER_S = 40
SOON_S = LINGER_S / 2


def unread(connection):
    """Returns how many bytes have arrived and are still unread."""
    return struct.unpack("i", fcntl.ioctl(connection, termios.FIONREAD, b"\0" * 4))[0]


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

    def sent_with(self, node, connection, data, flags=0, first=b""):
        """Sends the socket, and closes it here, while the node is stopped: its last close is that of the node. Returns False if the
        kernel refuses this, as it may since Linux 6.16."""
        node.process.send_signal(signal.SIGSTOP)
        try:
            connection.sendall(first)
            connection.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [self.socket.fileno()]))], flags)
        except PermissionError:
            # Now the close here need not wait for the peer.
            self.peer.close()
            return False
        finally:
            self.socket.close()
            node.process.send_signal(signal.SIGCONT)
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
                    if self.lingering().sent_with(cluster[0], client.socket, data, flags):
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
                    if self.lingering().sent_with(cluster[0], client.socket, b"PING\r\n"):
                        self.assertEqual(client.read(), "ERR a node takes no descriptors (SCM_RIGHTS)")
                    self.nobody_waits(other)

    def test_unread_when_the_connection_ends(self):
        cluster = self.cluster()
        with cluster[0].client() as other, cluster[0].client() as client:
            # The node reads the first bytes, which are no command, and none of the others.
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            self.lingering().sent_with(cluster[0], client.socket, b"PING\r\n", first=b"*1\r\n$x\r\n" + b"y" * 70000)
            self.assertIn("ERR Protocol error", client.read())
            self.assertRaises(Closed, client.read)
            self.nobody_waits(other)

    def test_by_a_client_that_is_refused(self):
        cluster = self.cluster("--max-user-clients", "1")
        with self.admitted(cluster[0]) as other:
            sent = [self.lingering() for _ in range(12)]
            for lingering in sent:
                cluster[0].process.send_signal(signal.SIGSTOP) # so that it does not refuse the client too early
                with cluster[0].client() as client:
                    lingering.sent_with(cluster[0], client.socket, b"PING\r\n")
                    self.nobody_waits(other)
            for lingering in sent:
                lingering.peer.close()
            # Now all of them are closed, and others are answered again.
            with cluster[0].client() as client:
                self.assertIn("too many clients of this user", client.read())

    def test_to_a_node_that_ends(self):
        cluster = Cluster(1, *LONG_LEASE).start()
        self.addCleanup(cluster.clear)
        with cluster[0].client() as client:
            self.lingering().sent_with(cluster[0], client.socket, b"PING\r\n")
            with Client(cluster[0].socket) as other:
                self.nobody_waits(other)
            began = time.monotonic()
            self.assertEqual(cluster[0].end(), 0)
            self.assertLess(time.monotonic() - began, SOON_S)


# The kernel counts descriptors that are on the way only for users without capabilities.
@unittest.skipIf(os.geteuid() != 0, "needs root, to start a node as another user")
class Words(unittest.TestCase):
    """The descriptor of the lease word is on the way until a client receives it. The kernel allows a user without capabilities
    as many of these as it may have open."""
    UID = 54321
    LIMIT = 200

    # Sends more descriptors to itself than the node may have on the way, then waits for the end of its input.
    FILL = """
import array, socket, sys
here, there = socket.socketpair()
for _ in range(3):
    here.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 100))])
print("full", flush=True)
sys.stdin.read()
"""

    def as_user(self, limit):
        return ["prlimit", f"--nofile={limit}:{limit}", "setpriv", f"--reuid={self.UID}", f"--regid={self.UID}", "--clear-groups",
                "--inh-caps=-all", "--bounding-set=-all"]

    def setUp(self):
        # Everybody may connect, because there is a rule.
        self.cluster = Cluster(1, *LONG_LEASE, "--allow", "* lock,status uid:0")
        self.addCleanup(self.cluster.clear)
        self.node = self.cluster[0]
        os.chmod(self.cluster.folder, 0o755)
        os.chown(self.cluster.folder, self.UID, self.UID)
        self.node.prefix = self.as_user(self.LIMIT)
        self.cluster.start()

    def run_works(self):
        run = subprocess.run([BATON, "run", "-S", self.node.socket, "x", "true"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_a_client_that_does_not_receive_them_harms_nobody(self):
        self.run_works()
        clients = [self.enterContext(self.node.client()) for _ in range(8)]
        for _ in range(self.LIMIT // 4):
            for client in clients:
                before = unread(client.socket)
                client.send("CLIENT", "LEASES", "WORD")
                until("the reply has come", lambda client=client, before=before: unread(client.socket) > before, 10)
        self.run_works()

    def test_the_second_reply_has_none(self):
        with self.node.client() as client:
            for expected in (1, 0, 0):
                client.send_bytes(encode("CLIENT", "LEASES", "WORD"))
                data, got, _, _ = socket.recv_fds(client.socket, 100, 10)
                self.assertEqual(len(got), expected)
                self.assertTrue(re.fullmatch(rb"\*2\r\n:\d+\r\n:\d+\r\n", data), data)
                for descriptor in got:
                    os.close(descriptor)

    def test_if_there_are_too_many_clients_ask(self):
        with subprocess.Popen([*self.as_user(2000), sys.executable, "-c", self.FILL], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as filler:
            self.assertEqual(filler.stdout.readline(), b"full\n")
            self.run_works()
            self.node.says("the lease word cannot be passed to a client: Too many references: cannot splice: clients ask")
            filler.stdin.close()
        self.run_works()


if __name__ == "__main__":
    unittest.main()
