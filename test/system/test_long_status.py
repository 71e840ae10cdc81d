"""STATUS lists very many locks. The node serves other clients in the meantime, and the answer is complete."""
import contextlib
import json
import select
import signal
import socket
import time
import unittest

from cluster import LONG_LEASE, SANITIZED, Cluster, free_port, until
from resp import Client, Closed, Push, encode

LOCKS = 20_000 if SANITIZED else 100_000
NAME = "some-lock-name-%06d"


def lock_all(client, names):
    """Sends the LOCKs in a pipeline, a thousand at a time."""
    for start in range(0, len(names), 1000):
        some = names[start:start + 1000]
        client.send_bytes(b"".join(encode("LOCK", name) for name in some))
        for _ in some:
            assert isinstance(client.read(), int)


def read_status(client):
    """Returns the JSON. Reads it in pieces and joins them once, because it has megabytes."""
    parts, size = [], 0
    head = client._line()
    assert head[:1] == b"$", head
    wanted = int(head[1:]) + 2
    parts.append(client.left)
    size = len(client.left)
    while size < wanted:
        parts.append(client.socket.recv(1 << 20))
        assert parts[-1], "the connection has ended"
        size += len(parts[-1])
    data = b"".join(parts)
    client.left = data[wanted:]
    assert data[wanted - 2:wanted] == b"\r\n"
    return json.loads(data[:wanted - 2])


def is_readable(client, seconds=0):
    return bool(select.select([client.socket], [], [], seconds)[0])


class LongStatus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.cluster = Cluster(1, "--clients", f"127.0.0.1:{cls.port}", "--max-user-locks", str(2 * LOCKS)).start()
        cls.addClassCleanup(cls.cluster.end)
        cls.holder = cls.cluster[0].client()
        cls.addClassCleanup(cls.holder.close)
        lock_all(cls.holder, [NAME % number for number in range(LOCKS)])

    def ask(self, client):
        client.send("STATUS", "*", "COUNT", 10 * LOCKS)

    def test_others_are_served_meanwhile(self):
        """No PING waits for more than a quarter of the time that the answer takes. The machine may be busy, so one success in ten
        attempts suffices."""
        seen = []
        with self.cluster[0].client() as asker, self.cluster[0].client() as other:
            for _ in range(10):
                began = time.monotonic()
                self.ask(asker)
                longest, pings = 0, 0
                while not is_readable(asker):
                    sent = time.monotonic()
                    self.assertEqual(other.call("PING"), "PONG")
                    longest = max(longest, time.monotonic() - sent)
                    pings += 1
                took = time.monotonic() - began
                status = read_status(asker)
                self.assertEqual(len(status["locks"]), LOCKS)
                seen.append((took, longest, pings))
                if longest < took / 4:
                    return
        self.fail(f"(the answer took, the longest PING, PINGs): {seen}")

    def test_it_is_whole_and_in_order(self):
        with self.cluster[0].client() as asker:
            self.ask(asker)
            status = read_status(asker)
            self.assertEqual([lock["name"] for lock in status["locks"]], [NAME % number for number in range(LOCKS)])
            fences = {lock["name"]: lock["fence"] for lock in status["locks"]}
            self.assertEqual({lock["holder"]["node"] for lock in status["locks"]}, {"n1"})
            self.assertEqual((status["silent"], status["waiting_for"]), ([], None))
            self.assertGreaterEqual(status["grants"], LOCKS)
            one = json.loads(asker.call("STATUS", NAME % 77))["locks"]
            self.assertEqual([lock["fence"] for lock in one], [fences[NAME % 77]])

    def test_a_short_one_does_not_wait_for_a_long_one(self):
        with self.cluster[0].client() as asker, self.cluster[0].client() as other:
            self.ask(asker)
            before = 0
            while not is_readable(asker):
                self.assertEqual(len(json.loads(other.call("STATUS", NAME % 5))["locks"]), 1)
                before += 1
            self.assertGreater(before, 1)
            read_status(asker)

    def test_a_user_who_asks_on_many_connections_does_not_delay_another(self):
        with contextlib.ExitStack() as stack:
            asking = [stack.enter_context(Client(("127.0.0.1", self.port))) for _ in range(12)]
            other = stack.enter_context(self.cluster[0].client())
            for client in (*asking, other):
                self.assertEqual(client.call("PING"), "PONG")
            self.cluster[0].signal(signal.SIGSTOP) # stop the node, so that the other client is certainly the last
            for client in asking:
                client.send("STATUS", "some-lock-name-00[01]*", "COUNT", LOCKS)
            other.send("STATUS", "some-lock-name-00*", "COUNT", LOCKS)
            self.cluster[0].signal(signal.SIGCONT)
            self.assertTrue(is_readable(other, 60))
            self.assertLess(sum(is_readable(client) for client in asking), 6)
            self.assertEqual(len(read_status(other)["locks"]), 10000)
            self.assertEqual({len(read_status(client)["locks"]) for client in asking}, {2000})

    def test_what_was_said_behind_it_is_answered_behind_it(self):
        with self.cluster[0].client() as asker:
            asker.send_bytes(encode("STATUS", "*", "COUNT", LOCKS) + encode("PING", "behind"))
            self.assertEqual(len(read_status(asker)["locks"]), LOCKS)
            self.assertEqual(asker.read(), "behind")

    def test_who_says_no_more_gets_it_all_the_same(self):
        for address in (self.cluster[0].socket, ("127.0.0.1", self.port)):
            with self.subTest(address), Client(address) as asker:
                asker.send_bytes(encode("STATUS", "*", "COUNT", LOCKS) + encode("PING", "behind") + encode("STATUS", "*", "COUNT", 100))
                asker.socket.shutdown(socket.SHUT_WR)
                self.assertEqual(len(read_status(asker)["locks"]), LOCKS)
                self.assertEqual(asker.read(), "behind")
                self.assertEqual(len(read_status(asker)["locks"]), 100)
                self.assertRaises(Closed, asker.read)

    def test_events_come_between_replies_not_inside(self):
        with self.cluster[0].client(version=3) as asker, self.cluster[0].client() as other:
            asker.call("SUBSCRIBE", "event")
            self.cluster[0].signal(signal.SIGSTOP)  # stop the node, so that all of this arrives in one turn
            self.ask(asker)
            other.send("LOCK", "event")
            other.send("UNLOCK", "event")
            self.cluster[0].signal(signal.SIGCONT)
            fence = other.read()
            self.assertEqual(other.read(), 1)
            pushes = []
            while len(pushes) < 2:
                if asker.left[:1] == b"$" or (not asker.left and asker.socket.recv(1, 2) == b"$"):  # MSG_PEEK
                    break
                pushes.append(asker.read())
            read_status(asker)
            while len(pushes) < 2:
                pushes.append(asker.read())
            self.assertEqual(pushes, [Push(["message", "event", f"granted {fence} n1"]),
                                      Push(["message", "event", f"released {fence} n1"])])

    def test_who_goes_away_meanwhile_leaves_nothing_behind(self):
        fds = self.cluster[0].fds()
        for _ in range(20):
            with self.cluster[0].client() as asker, self.cluster[0].client() as other:
                self.ask(asker)
                other.call("PING")
        with self.cluster[0].client() as other:
            while self.cluster[0].fds() > fds + 1:
                other.call("PING")
            self.assertEqual(other.call("PING"), "PONG")


