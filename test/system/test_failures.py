"""A node is killed, or stopped for less than its lease. Everything that does not need it goes on; when it continues, the rest
does too."""
import contextlib
import json
import signal
import threading
import unittest

from cluster import LONG_LEASE, Cluster, until
from resp import Closed, encode
from work import work


def take_and_leave(node, lock):
    with node.client() as client:
        fence = client.call("LOCK", lock)
        assert isinstance(fence, int), fence
        assert client.call("UNLOCK", lock) == 1
        return fence


class OneIsGone(unittest.TestCase):
    def goes_on_without(self, cluster, number):
        """n3 is gone. The tokens of `mine` and `ours` are at the other nodes."""
        with cluster[0].client() as client:
            self.assertEqual(client.call("PING"), "PONG")
            fences = []
            for _ in range(20):
                fences.append(client.call("LOCK", "mine"))
                client.call("UNLOCK", "mine")
            self.assertEqual(fences, sorted(set(fences)))
            self.assertIn("n3", json.loads(client.call("STATUS"))["silent"])
        last = 0
        for turn in range(20):
            fence = take_and_leave(cluster[turn % 2], "ours")
            self.assertGreater(fence, last, number)
            last = fence
        with cluster[1].client() as first, cluster[1].client() as second:
            first.call("LOCK", "ours")
            second.send("LOCK", "ours")
            first.close()
            self.assertGreater(second.read(), last)
        with cluster[1].client() as client: # nobody waits for a member that does not answer
            self.assertEqual(client.call("SUBSCRIBE", "ours"), ["subscribe", "ours", 1])
        with cluster[1].client() as client:
            self.assertIsNone(client.call("LEADER", "nobody"))
            self.assertRegex(client.call("LOCK", "theirs", "TIMEOUT", 50), "^SILENT .*n3")
            self.assertRegex(client.call("LOCK", "theirs", "NOWAIT"), "^SILENT .*n3")
            self.assertIn("SILENT", client.call("BREAK", "theirs", 1))

    def prepare(self, cluster):
        """Gives each node the token of one lock. `theirs` is held at n3."""
        take_and_leave(cluster[1], "ours")
        take_and_leave(cluster[0], "ours")
        take_and_leave(cluster[0], "mine")
        holder = cluster[2].client()
        self.addCleanup(holder.close)
        return holder, holder.call("LOCK", "theirs")

    def test_killed(self):
        with Cluster(3, *LONG_LEASE) as cluster:
            self.prepare(cluster)
            cluster[2].signal(signal.SIGKILL)
            self.goes_on_without(cluster, signal.SIGKILL)

    def test_stopped_and_woken(self):
        with Cluster(3, *LONG_LEASE) as cluster:
            holder, fence = self.prepare(cluster)
            cluster[2].signal(signal.SIGSTOP)
            self.goes_on_without(cluster, signal.SIGSTOP)
            with cluster[0].client() as waiter:
                waiter.send("LOCK", "theirs")
                self.assertTrue(waiter.quiet())
                cluster[2].signal(signal.SIGCONT)
                holder.send("UNLOCK", "theirs", fence)
                self.assertEqual(holder.read(), 1)
                self.assertGreater(waiter.read(), fence)
            until("nobody is silent", lambda: cluster[0].status()["silent"] == [])
            work(cluster, 30, clients=12, locks=3)

    def test_much_for_one_that_is_stopped(self):
        """suzuki-kasami sends every request to all nodes. Messages for the stopped node wait for it."""
        with Cluster(3, "--algorithm", "suzuki-kasami", *LONG_LEASE) as cluster:
            holder, fence = self.prepare(cluster)
            cluster[2].signal(signal.SIGSTOP)
            with cluster[0].client() as first, cluster[1].client() as second:
                for turn in range(600):
                    client = (first, second)[turn % 2]
                    client.send("LOCK", "ours")
                    self.assertIsInstance(client.read(), int)
                    client.call("UNLOCK", "ours")
            cluster[2].signal(signal.SIGCONT)
            self.assertEqual(holder.call("UNLOCK", "theirs", fence), 1)
            self.assertGreater(take_and_leave(cluster[2], "ours"), fence)
            work(cluster, 30, clients=12, locks=3)

    def test_much_more_than_sockets_hold(self):
        """The stopped node is sent so much that its sockets are full. When it continues, nothing has been lost."""
        with Cluster(2, *LONG_LEASE) as cluster, cluster[1].client() as listener:
            listener.call("PSUBSCRIBE", "*") # so that n1, which votes, sends its events to n2
            name = "event" * 50
            take_and_leave(cluster[0], name)
            cluster[1].signal(signal.SIGSTOP)
            with cluster[0].client() as client:
                pairs = (encode("LOCK", name) + encode("UNLOCK", name)) * 500

                for _ in range(60): # 17 MB: more than sockets hold, but less than is kept for a peer
                    client.send_bytes(pairs)
                    for _ in range(1000):
                        self.assertIsInstance(client.read(), int)
                fence = client.call("LOCK", name)
                cluster[1].signal(signal.SIGCONT)
                with cluster[1].client() as waiter:
                    waiter.send("LOCK", name)
                    until("n2 waits", lambda: cluster[0].status()["locks"][0]["waiters"])
                    client.call("UNLOCK", name, fence)
                    self.assertGreater(waiter.read(), fence)
            work(cluster, 30, clients=8, locks=3)


