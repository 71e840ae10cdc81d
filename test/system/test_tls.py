"""Nodes with TLS: a stranger that cannot prove who it is gets a refusal, both sides say why, and the others notice nothing."""
import contextlib
import os
import re
import select
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from baton import BATON, baton
from certificates import Certificates
from cluster import SANITIZED, Cluster, Node, free_port, until
from handshake import CALL, REFUSAL, call, charter_of, read_hello


class TlsTest(unittest.TestCase):
    """All tests of a class share one folder with certificates."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="baton-test-tls-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.certificates = Certificates(os.path.join(cls.folder, "pki"))
        cls.others = Certificates(os.path.join(cls.folder, "other"))

    def cluster(self, count, *options):
        return Cluster(count, *options, each=lambda index: self.certificates.options(f"n{index + 1}"))


class Strangers(TlsTest):
    """Connects by hand to a node of a running cluster. Afterwards the cluster still serves, and has lost no member."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.nodes = Cluster(3, each=lambda index: cls.certificates.options(f"n{index + 1}"))
        cls.nodes.start()
        cls.addClassCleanup(cls.nodes.end)
        cls.node = cls.nodes[0]
        cls.epoch = cls.node.status()["epoch"]

    def tearDown(self):
        status = self.node.status()
        self.assertEqual((status["epoch"], status["waiting_for"], len(status["members"])), (self.epoch, None, 3), self.nodes.logs())
        with self.nodes[1].client() as client:
            self.assertGreater(client.call("LOCK", "x"), 0)

    def dial(self):
        connection = socket.create_connection(("127.0.0.1", self.nodes.ports[0]), 30)
        self.addCleanup(connection.close)
        return connection

    def secure(self, pair, **more):
        connection = self.certificates.context(pair, **more).wrap_socket(self.dial())
        self.addCleanup(connection.close)
        return connection

    def alert(self, pair, **more):
        """Connects and reads. Returns the alert with which the node refuses."""
        with self.assertRaises(ssl.SSLError) as raised:
            connection = self.secure(pair, **more)
            connection.sendall(call("n9", "n1"))
            while connection.recv(4096):
                pass
        return str(raised.exception)

    def test_no_certificate(self):
        self.assertIn("CERTIFICATE_REQUIRED", self.alert(None))
        self.node.says("it has no certificate")

    def test_another_ca(self):
        self.assertIn("UNKNOWN_CA", self.alert(self.others.make("node", "n9")))
        self.node.says("its certificate is not signed by this cluster's CA")

    def test_expired(self):
        self.assertIn("CERTIFICATE_EXPIRED", self.alert(self.certificates.odd("old", "n9", end="20210101000000Z")))
        self.node.says("its certificate has expired")

    def test_not_yet_valid(self):
        self.assertIn("BAD_CERTIFICATE", self.alert(self.certificates.odd("new", "n9", start="20390101000000Z")))
        self.node.says("its certificate is not valid yet")

    def test_tls_1_2(self):
        old = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2)
        self.assertIn("PROTOCOL_VERSION", self.alert(self.certificates.make("node", "n9"), versions=old))
        self.node.says("it speaks an old version of TLS; 1.3 is needed")

    def refusal(self, pair, record):
        """Sends something after the handshake. Returns the text of the node's refusal."""
        connection = self.secure(pair)
        connection.sendall(record)
        kind, _, text = read_hello(connection)
        self.assertEqual(kind, REFUSAL)
        return text.decode()

    def test_a_clients_certificate_is_no_nodes(self):
        text = self.refusal(self.certificates.make("client", "backup"), call("backup", "n1"))
        self.assertIn("it connects to a port for nodes with a client's certificate", text)
        self.node.says("with a client's certificate")

    def test_a_certificate_without_a_role(self):
        pair = self.certificates.odd("web", "n9", uri="https://")
        with self.assertRaises((ssl.SSLError, ConnectionError, OSError)):
            self.assertEqual(self.secure(pair).recv(100), b"")
            raise ConnectionError
        self.node.says("its certificate says neither baton:node:NAME nor baton:client:NAME")

    def test_another_nodes_name(self):
        text = self.refusal(self.certificates.make("node", "n9"), call("n2", "n1"))
        self.assertIn("its certificate is for another name", text)
        self.node.says("n2, 127.0.0.1: its certificate is for another name")

    def test_packets_in_another_members_name(self):
        """A node with a good certificate may call. But it cannot ask or vote in the name of another."""
        extend = lambda process: bytes([2, process, 1, 1]) # of epoch 1, up to 1
        letter = lambda server: bytes([1, server]) + bytes(8)
        for kind, packet, good in ((1, extend(5), True), (1, extend(6), False), (3, letter(7), None), (3, letter(8), False)):
            connection = self.secure(self.certificates.make("node", "n9"))
            connection.sendall(call("n9", "n1"))
            charter = charter_of(read_hello(connection)[2])
            connection.close()
            connection = self.secure(self.certificates.make("node", "n9"))
            connection.sendall(call("n9", "n1", charter))
            self.assertEqual(read_hello(connection)[0], CALL)
            connection.sendall(struct.pack("<IBB", 2 + len(packet), 7, kind) + packet)
            connection.settimeout(0.5 if good is not False else 30)
            try:
                while connection.recv(4096):
                    pass
                ended = True
            except TimeoutError:
                ended = False
            self.assertEqual(ended, good is False, (kind, packet))
        self.node.says("it sends a malformed packet")

    def test_without_tls(self):
        connection = self.dial()
        connection.sendall(call("n2", "n1"))
        kind, _, text = read_hello(connection)
        self.assertEqual(kind, REFUSAL)
        self.assertIn(b"it connects without TLS, which this node requires", text)
        self.assertEqual(connection.recv(100), b"")
        self.node.says("it connects without TLS")

    def test_one_byte_at_a_time(self):
        """A handshake has one second in all, even if bytes keep arriving."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        shaking = self.certificates.context(self.certificates.make("node", "n9")).wrap_bio(incoming, outgoing)
        with self.assertRaises(ssl.SSLWantReadError):
            shaking.do_handshake()
        connection, begun = self.dial(), time.monotonic()
        try:
            for byte in outgoing.read():
                connection.sendall(bytes([byte]))
                connection.settimeout(0.2)
                try:
                    if connection.recv(1) == b"":
                        break
                except TimeoutError:
                    pass
        except ConnectionError:
            pass
        self.assertLess(time.monotonic() - begun, 20)
        self.node.says("127.0.0.1: its TLS handshake takes too long")

    def test_malformed_and_oversized_records(self):
        record_overflow, unexpected_message = (b"\x15\x03\x03\x00\x02\x02" + code for code in (b"\x16", b"\x0a"))
        slow = "its TLS handshake takes too long"
        for bytes_sent, alert, line in (
                (b"\x16\x03\x01\xff\xff" + bytes(1 << 16), record_overflow, "TLS fails: packet length too long"),
                (b"\x16\x03\x03\x00\x00", b"", slow),
                (b"\x17\x03\x03\x00\x05hello", unexpected_message, "TLS fails: unexpected message"),
                (b"\x16\x03\x01\x00\x20" + b"\xff" * 32, unexpected_message, "TLS fails: unexpected message"),
                (b"\x15\x03\x03\x00\x02\x02\x28", unexpected_message, "TLS fails: unexpected message"),
                (b"\x16\x03\x01\x40\x00" + b"\x01\x00\xff\xff" + bytes(16380) + b"\x16\x03\x01\x40\x00" + bytes(16384), b"", slow)):
            connection, answer = self.dial(), b""
            try:
                connection.sendall(bytes_sent)
                while data := connection.recv(4096):
                    answer += data
            except ConnectionError:
                pass
            self.assertEqual(answer, alert, bytes_sent[:12])
            self.node.says("127.0.0.1: " + line)
        connection = self.secure(self.certificates.make("node", "n9")) # after the handshake
        raw = socket.socket(fileno=os.dup(connection.fileno()))
        self.addCleanup(raw.close)
        raw.sendall(b"\x17\x03\x03\x00\x40" + bytes(64))
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            while connection.recv(4096):
                pass
            raise ConnectionError
        self.node.says("TLS fails: ")

    def test_what_was_recorded_on_the_wire(self):
        """Sends a record twice; and then the same bytes on a new connection."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        shaking = self.certificates.context(self.certificates.make("node", "n9")).wrap_bio(incoming, outgoing)
        connection, recorded = self.dial(), []

        def send(data):
            recorded.append(data)
            connection.sendall(data)

        def finish(work):
            """Does some work that needs bytes of the node."""
            while True:
                try:
                    done = work()
                    send(outgoing.read())
                    return done
                except ssl.SSLWantReadError:
                    send(outgoing.read())
                    incoming.write(connection.recv(65536))

        finish(shaking.do_handshake)
        shaking.write(call("n9", "n1"))
        self.assertEqual(finish(lambda: shaking.read(4096))[4], CALL)
        send(next(data for data in reversed(recorded) if data))
        with self.assertRaisesRegex(ssl.SSLError, "BAD_RECORD_MAC"):
            finish(lambda: shaking.read(4096))
        self.node.says("TLS fails: decryption failed or bad record mac")
        again, answer = self.dial(), b""
        again.sendall(b"".join(recorded))
        while data := again.recv(65536):
            answer += data
        # The node has begun a handshake with other keys. Its last record has the size of an alert.
        self.assertEqual(answer[-24:-19], b"\x17\x03\x03\x00\x13")

    def test_a_flood_of_half_open_connections(self):
        before = self.node.fds()
        flood = [self.dial() for _ in range(300)]
        for connection in flood[:150]:
            connection.sendall(b"\x16\x03\x01\x02\x00\x01")
        with self.node.client() as client: # the node's own clients notice nothing
            self.assertGreater(client.call("LOCK", "y"), 0)
        until("all are closed", lambda: self.node.fds() <= before + 4)
        self.node.says("127.0.0.1: too many connections that do not show who they are: the oldest ones are closed")
        self.assertRegex(self.node.log(), "127.0.0.1: (its TLS handshake takes too long|it says nothing about itself)")
        for connection in flood:
            connection.close()
        connection = self.secure(self.certificates.make("node", "n9"))
        connection.sendall(call("n9", "n1"))
        self.assertEqual(read_hello(connection)[0], CALL)