class Unread(unittest.TestCase):
    def test_all_replies_that_nobody_reads_take_256_mib(self):
        """All clients over TCP are one user, who asks on many connections. Its further questions wait, but short ones do not, and
        neither do those of another user. In the end all get their whole replies."""
        port, names = free_port(), [f"{number:06}-{'n' * 240}" for number in range(20000)]
        everything = ("STATUS", "*", "COUNT", len(names))
        with Cluster(1, "--clients", f"127.0.0.1:{port}", "--client-timeout", "10m", *LONG_LEASE) as cluster, contextlib.ExitStack() as stack:
            node, holder = cluster[0], stack.enter_context(cluster[0].client())
            lock_all(holder, names)
            before_kb = node.rss_kb()
            greedy = [stack.enter_context(Client(("127.0.0.1", port))) for _ in range(40)]
            for client in greedy:
                client.send(*everything) # the reply has nine megabytes
            with Client(("127.0.0.1", port)) as short, node.client() as other:
                node.says("a STATUS waits: replies that are being made or not read take 256 MiB or more, and ")
                self.assertEqual(len(json.loads(short.call("STATUS", names[7]))["locks"]), 1)
                other.send(*everything)
                self.assertEqual(len(read_status(other)["locks"]), len(names))
            if not SANITIZED:
                self.assertLess(node.rss_kb() - before_kb, 400 << 10)
            self.assertGreater(sum(not is_readable(client) for client in greedy), 4)
            while greedy: # those that wait are answered only when others have read
                answered = select.select([client.socket for client in greedy], [], [], 60)[0]
                self.assertTrue(answered)
                client = next(client for client in greedy if client.socket in answered)
                self.assertEqual(len(read_status(client)["locks"]), len(names))
                greedy.remove(client)


class LongStatusOfMany(unittest.TestCase):
    def test_members_tell_all_they_have(self):
        each = 5000
        with Cluster(3) as cluster:
            holders = [node.client() for node in cluster]
            waiter = cluster[2].client()
            for index, holder in enumerate(holders):
                lock_all(holder, [NAME % number for number in range(each * index, each * (index + 1))])
            waiter.send("LOCK", NAME % 0)
            until("the waiter is known", lambda: cluster[0].status(NAME % 0)["locks"][0]["waiters"])
            with cluster[1].client() as asker:
                asker.send("STATUS", "*", "COUNT", 2 * each)
                status = read_status(asker)
            self.assertEqual([lock["name"] for lock in status["locks"]], [NAME % number for number in range(3 * each)])
            self.assertEqual([lock["holder"]["node"] for lock in status["locks"]],
                             ["n1"] * each + ["n2"] * each + ["n3"] * each)
            self.assertEqual([waiter["node"] for waiter in status["locks"][0]["waiters"]], ["n3"])
            for client in (*holders, waiter):
                client.close()

    def test_a_user_has_four_answered_at_a_time(self):
        """A member is silent, so each STATUS waits for it for 200 ms. The fifth one waits for another before that."""
        with Cluster(2, *LONG_LEASE) as cluster, contextlib.ExitStack() as stack:
            clients = [stack.enter_context(cluster[0].client()) for _ in range(5)]
            for client in clients:
                self.assertEqual(client.call("PING"), "PONG")
            cluster[1].signal(signal.SIGSTOP)
            stack.callback(cluster[1].signal, signal.SIGCONT)
            began = time.monotonic()
            for client in clients:
                client.send("STATUS")
            for client in clients:
                self.assertEqual(json.loads(client.read())["silent"], ["n2"])
            self.assertGreater(time.monotonic() - began, 0.4)


if __name__ == "__main__":
    unittest.main()
