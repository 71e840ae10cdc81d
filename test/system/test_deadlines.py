"""After a client has lost a lock, nobody else is let in before the client has had its time to stop. The time counts from the
moment when the client was told, however long the node was idle before. Tries every deadline of the daemon after idle times of
many lengths."""
import contextlib
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest

from baton import BATON
from cluster import Cluster, free_port, until
from resp import Client, Wrong, encode
from yardstick import Yardstick

LEASE_MS = 3000
GRACE_MS = 1000
MARGIN_MS = LEASE_MS // 10
GRACE_TCP_MS = 900 # the longest grace that a client over TCP may ask for: 0.30 of the lease
IDLE_S = [0, 0.3, 0.7, 1.1, 1.6, 2.2, 2.5, 3.1, 4.0, 4.9, 5.05, 6.0]
# The clock is read before the message that starts the time arrives, and after the grant, so the measured time is never too short.
TOLERANCE_MS = 2
LATE_MS = 1500 # for a machine that is not busy; yardstick.late_ms gives more on a busy one


yardstick = Yardstick()


def setUpModule():
    yardstick.__enter__()


def tearDownModule():
    yardstick.__exit__()


def now_ms():
    return time.clock_gettime(time.CLOCK_BOOTTIME) * 1000


def waits(client, name):
    client.send("LOCK", name)