class Flood:
    """Strangers hold 600 silent connections to a port, from an address of their own. Whenever one is closed, another comes."""

    def __init__(self, port):
        self.port, self.count, self.ended = port, 0, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def dial(self):
        connection = socket.socket()
        connection.setblocking(False)
        connection.bind(("127.0.0.9", 0))
        connection.connect_ex(("127.0.0.1", self.port))
        self.count += 1
        return connection

    def run(self):
        poll, flood = select.poll(), {}
        while not self.ended.wait(0.02):
            for fd, event in poll.poll(0):
                if event & (select.POLLIN | select.POLLHUP | select.POLLERR):
                    poll.unregister(fd)
                    flood.pop(fd).close()
            for _ in range(min(6 if SANITIZED else 30, 600 - len(flood))): # a sanitizer makes the node slow
                connection = self.dial()
                flood[connection.fileno()] = connection
                poll.register(connection, select.POLLIN)
        for connection in flood.values():
            connection.close()

    def __enter__(self):
        self.thread.start()
        until("many have come", lambda: self.count > 900)
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


class Clients(TlsTest):
    """Tests clients over TCP."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.port = free_port()
        cls.nodes = Cluster(1, "--clients", f"127.0.0.1:{cls.port}", *cls.certificates.options("n1"))
        cls.nodes.start()
        cls.addClassCleanup(cls.nodes.end)
        cls.node = cls.nodes[0]

    def dial(self):
        connection = socket.create_connection(("127.0.0.1", self.port), 30)
        self.addCleanup(connection.close)
        return connection

    def ask(self, pair, *lines, **more):
        """Sends lines, closes its side, and returns everything that the node answers."""
        with self.certificates.context(pair, **more).wrap_socket(self.dial()) as connection:
            for line in lines:
                connection.sendall(line.encode() + b"\r\n")
            answer = b""
            while data := connection.recv(65536):
                answer += data
        return answer.decode()

    def test_a_client_with_a_certificate_is_served(self):
        backup = self.certificates.make("client", "backup")
        answer = self.ask(backup, "LOCK a", "UNLOCK a", "PING", "QUIT")
        self.assertRegex(answer, r"^:\d+\r\n:1\r\n\+PONG\r\n\+OK\r\n$")
        self.assertEqual(self.ask(backup, *["PING"] * 20000, "QUIT"), "+PONG\r\n" * 20000 + "+OK\r\n")

    def test_what_is_large_arrives_whole(self):
        text = "x" * 300000
        self.assertEqual(self.ask(self.certificates.make("client", "backup"), f"*2\r\n$4\r\nPING\r\n${len(text)}\r\n{text}", "QUIT"),
                         f"${len(text)}\r\n{text}\r\n+OK\r\n")

    def test_a_nodes_certificate_is_no_clients(self):
        self.assertIn("-DENIED this is a node's certificate: 'baton cert client' makes a client's",
                      self.ask(self.certificates.make("node", "n2"), "PING"))

    def test_others_are_refused(self):
        before = self.node.fds()
        for pair, alert in ((None, "CERTIFICATE_REQUIRED"), (self.others.make("client", "backup"), "UNKNOWN_CA"),
                            (self.certificates.odd("late", "backup", end="20210101000000Z", uri="baton:client:"), "CERTIFICATE_EXPIRED")):
            with self.assertRaisesRegex((ssl.SSLError, ConnectionError), alert):
                self.ask(pair, "PING")
        old = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2)
        with self.assertRaisesRegex(ssl.SSLError, "PROTOCOL_VERSION"):
            self.ask(self.certificates.make("client", "backup"), "PING", versions=old)
        self.node.says("a client was refused: tcp 127.0.0.1")
        plain = self.dial()
        plain.sendall(b"PING\r\n")
        self.assertIn(b"-ERR this port needs TLS", plain.recv(1000))
        half = [self.dial() for _ in range(20)]
        for connection in half:
            connection.sendall(b"\x16\x03\x01")
        for connection in half:
            self.assertEqual(connection.recv(100), b"") # the node closes these connections after some seconds
        until("all are gone", lambda: self.node.fds() <= before)

    def served(self, stack, port, source="127.0.0.1"):
        """Connects with a certificate, and returns the answer to a PING, or why there is none."""
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), 30, (source, 0)))
        client = stack.enter_context(self.certificates.context(self.certificates.make("client", "backup")).wrap_socket(connection))
        client.sendall(b"PING\r\n")
        return client.recv(100)

    def test_clients_come_in_through_a_flood_of_strangers(self):
        """The strangers hold more connections than there may be clients."""
        port = free_port()
        options = ["--max-clients", "64", "--clients", f"127.0.0.1:{port}", *self.certificates.options("n1")]
        with Cluster(1, *options) as cluster, Flood(port), contextlib.ExitStack() as stack:
            for source in ["127.0.0.1"] * 5 + ["127.0.0.9"] * 5: # even clients from the address of the flood are served
                self.assertEqual(self.served(stack, port, source), b"+PONG\r\n")
            cluster[0].says("too many clients do not finish the TLS handshake: the oldest ones are closed: tcp 127.0.0.9:")
            self.assertNotIn("closed: tcp 127.0.0.1:", cluster[0].log())

    def test_who_has_too_many_connections_is_told(self):
        port = free_port()
        options = ["--max-user-clients", "1", "--clients", f"127.0.0.1:{port}", *self.certificates.options("n1")]
        with Cluster(1, *options), contextlib.ExitStack() as stack:
            self.assertEqual(self.served(stack, port), b"+PONG\r\n")
            self.assertEqual(self.served(stack, port), b"-ERR too many clients of this user at this node\r\n")


class Nodes(TlsTest):
    """Tests real nodes that do not fit together."""

    def join(self, cluster, name, options):
        node = Node(cluster.folder, name, ["--listen", f"127.0.0.1:{free_port()}", "--join", f"127.0.0.1:{cluster.ports[0]}", *options])
        cluster.nodes.append(node)
        return node.start()

    def test_a_newcomer_with_a_certificate_joins(self):
        with self.cluster(2) as cluster:
            newcomer = self.join(cluster, "n3", self.certificates.options("n3"))
            until("it serves", newcomer.serves)
            with newcomer.client() as one, cluster[0].client() as other:
                self.assertGreater(one.call("LOCK", "x"), 0)
                self.assertIsNone(other.call("LOCK", "x", "NOWAIT"))

    def come_in(self, cluster, tries):
        """A member has a second for its handshake. Under a sanitizer it may need several attempts, as real members have."""
        try:
            connection = socket.create_connection(("127.0.0.1", cluster.ports[0]), 1)
            with self.certificates.context(self.certificates.make("node", "n9")).wrap_socket(connection) as known:
                known.sendall(call("n9", "n1"))
                self.assertEqual(read_hello(known)[0], CALL)
        except OSError:
            if tries == 1:
                raise
            self.come_in(cluster, tries - 1)

    def test_members_come_in_through_a_flood_of_strangers(self):
        with self.cluster(2) as cluster, Flood(cluster.ports[0]) as flood:
            cluster[0].says("127.0.0.9: too many connections that do not show who they are: the oldest ones are closed")
            for _ in range(5):
                self.come_in(cluster, tries=4 if SANITIZED else 1)
            newcomer = self.join(cluster, "n3", [*self.certificates.options("n3"), "--data", cluster.folder + "/n3.data"])
            until("it serves", newcomer.serves)
            self.assertGreater(flood.count, 900)
            for node in cluster:
                self.assertNotIn("127.0.0.1: too many connections", node.log())

    def test_refused_on_both_sides(self):
        with self.cluster(2) as cluster:
            plain = self.join(cluster, "plain", [])
            stranger = self.join(cluster, "n4", self.others.options("n4"))
            trusting = self.join(cluster, "n5", self.others.options("n5", ca=self.both()))
            plain.says("refuses this node: it connects without TLS, which this node requires")
            stranger.says("its certificate is not signed by this cluster's CA")
            cluster[0].says("it refuses our certificate: its CA has not signed it")
            trusting.says("it refuses our certificate: its CA has not signed it")
            cluster[0].says("its certificate is not signed by this cluster's CA")
            self.assertIn("no TLS with 127.0.0.1", trusting.status()["waiting_for"])
            self.assertEqual(len(cluster[0].status()["members"]), 2)

    def both(self):
        path = os.path.join(self.folder, "both.crt")
        with open(path, "wb") as out:
            for pki in (self.certificates, self.others):
                with open(pki.path("ca.crt"), "rb") as file:
                    out.write(file.read())
        return path

    def test_tls_towards_a_cluster_without(self):
        with Cluster(2) as cluster:
            secure = self.join(cluster, "n3", self.certificates.options("n3"))
            cluster[0].says("it uses TLS, and this node does not")
            secure.says("it does not use TLS, which this node requires")
            self.assertEqual(len(cluster[0].status()["members"]), 2)

    def test_a_wire_of_one_byte_a_second(self):
        """Both sides give the handshake up, and say so."""
        with self.cluster(2) as cluster, socket.create_server(("127.0.0.1", 0)) as wire:
            epoch = cluster[0].status()["epoch"]
            newcomer = Node(cluster.folder, "n3", ["--listen", f"127.0.0.1:{free_port()}", "--join",
                                                   f"127.0.0.1:{wire.getsockname()[1]}", *self.certificates.options("n3")])
            cluster.nodes.append(newcomer)
            newcomer.start()
            slow, _ = wire.accept()
            with slow, socket.create_connection(("127.0.0.1", cluster.ports[0]), 30) as far:
                far.sendall(slow.recv(6)) # enough to see that this is TLS
                try:
                    while True:
                        far.sendall(slow.recv(1))
                        far.settimeout(1)
                        try:
                            if far.recv(1) == b"":
                                break
                        except TimeoutError:
                            pass
                except ConnectionError:
                    pass
            newcomer.says(f"127.0.0.1:{wire.getsockname()[1]}: its TLS handshake takes too long")
            cluster[0].says("127.0.0.1: its TLS handshake takes too long")
            self.assertEqual((cluster[0].status()["epoch"], len(cluster[0].status()["members"])), (epoch, 2))

    def test_a_removed_member_stays_out(self):
        with self.cluster(3, "--lease", "1s") as cluster:
            with cluster[0].client() as client:
                client.call("MEMBER", "REMOVE", "n3")
            until("it is gone", lambda: len(cluster[0].status()["members"]) == 2)
            cluster[2].end()
            cluster[2].start()
            until("it is told", lambda: cluster[2].log().count("an operator, who has removed this node") > 1)
            line = r"n3, 127\.0\.0\.1.*: an operator has removed it: it stays out until 'baton member invite' names it"
            until(lambda: "another says so: " + cluster.logs(), lambda: any(re.search(line, cluster[index].log()) for index in range(2)))
            self.assertEqual(len(cluster[0].status()["members"]), 2)

    def test_wrong_files_are_refused_at_the_start(self):
        good = self.certificates.options("n1")
        client, client_key = self.certificates.make("client", "backup")
        old, old_key = self.certificates.odd("past", "n1", end="20210101000000Z")
        ca = self.certificates.path("ca.crt")
        huge, huge_key = self.certificates.odd("huge", "n1", more="".join(f",DNS:n{i}.a.long.example" for i in range(900)))
        for options, text in ((good[:4], "--tls-cert: --tls-key is needed too"), (good[2:], "--tls-ca is needed too"),
                              (["--tls-ca", "/none", *good[2:]], "--tls-ca '/none': No such file"),
                              (["--tls-ca", good[5], *good[2:]], "--tls-ca"), ([*good[:4], "--tls-key", client_key], "--tls-key"),
                              (["--tls-ca", ca, "--tls-cert", client, "--tls-key", client_key],
                               "it is for the client 'backup', and this is the node 'n1': 'baton cert node n1'"),
                              (self.certificates.options("n2"), "it is for the node 'n2', and this is the node 'n1'"),
                              (["--tls-ca", ca, "--tls-cert", old, "--tls-key", old_key], "certificate has expired"),
                              (["--tls-ca", self.others.path("ca.crt"), *good[2:]], "this CA has not signed the certificate"),
                              (["--tls-ca", self.folder, *good[2:]], f"--tls-ca '{self.folder}' is not a regular file"),
                              ([*good[:3], self.folder, *good[4:]], f"--tls-cert '{self.folder}' is not a regular file"),
                              ([*good[:5], self.folder], f"--tls-key '{self.folder}' is not a regular file"),
                              ([*good[:3], self.certificates.path("settings"), *good[4:]], "settings': the file has no certificate in PEM"),
                              (["--tls-ca", ca, "--tls-cert", huge, "--tls-key", huge_key], "and others accept only ")):
            cluster = Cluster(1, *options)
            try:
                cluster[0].start()
                self.assertEqual(cluster[0].wait(), 2, (options, cluster.logs()))
                self.assertIn(text, cluster[0].log())
            finally:
                cluster.clear()

    def test_reload_on_sighup_drops_no_link(self):
        """Another CA replaces the first, node by node, while a client holds a lock."""
        folder = tempfile.mkdtemp(dir=self.folder)
        files = {}
        for name in ("n1", "n2"):
            files[name] = {part: os.path.join(folder, f"{name}.{part}") for part in ("ca", "crt", "key")}
            certificate, key = self.certificates.make("node", name)
            for part, source in (("ca", self.certificates.path("ca.crt")), ("crt", certificate), ("key", key)):
                shutil.copy(source, files[name][part])

        def reload(cluster, *copies):
            for index, name in enumerate(("n1", "n2")):
                for part, source in copies:
                    shutil.copy(source(name) if callable(source) else source, files[name][part])
                count = cluster[index].log().count("SIGHUP: new connections use")
                cluster[index].signal(1)
                until("it has reloaded", lambda: cluster[index].log().count("SIGHUP: new connections use") > count)

        with Cluster(2, each=lambda index: ["--tls-ca", files[f"n{index + 1}"]["ca"], "--tls-cert", files[f"n{index + 1}"]["crt"],
                                            "--tls-key", files[f"n{index + 1}"]["key"]]) as cluster:
            epoch = cluster[0].status()["epoch"]
            with cluster[0].client() as holder, cluster[1].client() as waiter:
                fence = holder.call("LOCK", "x")
                reload(cluster, ("ca", self.both()))
                reload(cluster, ("crt", lambda name: self.others.make("node", name)[0]),
                       ("key", lambda name: self.others.make("node", name)[1]))
                reload(cluster, ("ca", self.others.path("ca.crt")))
                self.assertEqual(holder.call("UNLOCK", "x"), 1)
                self.assertGreater(waiter.call("LOCK", "x"), fence)
                self.assertEqual(cluster[1].status()["epoch"], epoch)
            with open(files["n1"]["crt"], "w", encoding="ascii") as file:
                file.write("nonsense\n")
            cluster[0].signal(1)
            cluster[0].says("SIGHUP: the certificates from before stay in use")
            newcomer = self.join(cluster, "n3", self.others.options("n3"))
            until("it serves", newcomer.serves)

    def test_a_key_that_everybody_can_read(self):
        certificate, key = self.certificates.make("node", "n1")
        open_key = shutil.copy(key, os.path.join(self.folder, "open.key"))
        with Cluster(1, "--tls-ca", self.certificates.path("ca.crt"), "--tls-cert", certificate, "--tls-key", open_key) as cluster:
            self.assertNotIn("every user of this host can read", cluster[0].log())
            os.chmod(open_key, 0o644)
            cluster[0].signal(signal.SIGHUP)
            cluster[0].says(f"--tls-key '{open_key}': every user of this host can read this key")

    def test_the_end_of_a_certificate_is_announced(self):
        end = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + 10 * 86400 + 3600))
        certificate, key = self.certificates.odd("soon", "n1", end=end)
        cluster = Cluster(1, "--tls-ca", self.certificates.path("ca.crt"), "--tls-cert", certificate, "--tls-key", key)
        with cluster:
            cluster[0].says("expires in 10 days: replace the files, then send SIGHUP")
            self.assertEqual(cluster[0].status()["certificate_days"], 10)
            self.assertIn("The node's certificate ends in 10 days", baton("status", "-S", cluster[0].socket).out)
            with cluster[0].client() as client:
                ends = re.search(r"certificate_ends_at:(\d+)", client.call("INFO"))
            self.assertAlmostEqual(int(ends[1]), time.time() + 10 * 86400 + 3600, delta=600)


class Keys(unittest.TestCase):
    """A node's key is in its memory only once, no other process can read it there, and it is erased when another key replaces
    it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="baton-test-tls-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.certificates = Certificates(os.path.join(self.folder, "pki"))

    def start(self, *options):
        node = Node(self.folder, "n1", options)
        node.start()
        self.addCleanup(lambda: (node.terminate(), node.wait()))
        until("it serves", node.serves)
        return node

    @staticmethod
    def secrets(path):
        """Returns the private number of a key, as it is in the file and as OpenSSL calculates with it, and the text of the
        file."""
        shown = subprocess.run(["openssl", "pkey", "-in", path, "-text", "-noout"], capture_output=True, text=True, check=True).stdout
        number = bytes.fromhex(re.sub(r"[\s:]", "", re.search(r"priv:\n((?:\s+[0-9a-f:]+\n)+)", shown)[1]))[-32:]
        with open(path, encoding="ascii") as file:
            return number, number[::-1], file.read().splitlines()[1][30:].encode()

    @staticmethod
    def count(pid, secrets):
        counts = [0] * len(secrets)
        with open(f"/proc/{pid}/mem", "rb") as memory, open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
            for line in maps:
                start, end = (int(word, 16) for word in line.split()[0].split("-"))
                if "w" not in line.split()[1] or end - start > 1 << 30: # a sanitizer makes huge mappings
                    continue
                memory.seek(start)
                piece = memory.read(end - start)
                counts = [count + piece.count(secret) for count, secret in zip(counts, secrets)]
        return counts

    def test_a_key_is_wiped(self):
        if os.geteuid() != 0:
            self.skipTest("only root may read the memory of a node with a key")
        options = self.certificates.options("n1")
        old = self.secrets(self.certificates.path("n1.key"))
        node = self.start(*options, "--listen", f"127.0.0.1:{free_port()}")
        self.assertEqual(self.count(node.process.pid, old), [0, 1, 0])
        for file in ("n1.crt", "n1.key"):
            os.remove(self.certificates.path(file))
        self.certificates.make("node", "n1")
        os.kill(node.process.pid, signal.SIGHUP)
        node.says("new connections use the certificates that are in the files now")
        self.assertEqual(self.count(node.process.pid, old), [0, 0, 0])
        self.assertEqual(self.count(node.process.pid, self.secrets(self.certificates.path("n1.key"))), [0, 1, 0])

    def test_an_invitation_is_wiped(self):
        if os.geteuid() != 0:
            self.skipTest("only root may read the memory of a node with a key")
        node = self.start(*self.certificates.options("n1"), "--tls-ca-key", self.certificates.path("ca.key"), "--data",
                          os.path.join(self.folder, "data"), "--listen", f"127.0.0.1:{free_port()}")
        token = baton("member", "invite", "-S", node.socket).out.strip().encode()
        # The allocator itself writes to the first bytes of memory that is freed.
        self.assertGreater(len(token), 80)
        with node.client() as client:
            until("the node has noticed that the other client is gone", lambda: "connected_clients:1\r\n" in client.call("INFO"))
        self.assertEqual(self.count(node.process.pid, [token[40:]]), [0])

    def test_only_a_node_with_a_key_is_hidden_from_its_own_user(self):
        """If a process must not be dumped, the kernel gives its files in /proc to root. A node without a key can still be
        debugged."""
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        options = self.certificates.options("n1") + ["--listen", f"127.0.0.1:{free_port()}"]
        for path, _, files in os.walk(self.folder):
            for name in [path] + [os.path.join(path, file) for file in files]:
                os.chown(name, user, -1)
        for name, more, owner in (("plain", [], user), ("secure", options, 0)):
            socket_path = os.path.join(self.folder, name + ".sock")
            words = [BATON, "node", "--name", "n1", "--socket", socket_path, *more]
            with subprocess.Popen(words, stderr=subprocess.DEVNULL, user=user if os.geteuid() == 0 else None) as process:
                try:
                    until(f"{name} serves", lambda path=socket_path: os.path.exists(path))
                    self.assertEqual(os.stat(f"/proc/{process.pid}/mem").st_uid, owner, name)
                finally:
                    process.terminate()


if __name__ == "__main__":
    unittest.main()
