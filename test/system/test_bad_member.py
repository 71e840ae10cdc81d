"""A node cuts off, logs and counts a member that sends something no correct member sends. The other members and other locks go
on."""
import contextlib
import re
import signal
import ssl
import struct
import tempfile
import unittest

from certificates import Certificates
from cluster import Cluster, until
from handshake import CALL, REFUSAL, read_hello
from peer import (ACK, ANSWER, BIRTH, BULLETIN, FRAME, LEASE_S, LETTER, PACKET, PETITION, QUESTION, Peer, numbers, record,
                  text)
from resp import Wrong

BAD = "it sends a malformed or impossible frame (%s)"
(MESSAGE, TOUCH, PROBE, PUBLISH, ENDED, REPORT, RETURN, ASK_LEADER, TELL_LEADER, ASK_STATUS, TELL_STATUS, BREAK, INTEREST, EVENT, DROPPED,
 ANSWER, ASK_STATES, TELL_STATES) = range(18)
HUGE = 2 ** 63


class Member(unittest.TestCase):
    """n1 and n2 are nodes. The test plays z9, which has its own certificate."""
    secure = True

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="baton-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        wrap, each = None, None
        if cls.secure:
            cls.certificates = Certificates(cls.folder.name)
            # The TLS contexts are made before any connection, because a node waits only a second
            # for a handshake.
            cls.contexts = {server: cls.make_context(server) for server in (False, True)}
            each = lambda index: cls.certificates.options(f"n{index + 1}")
            wrap = cls.wrap
        cls.cluster = Cluster(2, "--lease", f"{LEASE_S}s", each=each).start()
        cls.addClassCleanup(cls.cluster.end)
        cls.peer = Peer("z9", list(zip(cls.cluster.names, cls.cluster.ports)), wrap)
        cls.addClassCleanup(cls.peer.close)
        cls.turn = 0
        for node in cls.cluster:
            until(lambda: "z9 is a member: " + cls.cluster.logs(), lambda node=node: len(node.status()["members"]) == 3 and node.serves())
        cls.lock = cls.find_lock()

    @classmethod
    def wrap(cls, connection, server):
        return cls.contexts[server].wrap_socket(connection, server_side=server)

    @classmethod
    def make_context(cls, server):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(cls.certificates.path("ca.crt"))
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(*cls.certificates.make("node", "z9"))
        return context

    @classmethod
    def find_lock(cls):
        """Returns a lock whose token is at n1 or n2."""
        for i in range(20):
            with cls.cluster[0].client() as client:
                try:
                    if client.call("LOCK", f"l{i}", "TIMEOUT", "500") is not None:
                        return f"l{i}"
                except Wrong:
                    pass
        raise AssertionError(cls.cluster.logs())

    def refused(self, node):
        with node.client() as client:
            lines = client.call("INFO").replace("\r", "").split("\n")
        return int(next(line for line in lines if line.startswith("frames_refused:")).split(":")[1])

    def offend(self, says, send):
        """Sends something to n1 and n2 in turn. The node must cut the member off and say why, and both must still serve."""
        type(self).turn += 1
        node = self.cluster[self.turn % 2]
        before, log = self.refused(node), len(node.log())
        link = send(node.name)
        until(lambda: f"{node.name} refuses {says}:\n{node.log()[log:]}", lambda: self.refused(node) == before + 1)
        # Equal lines are not logged twice within ten seconds.
        self.assertRegex(node.log(), f"z9.*: {re.escape(says)}.*; it is cut off")
        until("the link is cut", lambda: link is None or self.peer.links.get(node.name) is not link)
        self.assertIsNone(node.process.poll())
        for other in self.cluster:
            with other.client() as client:
                self.assertIsInstance(client.call("LOCK", self.lock, "TIMEOUT", "20000"), int)
                client.call("UNLOCK", self.lock)

    def linked(self, name):
        until(lambda: f"{name} links with z9 again:\n{self.cluster.logs()}", lambda: name in self.peer.links)
        return self.peer.links[name]

    def frame(self, says, make):
        def send(name):
            link = self.linked(name)
            self.peer.send_frame(name, make())
            return link
        self.offend(says, send)

    def control(self, kind, word, body, **more):
        self.frame(BAD % word, lambda: self.peer.control(kind, body, **more))

    def record(self, says, data):
        def send(name):
            link = self.linked(name)
            with self.peer.lock:
                link.sendall(data)
            return link
        self.offend(says, send)

    def packet(self, says, *packet):
        """Sends a packet on a new connection of the engine, so that z9 stays a member."""
        def send(name):
            port = self.cluster.ports[self.cluster.names.index(name)]
            with self.peer.call(name, port) as connection:
                connection.sendall(packet[0](self.peer.servers[name]) if callable(packet[0]) else packet[0])
                connection.settimeout(30)
                while connection.recv(65536):
                    pass
        self.offend(says, send)