class Leaving(unittest.TestCase):
    def test_who_waits_elsewhere_gets_what_was_held_here(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number=number), Cluster(3) as cluster:
                holder, waiter = cluster[1].client(), cluster[0].client()
                fence = holder.call("LOCK", "handed on")
                waiter.send("LOCK", "handed on")
                until("n1 waits", lambda: cluster[2].status()["locks"][0]["waiters"])
                cluster[1].signal(number)
                self.assertGreater(waiter.read(), fence)
                self.assertEqual(cluster[1].wait(), 0)
                self.assertTrue(holder.closed())
                until("n2 is not a member", lambda: [member["name"] for member in cluster[0].status()["members"]] == ["n1", "n3"])
                holder.close()
                waiter.close()

    def test_one_that_did_not_read_and_is_gone_is_not_waited_for(self):
        with Cluster(1, "--lease", "1h") as cluster, cluster[0].client() as client:
            client.call("CLIENT", "GRACE", 600000)
            client.call("LOCK", "x")
            client.socket.setblocking(False)
            flood, sent = encode("PING", "z" * 3000) * 100, 0
            with contextlib.suppress(BlockingIOError):
                while True: # until the socket takes no more; the part that it took is not sent twice
                    sent += client.socket.send(flood[sent % len(flood):])
            cluster[0].signal(signal.SIGTERM)
            cluster[0].says("leaving")
            client.socket.settimeout(0.5)
            with contextlib.suppress(TimeoutError, ConnectionResetError): # the connection may have been closed already
                while client.socket.recv(1 << 16):
                    pass
            client.close()
            self.assertEqual(cluster[0].wait(), 0)

    def test_one_that_loses_its_lock_at_once_is_told_though_it_listens_to_something_else(self):
        """Other clients have time to stop. A client without such time must not believe that it still holds its lock."""
        with Cluster(2, "--lease", "10s") as cluster, cluster[0].client() as holder, cluster[0].client() as slow, \
                cluster[1].client() as waiter:
            holder.call("HELLO", 3)
            holder.call("SUBSCRIBE", "other")
            fence = holder.call("LOCK", "x")
            slow.call("CLIENT", "GRACE", 3500)
            slow.call("LOCK", "y")
            waiter.send("LOCK", "x")
            until("n2 waits", lambda: any(lock["waiters"] for lock in cluster[0].status()["locks"]))
            cluster[0].signal(signal.SIGTERM)
            self.assertGreater(waiter.read(), fence)
            self.assertTrue(holder.closed())
            self.assertEqual(slow.call("PING"), "PONG") # the holder was told while this client still had time
            slow.call("QUIT")
            self.assertEqual(cluster[0].wait(), 0)

    def test_listeners_that_never_pause_do_not_keep_it(self):
        with Cluster(1) as cluster:
            clients = [cluster[0].client() for _ in range(8)]
            for client in clients:
                client.call("HELLO", 3)
                client.call("SUBSCRIBE", "x")

            def talk(client):
                with contextlib.suppress(OSError, Closed):
                    while True:
                        client.call("PING")

            talkers = [threading.Thread(target=talk, args=(client,)) for client in clients]
            for talker in talkers:
                talker.start()
            self.assertEqual(cluster[0].end(), 0)
            for talker in talkers:
                talker.join()
            for client in clients:
                client.close()

    def test_it_leaves_though_a_peer_is_stopped(self):
        with Cluster(2) as cluster:
            take_and_leave(cluster[0], "x")
            cluster[0].signal(signal.SIGSTOP)
            self.assertEqual(cluster[1].end(), 0)


if __name__ == "__main__":
    unittest.main()