def all_at_once(one, cases):
    """Calls one(case) for each case, in parallel threads, so that all together take as long as the longest."""
    failures = []

    def run(case):
        try:
            one(case)
        except BaseException as failure: # pylint: disable=broad-exception-caught
            failures.append((case, failure))

    threads = [threading.Thread(target=run, args=(case,)) for case in cases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise AssertionError(f"failed: {[str(case) for case, _ in failures]}") from failures[0][1]


class Sweep(unittest.TestCase):
    """Uses one cluster for each idle time."""

    def sweep(self, one, nodes=2):
        def run(idle_s):
            with Cluster(nodes, "--lease", f"{LEASE_MS}ms") as cluster, contextlib.ExitStack() as stack:
                one(cluster, lambda index: stack.enter_context(cluster[index].client()), idle_s)

        all_at_once(run, IDLE_S)

    def is_kept_out(self, waiter, begun_ms, least_ms):
        """Checks that the waiter is let in, but not before `least_ms` after `begun_ms`."""
        self.assertGreater(waiter.read(), 0)
        took_ms = now_ms() - begun_ms
        self.assertGreaterEqual(took_ms, least_ms - TOLERANCE_MS)
        self.assertLess(took_ms, least_ms + yardstick.late_ms(LATE_MS))

    def test_broken(self):
        def one(cluster, client, idle_s):
            holder, waiter, operator = client(0), client(1), client(0)
            holder.call("CLIENT", "GRACE", GRACE_MS)
            fence = holder.call("LOCK", "x")
            operator.call("PING")
            waits(waiter, "x")
            until("it waits", lambda: cluster[0].status()["locks"][0]["waiters"])
            time.sleep(idle_s)
            begun_ms = now_ms()
            self.assertEqual(operator.call("BREAK", "x", fence), 1)
            self.is_kept_out(waiter, begun_ms, GRACE_MS + MARGIN_MS)

        self.sweep(one)

    def test_broken_from_afar(self):
        def one(cluster, client, idle_s):
            holder, waiter, operator = client(0), client(1), client(1)
            holder.call("CLIENT", "GRACE", GRACE_MS)
            fence = holder.call("LOCK", "x")
            waits(waiter, "x")
            until("it waits", lambda: cluster[0].status()["locks"][0]["waiters"])
            time.sleep(idle_s)
            begun_ms = now_ms()
            self.assertEqual(operator.call("BREAK", "x", fence), 1)
            self.is_kept_out(waiter, begun_ms, GRACE_MS + MARGIN_MS)

        self.sweep(one)

    def test_the_node_leaves(self):
        def one(cluster, client, idle_s):
            holder, waiter = client(0), client(1)
            holder.call("CLIENT", "GRACE", GRACE_MS)
            holder.call("LOCK", "x")
            waits(waiter, "x")
            until("it waits", lambda: cluster[0].status()["locks"][0]["waiters"])
            time.sleep(idle_s)
            begun_ms = now_ms()
            cluster[0].signal(signal.SIGTERM)
            self.is_kept_out(waiter, begun_ms, GRACE_MS + MARGIN_MS)
            self.assertEqual(cluster[0].wait(), 0)

        self.sweep(one)

    def test_the_node_is_stopped_before_it_tells(self):
        """A node that is stopped when the break arrives tells the holder as soon as it continues. The time counts from then."""
        def one(cluster, client, idle_s):
            holder, ear, waiter, operator = client(0), client(0), client(1), client(0)
            holder.call("CLIENT", "GRACE", GRACE_MS)
            ear.call("SUBSCRIBE", "x")
            fence = holder.call("LOCK", "x")
            self.assertEqual(ear.read()[2], f"granted {fence} n1")
            waits(waiter, "x")
            until("it waits", lambda: cluster[0].status()["locks"][0]["waiters"])
            cluster[0].signal(signal.SIGSTOP)
            operator.send("BREAK", "x", fence)
            time.sleep(min(idle_s, 2)) # if it were longer, the nodes would close the connection between them
            begun_ms = now_ms()
            cluster[0].signal(signal.SIGCONT)
            self.assertEqual(ear.read()[2], f"lost {fence} n1")
            self.is_kept_out(waiter, begun_ms, GRACE_MS + MARGIN_MS)

        self.sweep(one)

    def test_timeouts_of_locks(self):
        """LOCK … TIMEOUT ends when its time is over, and not before, however long the node slept."""
        def one(cluster, client, idle_s):
            holder, waiter = client(0), client(1)
            holder.call("LOCK", "x")
            time.sleep(idle_s)
            begun_ms = now_ms()
            answer = waiter.call("LOCK", "x", "TIMEOUT", 700)
            took_ms = now_ms() - begun_ms
            self.assertIn(answer, (None, Wrong("SILENT n1"))) # SILENT: on a busy machine n1 may be late
            self.assertGreaterEqual(took_ms, 700 - TOLERANCE_MS)
            self.assertLess(took_ms, 700 + yardstick.late_ms(LATE_MS))

        self.sweep(one)

    def test_a_stranger_has_its_time_to_say_who_it_is(self):
        def one(cluster, client, idle_s):
            time.sleep(idle_s)
            begun_ms = now_ms()
            with socket.create_connection(("127.0.0.1", cluster.ports[0])) as stranger:
                stranger.settimeout(30)
                while stranger.recv(1 << 16):
                    pass
            took_ms = now_ms() - begun_ms
            self.assertGreaterEqual(took_ms, 1000 - TOLERANCE_MS)
            self.assertLess(took_ms, 1000 + yardstick.late_ms(LATE_MS))

        self.sweep(one)

    def test_a_killed_node_is_followed_by_a_pause(self):
        def one(cluster, client, idle_s):
            client(0).call("LOCK", "x")
            time.sleep(idle_s)
            cluster[0].signal(signal.SIGKILL)
            begun_ms = now_ms()
            cluster[0].start()
            until("it answers", cluster[0].answers)
            until("it serves", cluster[0].serves)
            took_ms = now_ms() - begun_ms
            self.assertGreaterEqual(took_ms, LEASE_MS - TOLERANCE_MS)
            self.assertLess(took_ms, LEASE_MS + yardstick.late_ms(LATE_MS))

        self.sweep(one, nodes=1)


class Remote(unittest.TestCase):
    """A client over TCP may be cut off, so it keeps its lock until the end of the lease that it was told last."""

    def reset(self, _, holder, __):
        holder.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        holder.close()

    def end_without_a_word(self, _, holder, __):
        holder.close()

    def break_it(self, cluster, _, fence):
        """Breaks the lock while the holder neither reads nor sends."""
        with cluster[1].client() as operator:
            self.assertEqual(operator.call("BREAK", "x", fence), 1)

    def leave(self, cluster, _, __):
        cluster[0].signal(signal.SIGTERM)

    def break_and_reset(self, cluster, holder, fence):
        """The client keeps the rest of the time that it was given."""
        self.break_it(cluster, holder, fence)
        self.reset(cluster, holder, fence)

    def quit_it(self, _, holder, __):
        holder.call("QUIT")

    def unlock(self, _, holder, fence):
        self.assertEqual(holder.call("UNLOCK", "x", fence), 1)

    def is_kept_out(self, what, until_told):
        port = free_port()
        each = lambda index: ["--clients", f"127.0.0.1:{port}"] if index == 0 else []
        with Cluster(2, "--lease", f"{LEASE_MS}ms", each=each) as cluster, Client(("127.0.0.1", port)) as holder, \
                cluster[1].client() as waiter:
            holder.call("CLIENT", "GRACE", GRACE_TCP_MS)
            holder.call("LEASE")
            fence = holder.call("LOCK", "x")
            waits(waiter, "x")
            until("it waits", lambda: cluster[0].status()["locks"][0]["waiters"])
            begun_ms = now_ms()
            _, least_ms = holder.call("LEASE")
            self.assertGreater(least_ms, GRACE_TCP_MS + MARGIN_MS)
            least_ms *= until_told
            what(cluster, holder, fence)
            waiter.socket.settimeout(60)
            self.assertGreater(waiter.read(), fence)
            took_ms = now_ms() - begun_ms
            self.assertGreaterEqual(took_ms, least_ms - TOLERANCE_MS, what)
            self.assertLess(took_ms, least_ms + yardstick.late_ms(LATE_MS), what)
            if what == self.leave:
                self.assertEqual(cluster[0].wait(), 0)

    def test_who_may_have_been_cut_off_goes_by_what_it_was_told(self):
        cut_off = [self.reset, self.end_without_a_word, self.break_it, self.leave, self.break_and_reset]
        all_at_once(lambda what: self.is_kept_out(what, True), cut_off)

    def test_who_is_gone_is_not_let_in_elsewhere(self):
        port = free_port()
        with Cluster(1, "--lease", f"{LEASE_MS}ms", "--clients", f"127.0.0.1:{port}") as cluster, \
                cluster[0].client() as other, Client(("127.0.0.1", port)) as client:
            client.call("LEASE")
            client.call("LOCK", "x")
            other.call("LOCK", "y")
            client.send("ELECT", "y", "ghost")
            until("it waits", lambda: any(lock["waiters"] for lock in cluster[0].status()["locks"]))
            client.close()
            until("it does not wait", lambda: not any(lock["waiters"] for lock in cluster[0].status()["locks"]))
            other.call("UNLOCK", "y")
            self.assertIsNone(other.call("LEADER", "y"))
            self.assertGreater(other.call("LOCK", "y", "NOWAIT"), 0)

    def test_who_has_stopped_says_so(self):
        all_at_once(lambda what: self.is_kept_out(what, False), [self.quit_it, self.unlock])


class Several(unittest.TestCase):
    """One client has several locks. An event that concerns one lock does not affect the others."""

    def setUp(self):
        self.cluster = Cluster(2, "--lease", f"{LEASE_MS}ms").start()
        self.addCleanup(self.cluster.end)
        self.holder, self.operator = self.cluster[0].client(), self.cluster[0].client()
        self.waiters = {name: self.cluster[1].client() for name in "xy"}
        self.addCleanup(lambda: [client.close() for client in (self.holder, self.operator, *self.waiters.values())])
        self.holder.call("CLIENT", "GRACE", GRACE_MS)
        self.fences = {name: self.holder.call("LOCK", name) for name in "xy"}
        for name, waiter in self.waiters.items():
            waits(waiter, name)
        until("they wait", lambda: [len(lock["waiters"]) for lock in self.cluster[0].status()["locks"]] == [1, 1])

    def break_it(self, name):
        self.assertEqual(self.operator.call("BREAK", name, self.fences[name]), 1)
        return now_ms()

    def test_the_second_that_is_lost_has_its_own_time(self):
        self.break_it("x")
        time.sleep(0.8)
        begun_ms = now_ms()
        self.break_it("y")
        self.assertGreater(self.waiters["y"].read(), 0)
        self.assertGreaterEqual(now_ms() - begun_ms, GRACE_MS + MARGIN_MS - TOLERANCE_MS)

    def test_the_second_is_lost_when_the_time_of_the_first_is_over(self):
        """Both events happen in one turn of the loop, because the node is stopped in the middle of
        that turn, while it has much to do."""
        with self.cluster[0].client() as busy:
            self.break_it("x")
            time.sleep(0.5)
            busy.send_bytes(encode("PING") * 15000)
            self.cluster[0].signal(signal.SIGSTOP)
            self.operator.send("BREAK", "y", self.fences["y"])
            time.sleep(1.2)
            begun_ms = now_ms()
            self.cluster[0].signal(signal.SIGCONT)
            self.assertGreater(self.waiters["y"].read(), 0)
            self.assertGreaterEqual(now_ms() - begun_ms, GRACE_MS + MARGIN_MS - TOLERANCE_MS)

    def test_given_back_in_time_it_is_over(self):
        self.break_it("x")
        self.assertEqual(self.holder.call("UNLOCK", "x"), 0)
        self.assertGreater(self.waiters["x"].read(), 0)
        time.sleep((GRACE_MS + MARGIN_MS) / 1000 + 0.3)
        self.assertEqual(self.holder.call("PING"), "PONG")
        begun_ms = now_ms()
        self.break_it("y")
        self.assertGreater(self.waiters["y"].read(), 0)
        self.assertGreaterEqual(now_ms() - begun_ms, GRACE_MS + MARGIN_MS - TOLERANCE_MS)

    def test_not_given_back_the_other_is_still_held(self):
        self.break_it("x")
        self.assertGreater(self.waiters["x"].read(), 0)
        self.assertTrue(self.waiters["y"].quiet(0.3))
        self.assertEqual(self.holder.call("UNLOCK", "y", self.fences["y"]), 1)
        self.assertGreater(self.waiters["y"].read(), 0)


class ClosedByTheNode(unittest.TestCase):
    """A client that the node closes gets time too, because it first has to notice that."""

    def is_kept_out(self, what):
        with Cluster(1, "--lease", f"{LEASE_MS}ms") as cluster, cluster[0].client() as holder, cluster[0].client() as waiter:
            holder.call("CLIENT", "GRACE", GRACE_MS)
            holder.call("LOCK", "x")
            waits(waiter, "x")
            until("it waits", lambda: cluster[0].status()["locks"][0]["waiters"])
            begun_ms = now_ms()
            what(holder)
            self.assertGreater(waiter.read(), 0)
            took_ms = now_ms() - begun_ms
            self.assertGreaterEqual(took_ms, GRACE_MS + MARGIN_MS - TOLERANCE_MS, what)
            self.assertLess(took_ms, GRACE_MS + MARGIN_MS + yardstick.late_ms(LATE_MS), what)

    def say_nonsense(self, holder):
        holder.send_bytes(b"*nonsense\r\n")

    def read_no_more(self, holder):
        holder.socket.shutdown(socket.SHUT_RD)
        holder.send("PING")

    def test_it_is_kept_out(self):
        all_at_once(self.is_kept_out, [self.say_nonsense, self.read_no_more])


class HeardAtOnce(unittest.TestCase):
    def test_a_loss_does_not_wait_behind_a_gap(self):
        """A late subscriber waits for missing events, but is told of its own loss before that."""
        with Cluster(2, "--lease", f"{LEASE_MS}ms") as cluster, cluster[1].client() as other, \
                cluster[0].client() as holder, cluster[0].client() as ear:
            took_ms = []
            for number in range(21):
                name = f"x{number}"
                for _ in range(3):
                    other.call("LOCK", name)
                    other.call("UNLOCK", name)
                ear.call("SUBSCRIBE", name)
                fence = holder.call("LOCK", name)
                begun_ms = now_ms()
                self.assertEqual(other.call("BREAK", name, fence), 1)
                while ear.read()[2] != f"lost {fence} n1":
                    pass
                took_ms.append(now_ms() - begun_ms)
            # If losses waited for missing events, each of these would be late. A busy machine
            # delays only some of them.
            self.assertLess(sorted(took_ms)[10], 150, "less than the 200 ms that a gap is waited for")


class Restarted(unittest.TestCase):
    def test_small_timeouts_are_refused(self):
        with Cluster(1) as cluster:
            words = [BATON, "node", "--client-timeout", "3999ms", "--socket", "x"]
            done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cluster.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--client-timeout 3999ms: at least 4s", done.stderr)


if __name__ == "__main__":
    unittest.main()