class Kinds(Member):
    """Tries each kind of input that no correct member sends."""

    # --- input that is not a frame ---

    def test_hello_twice(self):
        self.record("it sends a record of type 1 in the middle of a link", record(1, b"baton" + struct.pack("<I", 3)))

    def test_a_record_of_an_unknown_type(self):
        self.record("it sends a record of type 99 in the middle of a link", record(99, b"x"))

    def test_an_acknowledgement_of_what_was_never_sent(self):
        self.record("it sends an acknowledgement of frame 9223372036854775808", record(ACK, struct.pack("<Q", HUGE)))

    def test_a_truncated_record(self):
        self.record("it sends a malformed record of type 4 and 8 bytes", record(ACK, b"abc"))

    def test_an_oversized_record(self):
        self.record("it sends a record of 1073741824 bytes", struct.pack("<IB", 1 << 30, FRAME))

    def test_a_frame_without_a_number(self):
        self.record("it sends a malformed record of type 3", record(FRAME, bytes(9)))

    # --- frames of the lock service ---

    def test_of_another_version(self):
        self.frame(BAD % "MESSAGE", lambda: b"\3" + self.peer.message("l", b"\0")[1:])

    def test_of_an_unknown_kind(self):
        self.frame(BAD % "?", lambda: self.peer.control(99, b""))

    def test_of_another_cluster(self):
        self.frame("it sends a frame of another cluster (PROBE)", lambda: self.peer.control(PROBE, b"\1\1l", cluster=1))

    def test_in_another_members_name(self):
        self.frame("it sends a frame in another member's name (PROBE)",
                   lambda: self.peer.control(PROBE, b"\1\1l", sender=1, incarnation=self.peer.view["seats"][0]["incarnation"]))

    def test_of_another_incarnation(self):
        self.frame("it sends a frame in another member's name (PROBE)", lambda: self.peer.control(PROBE, b"\1\1l", incarnation=HUGE))

    def test_of_a_member_that_is_not_there(self):
        self.frame("it sends a frame in another member's name (PROBE)", lambda: self.peer.control(PROBE, b"\1\1l", sender=4000))

    def test_whose_origin_is_another_member(self):
        self.control(PROBE, "PROBE", b"\1\1l", origin=1)

    def test_whose_origin_is_not_there(self):
        self.control(PROBE, "PROBE", b"\1\1l", origin=4000)

    def test_a_control_frame_of_the_greatest_size(self):
        self.control(BREAK, "BREAK", bytes((1 << 20) - 60))

    def test_a_message_of_an_unknown_type(self):
        self.frame(BAD % "MESSAGE", lambda: self.peer.message("other", b"\x77"))

    def test_a_message_with_fields_out_of_range(self):
        self.frame(BAD % "MESSAGE", lambda: self.peer.message("other", b"\0" + numbers(HUGE, HUGE)))

    def test_a_token_that_nobody_asked_for(self):
        self.frame(BAD % "MESSAGE", lambda: self.peer.message("other", b"\1"))

    def test_a_message_without_bytes(self):
        self.frame(BAD % "MESSAGE", lambda: self.peer.message("other", b""))

    def test_a_lock_without_a_name(self):
        self.frame(BAD % "MESSAGE", lambda: self.peer.message("", b"\0\1\1"))

    def test_a_counter_beyond_all_fences(self):
        self.frame(BAD % "MESSAGE", lambda: self.peer.message("other", b"\0\1\1", counter=HUGE))

    def test_a_second_report(self):
        self.control(REPORT, "REPORT", b"\1")

    def test_a_report_with_fences_out_of_range(self):
        self.control(REPORT, "REPORT", b"\0" + b"\1l" + numbers(HUGE))

    def test_a_touch_that_is_not_for_the_home(self):
        self.control(TOUCH, "TOUCH", b"\0", destination=2 - self.turn % 2)

    def test_control_frames_with_too_few_bytes(self):
        for kind, word in ((PROBE, "PROBE"), (PUBLISH, "PUBLISH"), (ENDED, "ENDED"), (RETURN, "RETURN"), (ASK_LEADER, "ASK_LEADER"),
                           (ASK_STATUS, "ASK_STATUS"), (BREAK, "BREAK"), (INTEREST, "INTEREST"), (ASK_STATES, "ASK_STATES")):
            with self.subTest(word):
                self.control(kind, word, b"")

    def test_a_question_about_more_patterns_than_there_can_be_rules(self):
        self.control(ASK_STATUS, "ASK_STATUS", numbers(1, 1, 0) + b"\1*" * 1025)

    def test_more_patterns_than_a_node_may_subscribe_to(self):
        """Every event would be matched with all of them."""
        def send(name):
            link = self.linked(name)
            for number in range(257):
                self.peer.send_frame(name, self.peer.control(INTEREST, numbers(0) + b"\1\1" + text(b"*%d" % number)))
            return link
        self.offend(BAD % "INTEREST", send)

    def test_many_frames_about_dropped_events_are_told_together(self):
        """Every subscription is told, so each frame by itself would cost much."""
        node = self.cluster[0]
        self.linked(node.name)
        with node.client(version=3) as client:
            client.call("SUBSCRIBE", "x")
            for _ in range(300):
                self.peer.send_frame(node.name, self.peer.control(DROPPED, numbers(2), destination=1))
            told, missed = 0, 0
            while missed < 600:
                message = client.read()
                self.assertEqual(message[:2], ["message", "x"])
                told, missed = told + 1, missed + int(re.search(r"dropped (\d+)", message[2]).group(1))
            self.assertEqual(missed, 600)
            self.assertLess(told, 30)

    def test_answers_with_too_few_bytes(self):
        for kind, word in ((TELL_LEADER, "TELL_LEADER"), (TELL_STATUS, "TELL_STATUS"), (EVENT, "EVENT"), (DROPPED, "DROPPED"),
                           (ANSWER, "ANSWER"), (TELL_STATES, "TELL_STATES")):
            with self.subTest(word):
                self.frame(BAD % word, lambda kind=kind: self.peer.control(kind, b"", destination=1 + self.turn % 2))

    # --- harmless input ---

    def test_what_belongs_to_nothing_is_dropped(self):
        """A correct member may be late, so this is not an offence."""
        counts = [self.refused(node) for node in self.cluster]
        for place, node in enumerate(self.cluster):
            self.linked(node.name)
            for frame in (self.peer.control(RETURN, b"\4none"), self.peer.control(ANSWER, numbers(HUGE, 1), destination=1 + place),
                          self.peer.control(TELL_STATES, numbers(HUGE), destination=1 + place),
                          self.peer.control(PROBE, b"\1\1l", epoch=1), self.peer.control(PROBE, b"\1\1l", epoch=2 ** 64 - 1),
                          self.peer.control(ENDED, b"\4none\5"), self.peer.control(BREAK, numbers(1) + b"\4none" + numbers(7, 0))):
                self.peer.send_frame(node.name, frame)
        self.assertEqual([self.refused(node) for node in self.cluster], counts)
        for node in self.cluster:
            with node.client() as client:
                client.call("LOCK", self.lock)
                client.call("UNLOCK", self.lock)

    # --- messages between voters and members about the membership ---

    def bad(self, kind, body):
        self.packet("it sends a malformed packet", lambda server: record(PACKET, bytes([kind]) + (body(server) if callable(body) else body)))

    def test_a_second_call(self):
        self.packet("it sends bytes that are not a packet", self.peer.say_call("n1", b"\0\0\0\0"))

    def test_an_unknown_record_and_an_oversized_one(self):
        self.packet("it sends bytes that are not a packet", record(99, b"xyz"))
        self.packet("it sends bytes that are not a packet", struct.pack("<IBB", 1 << 30, PACKET, PETITION))

    def test_an_unknown_packet(self):
        self.bad(99, b"")

    def test_petitions(self):
        for body in (b"", b"\x63", numbers(1, self.peer.process, 1), numbers(2, 0, 1, 1), numbers(3, self.peer.process, 1, 1, 1)):
            with self.subTest(body):
                self.bad(PETITION, body)

    def test_a_petition_of_another_process(self):
        self.bad(PETITION, numbers(3, self.peer.view["seats"][0]["process"], 1, 1))

    def test_bulletins(self):
        view = lambda base, limit, seats: numbers(2, 10 ** 10, 1, 0, 99, base, limit, seats)
        for body in (b"", b"\x63", numbers(1, 0, 0), view(5, 4, 0), view(1, HUGE, 0), view(1, 2, 2 ** 30)):
            with self.subTest(body):
                self.bad(BULLETIN, body)

    def forge(self, *bulletins):
        """Sends bulletins to n1 and to n2, and then something malformed, so that the end of the connection shows that they were
        read."""
        for _ in self.cluster:
            self.packet("it sends a malformed packet", b"".join(record(PACKET, bytes([BULLETIN]) + body) for body in bulletins) +
                        record(PACKET, b"\x63"))

    def test_forged_bulletins(self):
        """z9 does not vote, so that nobody believes it about views and voters. Both nodes still serve: `offend` sees to that."""
        lease, epoch = LEASE_S * 10 ** 9, self.peer.view["epoch"]
        base, limit = self.peer.view["base"], self.peer.view["limit"]
        seat = text("z9") + text(self.peer.address) + numbers(self.peer.process, 5)
        view = lambda removed, seats, *rest: numbers(2, lease, 2 ** 40, removed, epoch + 1000, base, limit, seats) + b"".join(rest) + numbers(1, 7, 0)
        self.forge(view(0, 1, seat))
        self.forge(view(0, 0))
        self.forge(view(1, 1, seat))
        self.forge(numbers(2, lease + 1, 2 ** 40, 0, epoch + 1000, base, limit, 0, 1, 7, 0))
        self.forge(numbers(3, 2 ** 60, 1, self.peer.server) + text("z9") + text(self.peer.address), view(0, 1, seat))
        for node in self.cluster:
            status = node.status()
            self.assertLess(status["epoch"], epoch + 1000)
            self.assertEqual([member["name"] for member in status["members"]], ["n1", "n2", "z9"])

    def question(self, count, entry, process=None):
        """Returns an inquiry with an order: `entry` is its kind and its name."""
        order = entry + numbers(process or self.peer.process, count, 0)
        return bytes([QUESTION]) + numbers(count) + bytes(32) + text("") + order

    def test_orders_about_invented_names(self):
        """Such orders take at most half of the room for names, and fill neither the voters' log nor
        the node's. A member can still be removed. The cluster has one voter, n1."""
        forbid, vote, room = 5, 8, 4096 // 2
        node = self.cluster[0]
        unknown = "its order is refused: no member, voter or candidate has this name"
        full = "its order is refused: there is no room for more removed names"

        def ask(connection, *words):
            # The answers must be read: a connection whose other side takes nothing for three seconds is closed.
            connection.sendall(record(PACKET, self.question(*words)))
            connection.settimeout(0)
            try:
                while connection.recv(65536):
                    pass
            except ssl.SSLWantReadError:
                pass
            connection.settimeout(30)

        with self.peer.call("n1", self.cluster.ports[0]) as connection:
            for i in range(1, room + 200):
                ask(connection, 2 * i, numbers(forbid) + text(f"invented-{i}"))
                ask(connection, 2 * i + 1, numbers(vote, 2) + text(f"wished-{i}"))
            until(lambda: "n1 refuses: " + node.log(), lambda: unknown in node.log())
            count = 2 * room + 1000

            def is_full():
                nonlocal count
                count += 1
                ask(connection, count, numbers(forbid) + text("one-more"))
                return full in node.log()
            until(lambda: "the room is full: " + node.log(), is_full)
        self.assertLess(node.log().count(unknown), 5)
        self.assertLess(node.log().count(full), 5)
        with node.client() as client:
            def order(*words):
                """On a busy machine the flood may have cost n1 its lease; then it refuses orders until the voters answer again."""
                return until("the voters answer", lambda: next(
                    (told for told in [str(client.call("MEMBER", *words))] if "do not answer" not in told), None))
            self.assertIn("no room for more removed names", order("REMOVE", "one-more-stranger"))
            self.assertEqual(order("REMOVE", "n2"), "OK")
            self.assertEqual(order("INVITE", "n2"), "OK")
        self.cluster.ready()

    def test_letters(self):
        """Tests letters of the voters' log: malformed, in another server's name, and with content that no correct server
        sends."""
        address = lambda server: numbers(server, self.peer.server)
        append, vote, install = 1, 3, 5
        for name, body in (
                ("nothing", lambda server: b""),
                ("of another server", lambda server: numbers(server, self.peer.server + 2, vote)),
                ("of an unknown type", lambda server: address(server) + b"\x63"),
                ("before the first entry", lambda server: address(server) + numbers(append, 0, 1, 0, 7, 0, 0)),
                ("an index beyond all", lambda server: address(server) + numbers(append, 0, 1, 2 ** 64 - 1, 1, 0, 0)),
                ("an entry of a later term", lambda server: address(server) + numbers(append, 0, 1, 1, 1, 0, 1, 2, 1, 0)),
                ("the last term of all", lambda server: address(server) + numbers(vote, 0, 2 ** 64 - 1, self.peer.server, 1, 1, 0, 0)),
                ("a vote for another", lambda server: address(server) + numbers(vote, 0, 1, self.peer.server + 2, 1, 1, 0, 0)),
                ("a snapshot without voters", lambda server: address(server) + numbers(install, 0, 9, 9, 9, 9, 0, 0))):
            with self.subTest(name):
                self.bad(LETTER, body)

    def test_births_and_orders(self):
        """An order in the name of another's process is malformed: it would use up the id of that process' order."""
        order = lambda *words: self.question(1, *words)[1:]
        for kind, body in ((BIRTH, b"\x63"), (5, numbers(1) + text("n1")), (QUESTION, order(numbers(99) + text("n1"))),
                           (QUESTION, order(numbers(5) + text("a\nb"))), (QUESTION, order(numbers(5) + text("n1")) + b"\0"),
                           (QUESTION, order(numbers(5) + text("n2"), 12345)), (QUESTION, numbers(2) + order(numbers(5) + text("n2"))[1:])):
            with self.subTest((kind, body)):
                self.bad(kind, body)

    def test_questions_about_invitations_and_answers(self):
        digest = bytes(32)
        for kind, body in ((QUESTION, b""), (QUESTION, numbers(1) + digest + text("a\nb")), (QUESTION, numbers(1) + digest + text("x") + b"\x63"),
                           (ANSWER, b""), (ANSWER, numbers(1, 2)), (ANSWER, numbers(1, 1, 2)), (ANSWER, numbers(1, 1, 0, 3)),
                           (ANSWER, numbers(1, 1, 0, 0, 0, 0, 1, 9) + text("x") + digest + b"more")):
            with self.subTest((kind, body)):
                self.bad(kind, body)

    # --- impostors ---

    def refusal(self, process, server):
        with self.peer.dial(self.cluster.ports[0]) as connection:
            connection.sendall(self.peer.say_call("n1", b"\0\0\0\0", process, server))
            kind, _, words = read_hello(connection)
            self.assertEqual(kind, REFUSAL)
            return words.decode()

    def test_another_process_or_data_directory(self):
        """A certificate proves a name. It must not lend the process or the data directory of another node."""
        claims = "it claims to be the process, or to have the data directory, of another node"
        other = next(seat for seat in self.peer.view["seats"] if seat["name"] == "n2")["process"]
        self.assertEqual(self.refusal(other, 5), claims)
        self.assertEqual(self.refusal(5, self.peer.servers["n1"]), claims)
        self.assertEqual(self.refusal(5, self.peer.servers["n2"]), claims)


