"""One-time invitations: a new node gets its certificate with one, once; everybody else gets a refusal, and both sides say why."""
import base64
import concurrent.futures
import json
import os
import re
import shutil
import socket
import ssl
import stat
import struct
import tempfile
import time
import unittest

from baton import baton
from certificates import Certificates
from cluster import Cluster, Node, free_port, until
from handshake import REFUSAL, VERSION, hello, read_hello

CA, ENROL, CERTIFICATE, ELSEWHERE = 8, 9, 10, 11


class InvitationTest(unittest.TestCase):
    """A cluster of three with TLS; n1 and n2 have the CA's key."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="baton-test-invitations-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.certificates = Certificates(os.path.join(cls.folder, "pki"))
        cls.cluster = Cluster(3, "--lease", "1s", each=cls.options)
        cls.cluster.start()
        cls.addClassCleanup(cls.cluster.end)

    @classmethod
    def options(cls, index):
        signs = ["--tls-ca-key", cls.certificates.path("ca.key")] if index < 2 else []
        return [*cls.certificates.options(f"n{index + 1}"), *signs]

    def invite(self, *words, node=0):
        done = baton("member", "invite", *words, "-S", self.cluster[node].socket)
        self.assertEqual(done.code, 0, done)
        return done.out.strip()

    def newcomer(self, name, token, *targets):
        """Returns a node that has nothing but an invitation."""
        folder = tempfile.mkdtemp(dir=self.folder)
        path = os.path.join(folder, "token")
        with open(path, "w", encoding="ascii") as file:
            file.write(token + "\n")
        ports = [self.cluster.ports[index] for index in targets or (0,)]
        node = Node(folder, name, ["--data", os.path.join(folder, name + ".data"),
                                                "--listen", f"127.0.0.1:{free_port()}", "--invitation", path,
                                                "--join", ",".join(f"127.0.0.1:{port}" for port in ports)])
        self.addCleanup(self.leave, node)
        return node

    @staticmethod
    def leave(node):
        if node.process is not None:
            if node.process.poll() is None:
                node.end()
            else:
                node.wait()

    def refused_by(self, node, text):
        """Checks that the new node ends, and says why."""
        node.start()
        self.assertEqual(node.wait(), 1, node.log())
        self.assertIn(text, node.log())
        self.assertFalse(os.path.exists(os.path.join(node.data, "tls.crt")))

    def refused(self, node, text):
        """Checks that the new node is refused, and that the cluster still serves."""
        self.refused_by(node, text)
        self.assertEqual(self.cluster[0].status()["waiting_for"], None)


class Joining(InvitationTest):
    def test_a_new_node_joins_with_an_invitation_and_restarts_without(self):
        node = self.newcomer("n4", self.invite())
        node.start()
        until(lambda: f"it serves:\n{node.log()}", node.serves)
        self.cluster[0].says("n4, 127.0.0.1: was invited, and has a certificate of this cluster now")
        with node.client() as one, self.cluster[2].client() as other:
            self.assertGreater(one.call("LOCK", "x"), 0)
            self.assertIsNone(other.call("LOCK", "x", "NOWAIT"))
        for name in ("tls.key", "tls.crt", "tls-ca.crt"):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(node.data, name)).st_mode), 0o600, name)
        with open(os.path.join(node.data, "tls.key"), encoding="ascii") as key, open(node.log_path, encoding="ascii") as log:
            self.assertNotIn(key.read().split("\n")[1], log.read())
        self.assertEqual(node.end(), 0)
        node.options, node.named = ["--data", node.data], False
        node.start()
        until(lambda: f"it serves again:\n{node.log()}", node.serves)

    def test_any_member_makes_invitations_and_any_with_the_key_signs(self):
        """n3 makes the invitation, but cannot sign certificates, and says so; n2 signs."""
        node = self.newcomer("n5", self.invite(node=2), 2, 1)
        node.start()
        until(lambda: f"it serves:\n{node.log()}", node.serves)
        self.assertIn("this node signs no certificates: --join must name one that was started with --tls-ca-key", node.log())
        self.cluster[2].says("a guest is refused: this node signs no certificates")

    def test_an_answer_that_is_lost_can_be_had_again(self):
        """The certificate is lost, but not the key: the same node may ask again, with the same invitation."""
        token = self.invite()
        node = self.newcomer("n6", token)
        node.start()
        until(lambda: f"it serves:\n{node.log()}", node.serves)
        self.assertEqual(node.end(), 0)
        os.remove(os.path.join(node.data, "tls.crt"))
        until("it is gone", lambda: len(self.cluster[0].status()["members"]) == 3)
        node.start()
        until(lambda: f"it serves again:\n{node.log()}", node.serves)
        self.assertEqual(node.log().count("has signed a certificate"), 2)


class Leaders(InvitationTest):
    """These tests have a class of their own, because a node is killed."""

    def test_an_invitation_survives_its_leader_and_is_still_used_once(self):
        token = self.invite()
        with self.cluster[1].client() as client:
            members = json.loads(client.call("MEMBER", "LIST"))["members"]
        leader = next(int(member["name"][1]) - 1 for member in members if member["leader"])
        signer = 1 if leader == 0 else 0
        self.cluster[leader].signal(9)
        first = self.newcomer("l1", token, signer)
        first.start()
        until(lambda: f"it has its certificate:\n{first.log()}", lambda: "has signed a certificate" in first.log())
        self.refused_by(self.newcomer("l2", token, signer), "its invitation was used already, for a node 'l1'")
        self.cluster[leader].start()
        self.cluster.ready()
        until(lambda: f"it serves:\n{first.log()}", first.serves)


class Refusals(InvitationTest):
    def test_used_twice(self):
        token = self.invite()
        first = self.newcomer("u1", token)
        first.start()
        until(lambda: f"it serves:\n{first.log()}", first.serves)
        # Neither another node, at another signer, nor the same name with another key may use it
        # again.
        self.refused(self.newcomer("u2", token, 1), "its invitation was used already, for a node 'u1'")
        self.cluster[1].says("u2, 127.0.0.1: a guest is refused: its invitation was used already, for a node 'u1'")
        self.refused(self.newcomer("u1", token), "its invitation was used already, for a node 'u1'")

    def test_two_that_race_at_two_nodes(self):
        for attempt in range(3):
            token = self.invite()
            nodes = [self.newcomer(f"r{attempt}{index}", token, index) for index in range(2)]
            for node in nodes:
                node.start()
            until("one has ended", lambda: any(node.process.poll() is not None for node in nodes))
            loser = nodes[0] if nodes[0].process.poll() is not None else nodes[1]
            winner = nodes[1 - nodes.index(loser)]
            self.assertEqual(loser.wait(), 1)
            self.assertIn(f"its invitation was used already, for a node '{winner.name}'", loser.log())
            until(lambda: f"the other serves:\n{winner.log()}", winner.serves)

    def test_expired(self):
        token = self.invite("--for", "1")
        time.sleep(2.1) # the wall clock of the node decides
        self.refused(self.newcomer("e1", token), "its invitation has expired, by the clock of this node: 'baton member invite' makes another")
        self.cluster[0].says("e1, 127.0.0.1: a guest is refused: its invitation has expired")

    def test_never_made(self):
        """The invitation is of another cluster with the same CA, so nobody here knows its
        secret."""
        alone = Cluster(1, "--data", os.path.join(self.folder, "alone.data"), "--listen", f"127.0.0.1:{free_port()}",
                        *self.certificates.options("n1"))
        with alone:
            until("it serves", alone[0].serves)
            token = baton("member", "invite", "-S", alone[0].socket).out.strip()
        self.refused(self.newcomer("k1", token), "its invitation is not known here")
        self.cluster[0].says("k1, 127.0.0.1: a guest is refused: its invitation is not known here")

    def test_another_ca(self):
        """The node belongs to another cluster than the one that made the invitation. So the guest
        does not tell it the secret."""
        others = Certificates(os.path.join(self.folder, "others"))
        other = Cluster(1, "--data", os.path.join(self.folder, "other.data"), "--listen", f"127.0.0.1:{free_port()}", *others.options("n1"))
        with other:
            until("it serves", other[0].serves)
            token = baton("member", "invite", "-S", other[0].socket).out.strip()
        self.refused(self.newcomer("c1", token), "it is not of the cluster that has made the invitation: its CA has another fingerprint")
        self.cluster[0].says("127.0.0.1: a guest refuses this node: it is not of the cluster that has made the invitation")

    def test_a_members_name(self):
        token = self.invite()
        self.refused(self.newcomer("n3", token), "a member has the name 'n3' already")
        self.cluster[0].says("n3, 127.0.0.1: a guest is refused: a member has the name 'n3' already")
        node = self.newcomer("m1", token) # and the invitation is still good
        node.start()
        until(lambda: f"it serves:\n{node.log()}", node.serves)

    def test_a_removed_name(self):
        node = self.newcomer("gone", self.invite())
        node.start()
        until(lambda: f"it serves:\n{node.log()}", node.serves)
        self.assertEqual(baton("member", "remove", "gone", "-S", self.cluster[0].socket).code, 0)
        self.refused(self.newcomer("gone", self.invite()), "an operator has removed the node 'gone': 'baton member invite gone'")

    def test_nobody_has_the_key(self):
        node = self.newcomer("s1", self.invite(), 2)
        self.refused(node, "this node signs no certificates: --join must name one that was started with --tls-ca-key")
        self.assertIn("nobody has signed a certificate for this node", node.log())

    def test_bad_words(self):
        token = self.invite()
        changed = token[:50] + ("A" if token[50] != "A" else "B") + token[51:]
        for text, problem in (("hello", "this is no invitation"), (token[:-1], "the invitation has 97 characters of 98"),
                              (changed, "the invitation was changed on its way"), (token + " x", "this is no invitation"), ("", "this is no")):
            self.refused(self.newcomer("w1", text), problem)
        for options, problem in ((["--invitation", "/none", "--data", self.folder + "/w2"], "--join HOST:PORT is needed"),
                                 (["--invitation", "/none", "--join", "127.0.0.1:1"], "--data DIR is needed"),
                                 (["--tls-ca-key", "/none"], "--tls-ca-key: --tls-key is needed too"),
                                 ([*self.certificates.options("n1"), "--tls-ca-key", "/none"], "--tls-ca-key '/none': No such file"),
                                 ([*self.certificates.options("n1"), "--tls-ca-key", self.certificates.path("n1.key")], "not the key of the CA"),
                                 ([*self.certificates.options("n1"), "--invitation", "x"], "--tls-cert and --tls-key are not needed")):
            done = baton("node", "--name", "n1", "--socket", self.folder + "/w.sock", *options)
            self.assertEqual((done.code, problem in done.err), (2, True), (options, done))
        for words, problem in ((["n1", "--for", "1h"], "--for goes with invite only"), (["--for", "31d"], "--for"), (["--for", "0"], "--for")):
            done = baton("member", "invite", *words, "-S", self.cluster[0].socket)
            self.assertEqual((done.code, problem in done.err, done.out), (2, True, ""), (words, done))

    def test_without_tls(self):
        with Cluster(1) as plain:
            done = baton("member", "invite", "-S", plain[0].socket)
            self.assertEqual((done.code, done.out), (1, ""))
            self.assertIn("this cluster has no TLS", done.err)

    def test_json(self):
        answer = json.loads(self.invite("--json", "--for", "2m"))
        self.assertEqual(answer["valid_ms"], 120000)
        self.assertRegex(answer["token"], r"^baton-[A-Za-z0-9_-]{92}$")


class Door(InvitationTest):
    """Strangers connect as guests, with neither a certificate nor an invitation."""

    def knock(self, index=0):
        context = self.certificates.context()
        context.set_alpn_protocols(["baton-guest"])
        connection = context.wrap_socket(socket.create_connection(("127.0.0.1", self.cluster.ports[index]), 30))
        self.addCleanup(connection.close)
        return connection

    def wish(self, name, secret=bytes(32), host="", key=b"k" * 91):
        text = lambda bytes_: bytes([len(bytes_)]) + bytes_
        return hello(ENROL, VERSION, secret + text(name.encode()) + text(host.encode()) + text(key))

    def answer(self, record):
        connection = self.knock()
        kind, _, body = read_hello(connection)
        self.assertEqual(kind, CA)
        self.assertIn(b"baton CA", body)
        connection.sendall(record)
        kind, _, text = read_hello(connection)
        self.assertEqual(connection.recv(100), b"")
        return kind, text.decode()

    def test_without_a_secret_there_is_only_a_refusal(self):
        for record, text in ((self.wish("x"), "not known here"), (hello(ENROL, VERSION, b"\0" * 40), "does not speak"),
                             (hello(ENROL, 99, b"\0" * 40), "another version"), (struct.pack("<IB", 1 << 20, ENROL), "does not speak"),
                             (hello(6, VERSION, b"\0" * 40), "does not speak"), (b"GET / HTTP/1.0\r\n\r\n", "does not speak"),
                             (self.wish("a b"), "a node cannot have its name"), (self.wish("x") + b"more", "does not speak")):
            kind, answer = self.answer(record)
            self.assertEqual((kind, text in answer), (REFUSAL, True), (record, answer))

    def test_a_key_of_another_kind(self):
        token = self.invite()
        secret = base64.urlsafe_b64decode(token[6:])[33:65]
        kind, text = self.answer(self.wish("odd", secret))
        self.assertEqual((kind, text), (ELSEWHERE, "its key is not one on the curve P-256"))

    def test_the_door_is_not_a_way_around_certificates(self):
        """A connection that says it is a guest's can do nothing but ask for a certificate."""
        connection = self.knock()
        self.assertEqual(read_hello(connection)[0], CA)
        connection.sendall(hello(1, VERSION, bytes(100)))
        self.assertEqual(read_hello(connection)[0], REFUSAL)

    def test_many_guests_at_once(self):
        """The number of guests is limited, they are closed after some seconds, and the cluster
        notices nothing."""
        before = self.cluster[0].fds()
        epoch = self.cluster[0].status()["epoch"]
        guests = [self.knock() for _ in range(40)]
        kinds = [read_hello(guest)[0] for guest in guests]
        self.assertEqual((kinds.count(CA), kinds.count(ELSEWHERE)), (16, 24))
        for guest in guests:
            self.assertEqual(guest.recv(100), b"")
        until("all are gone", lambda: self.cluster[0].fds() <= before + 2)
        self.assertEqual(self.cluster[0].status()["epoch"], epoch)

    def test_guesses_are_limited(self):
        """A guess costs a question to the voters, and only so many are asked in a second. None reaches the log."""
        def guess(number):
            connection = self.knock()
            if read_hello(connection)[0] != CA:
                return "busy"
            connection.sendall(self.wish(f"g{number}", bytes([number]) * 32))
            return read_hello(connection)[2].decode()

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(guess, range(100)))
        self.assertTrue(any("not known here" in answer for answer in answers), answers)
        self.assertEqual([answer for answer in answers
                          if not re.search("not known here|too many guests|busy", answer)], [])
        with self.cluster[1].client() as client:
            self.assertGreater(client.call("LOCK", "y"), 0)

    def test_the_port_of_clients_has_no_door(self):
        port = free_port()
        with Cluster(1, "--clients", f"127.0.0.1:{port}", *self.certificates.options("n1"), "--tls-ca-key",
                     self.certificates.path("ca.key")):
            context = self.certificates.context()
            context.set_alpn_protocols(["baton-guest"])
            with self.assertRaisesRegex(ssl.SSLError, "CERTIFICATE_REQUIRED"):
                with context.wrap_socket(socket.create_connection(("127.0.0.1", port), 30)) as connection:
                    connection.recv(100)


if __name__ == "__main__":
    unittest.main()