class Plain(Member):
    """Repeats these tests without TLS, and tests a flood."""
    secure = False

    def test_malformed(self):
        self.control(REPORT, "REPORT", b"\1")
        self.record("it sends a record of type 99 in the middle of a link", record(99, b"x"))
        self.packet("it sends a malformed packet", record(PACKET, b"\x63"))

    def test_a_member_that_opens_everything_it_can_leaves_room_for_others(self):
        """z9 takes every connection that n1 accepts, and keeps it. Then another node comes."""
        node, port = self.cluster[0], self.cluster.ports[0]
        charter = self.peer.charter("n1", port)
        with contextlib.ExitStack() as stack:
            for _ in range(300):
                connection = stack.enter_context(self.peer.dial(port))
                connection.settimeout(1)
                connection.sendall(self.peer.say_call("n1", charter))
                try:
                    if read_hello(connection)[0] != CALL:
                        break
                except (OSError, AssertionError):
                    break # there is no room any more
            other = Peer.__new__(Peer)
            other.name, other.address, other.process, other.server, other.wrap = "y1", "127.0.0.1:1", 77, 78, lambda connection, _: connection
            with other.call_once("n1", port, charter):
                pass
        self.assertIn("it has too many connections: the oldest ones are closed", node.log())

    def test_then_frames_of_an_epoch_that_never_comes_leave_room_for_this_one(self):
        """Each frame has a megabyte, which is more than a node keeps. So the node stops reading from the link of the member that
        sends them."""
        node = self.cluster[0]
        self.linked(node.name)
        late = self.peer.message("x" * 200, b"\0" * 900000, epoch=2 ** 60)
        self.peer.links[node.name].settimeout(1)
        try:
            for _ in range(40):
                self.peer.send_frame(node.name, late)
        except TimeoutError:
            pass
        for other in self.cluster:
            with other.client() as client:
                self.assertIsInstance(client.call("LOCK", self.lock, "TIMEOUT", "20000"), int)
                client.call("UNLOCK", self.lock)


class Outage(unittest.TestCase):
    """Two of three voters are stopped for longer than a lease. The third then believes anybody about who votes."""

    def test_a_lie_told_in_an_outage_does_not_outlast_it(self):
        with Cluster(3, "--lease", "2s") as cluster:
            liar = Peer.__new__(Peer)
            liar.name, liar.address, liar.process, liar.server, liar.wrap = "z9", "127.0.0.1:1", 77, 78, lambda connection, _: connection
            liar.servers = {}
            lie = record(PACKET, bytes([BULLETIN]) + numbers(3, 2 ** 60, 1, liar.server) + text("z9") + text(liar.address))
            for node in (cluster[1], cluster[2]):
                node.signal(signal.SIGSTOP)

            def lies():
                with liar.call("n1", cluster.ports[0]) as connection:
                    connection.sendall(lie)
                return "z9, 127.0.0.1:1: Connection refused" in cluster[0].log() # n1 asks z9, as a voter
            until("n1 believes the lie", lies)
            for node in (cluster[1], cluster[2]):
                node.signal(signal.SIGCONT)
            for node in cluster:
                until(lambda node=node: f"{node.name} serves again:\n{cluster.logs()}", node.serves)
                with node.client() as client:
                    self.assertIsInstance(client.call("LOCK", "l", "TIMEOUT", "20000"), int)


if __name__ == "__main__":
    unittest.main()
