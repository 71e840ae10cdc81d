"""If a member does not answer, it may be unknown whether a lock is free; the lock is not reported
as held then. A client that loses a lock is told why."""
import contextlib
import json
import os
import signal
import subprocess
import time
import unittest

from baton import BATON
from cluster import LONG_LEASE, Cluster, environment, until
from resp import Wrong, encode
from yardstick import best_of

NAMES = [f"job{number}" for number in range(12)]


def baton(*words, **options):
    return subprocess.run([BATON, *words], capture_output=True, text=True, check=False, env=environment(),
                          timeout=60, **options)


class OneIsSilent(unittest.TestCase):
    """One of three nodes is dead or stopped, and nobody holds anything."""

    def without(self, cluster, number):
        cluster[2].signal(number)
        answers = {}
        for name in NAMES:
            done = baton("run", "-S", cluster[0].socket, "-n", "-E", "0", name, "true")
            self.assertIn(done.returncode, (0, 69), done.stderr)
            answers[name] = done
        unknown = [done for done in answers.values() if done.returncode == 69]
        # About a third of all names have their home at that node, and it takes part in more of them.
        self.assertTrue(unknown)
        for done in unknown:
            self.assertIn("cannot be known", done.stderr)
            self.assertRegex(done.stderr, "no answer from .*n3") # other nodes may be silent too, on a busy machine
        return next(name for name, done in answers.items() if done.returncode == 69)

    def test_killed(self):
        with Cluster(3, *LONG_LEASE) as cluster:
            name = self.without(cluster, signal.SIGKILL)
            with cluster[1].client() as client:
                def tries():
                    begun = time.monotonic()
                    self.assertRegex(client.call("LOCK", name, "NOWAIT"), "^SILENT .*n3")
                    return time.monotonic() - begun

                best_of(5, 1.5, tries)
                self.assertRegex(client.call("LOCK", name, "TIMEOUT", 100), "^SILENT .*n3")
            with self.subTest("--status-fd"):
                read, write = os.pipe()
                done = baton("run", "-S", cluster[0].socket, "-n", "--status-fd", str(write), name, "true",
                             pass_fds=[write])
                os.close(write)
                with open(read, encoding="utf-8") as file:
                    line = json.loads(file.read())
                self.assertEqual((done.returncode, line["acquired"], line["reason"]), (69, False, "silent"))
            with self.subTest("-w"):
                done = baton("run", "-S", cluster[0].socket, "-w", "0.3", "-E", "0", name, "true")
                self.assertEqual(done.returncode, 69, done.stderr)
            with self.subTest("known to be busy"), cluster[0].client() as waiter:
                waiter.send("LOCK", name)
                until("it waits", lambda: cluster[0].status()["locks"])
                # The exit code may be 69 for a while: on a busy machine n1, which knows, may not
                # answer in time.
                until("it is known", lambda: baton("run", "-S", cluster[1].socket, "-n", "-E", "7", name, "true").returncode == 7)

    def test_stopped(self):
        with Cluster(3, *LONG_LEASE) as cluster:
            try:
                self.without(cluster, signal.SIGSTOP)
            finally:
                cluster[2].signal(signal.SIGCONT)

    def test_a_node_that_hangs_and_one_that_is_not_there(self):
        with Cluster(1) as cluster:
            cluster[0].signal(signal.SIGSTOP)
            try:
                for words in (["-n"], ["-w", "0.5"]):
                    done = baton("run", "-S", cluster[0].socket, *words, "-E", "0", "x", "true")
                    self.assertEqual(done.returncode, 69, done.stderr)
                    self.assertIn("does not answer", done.stderr)
            finally:
                cluster[0].signal(signal.SIGCONT)
        done = baton("run", "-S", "host.invalid:7441", "-n", "-E", "0", "x", "true")
        self.assertEqual(done.returncode, 69)
        self.assertIn("host.invalid", done.stderr)


class Waiting(unittest.TestCase):
    def start(self, *words):
        return subprocess.Popen([BATON, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=environment())

    def test_with_a_time_for_a_node_that_comes(self):
        with Cluster(1) as cluster:
            cluster[0].end()
            run = self.start("run", "-S", cluster[0].socket, "-w", "30s", "x", "echo", "in")
            time.sleep(0.3)
            self.assertIsNone(run.poll())
            cluster[0].start()
            self.assertEqual(run.communicate(timeout=60), ("in\n", ""))

    def test_with_a_time_for_a_view_that_comes(self):
        with Cluster(2) as cluster:
            for node in cluster:
                node.end()
            cluster[0].start()
            until("it answers", cluster[0].answers)
            run = self.start("run", "-S", cluster[0].socket, "-w", "30s", "x", "echo", "in")
            time.sleep(0.3)
            self.assertIsNone(run.poll())
            cluster[1].start()
            self.assertEqual(run.communicate(timeout=60), ("in\n", ""))

    def test_in_vain(self):
        """One voter of three is not a majority."""
        with Cluster(3) as cluster:
            for node in cluster:
                node.end()
            gone = baton("run", "-S", cluster[0].socket, "-w", "0.5s", "-E", "0", "x", "true")
            self.assertEqual(gone.returncode, 69, gone.stderr)
            cluster[0].start()
            until("it answers", cluster[0].answers)
            for words in ([], ["-n"], ["-w", "0.5s"]):
                alone = baton("run", "-S", cluster[0].socket, *words, "-E", "0", "x", "true")
                self.assertEqual(alone.returncode, 69, alone.stderr)
                self.assertRegex(alone.stderr, "no agreed view|cannot be known")

    def test_for_ever_through_a_restart(self):
        with Cluster(1) as cluster:
            holder = cluster[0].client()
            holder.call("LOCK", "x")
            run = self.start("run", "-S", cluster[0].socket, "x", "echo", "in")
            until("it waits", lambda: cluster[0].status()["locks"][0]["waiters"])
            cluster[0].end()
            time.sleep(0.3)
            self.assertIsNone(run.poll())
            cluster[0].start()
            self.assertEqual(run.communicate(timeout=60), ("in\n", ""))
            holder.close()


class Reasons(unittest.TestCase):
    """Tests that the reason for a loss, and who caused it, are in the log, in the reply to a client that asks, in the message of
    `baton run`, and in --status-fd.
    """

    def lose(self, cluster, how, **variables):
        read, write = os.pipe()
        run = subprocess.Popen([BATON, "run", "-S", cluster[0].socket, "--status-fd", str(write), "x", "sleep", "1000"],
                               stderr=subprocess.PIPE, text=True, pass_fds=[write], env=environment(**variables))
        os.close(write)
        fence = until("it holds", lambda: next((lock["fence"] for lock in cluster[0].status()["locks"]), None))
        how(fence)
        self.assertEqual(run.wait(60), 76)
        with open(read, encoding="utf-8") as file:
            reason = json.loads(file.read())["reason"]
        with run.stderr:
            return reason, run.stderr.read()

    def test_broken(self):
        with Cluster(2, *LONG_LEASE) as cluster, cluster[1].client() as operator, cluster[0].client() as ear, cluster[1].client() as far:
            by = f"broken uid {os.getuid()} pid {os.getpid()} at n2"
            for listener in (ear, far):
                self.assertEqual(listener.call("CLIENT", "REASONS", "ON"), "OK")
                listener.call("SUBSCRIBE", "x")
            reason, said = self.lose(cluster, lambda fence: operator.call("BREAK", "x", fence))
            self.assertEqual(reason, "broken")
            self.assertIn(by, said)
            cluster[0].says(by)
            for listener in (ear, far):
                # The grant may be missed: on a busy machine n1 learns of the subscription later than SUBSCRIBE waits for it. But n1
                # learns of it before it hears of BREAK, because the subscription and BREAK come from the same node.
                text = until("it is told", lambda: next((text for text in [listener.read()[2]] if text.startswith("lost")), None))
                self.assertRegex(text, f"^lost [0-9]+ n1 {by}$")

    def test_broken_before_the_grant_was_read(self):
        with Cluster(1) as cluster, cluster[0].client() as holder, cluster[0].client() as operator:
            holder.call("LOCK", "x")
            read, write = os.pipe()
            run = subprocess.Popen([BATON, "run", "-S", cluster[0].socket, "--status-fd", str(write), "x", "sleep", "1000"],
                                   stderr=subprocess.PIPE, text=True, pass_fds=[write], env=environment())
            os.close(write)
            until("it waits", lambda: cluster[0].status()["locks"][0]["waiters"])
            os.kill(run.pid, signal.SIGSTOP)
            holder.call("UNLOCK", "x")
            held = lambda: (cluster[0].status()["locks"] or [{"holder": None}])[0]
            until("it holds", lambda: (held()["holder"] or {}).get("pid") == run.pid)
            operator.send("BREAK", "x", held()["fence"])
            until("it is told", lambda: held()["holder"]["losing"])
            os.kill(run.pid, signal.SIGCONT)
            self.assertEqual(run.wait(60), 76)
            with open(read, encoding="utf-8") as file, run.stderr:
                self.assertEqual(json.loads(file.read())["reason"], "broken")
                self.assertIn(f"lost as soon as it was held: broken uid {os.getuid()} pid {os.getpid()}", run.stderr.read())

    def test_broken_is_told_as_ever_to_who_does_not_ask(self):
        with Cluster(1) as cluster, cluster[0].client() as holder, cluster[0].client() as ear, \
                cluster[0].client() as operator:
            ear.call("SUBSCRIBE", "x")
            fence = holder.call("LOCK", "x")
            self.assertEqual(ear.read()[2], f"granted {fence} n1")
            self.assertEqual(operator.call("BREAK", "x", fence), 1)
            self.assertEqual(ear.read()[2], f"lost {fence} n1")

    def test_leaving(self):
        with Cluster(1) as cluster:
            reason, said = self.lose(cluster, lambda _: cluster[0].signal(signal.SIGTERM))
            self.assertEqual(reason, "leaving")
            self.assertIn("leav", said)
            cluster[0].wait()

    def test_connection(self):
        with Cluster(1) as cluster:
            reason, said = self.lose(cluster, lambda _: cluster[0].signal(signal.SIGKILL))
            self.assertEqual(reason, "connection")
            self.assertIn("connection", said)

    def test_connection_before_the_command_is_executed(self):
        """`baton run` writes one line. The process that still looks for its program in a long PATH does not write a second one.
        """
        with Cluster(1) as cluster:
            path = "/x:" * 40000 + os.environ["PATH"]
            reason, _ = self.lose(cluster, lambda _: cluster[0].signal(signal.SIGKILL), PATH=path)
            self.assertEqual(reason, "connection")


class Events(unittest.TestCase):
    """Events are dropped, and the drop is reported, long before they could stop anything else."""

    def work(self, client, count, name="w" * 200):
        pair = encode("LOCK", name) + encode("UNLOCK", name)
        for _ in range(count // 500):
            client.send_bytes(pair * 500)
            for _ in range(1000):
                self.assertNotIsInstance(client.read(), Wrong)

    def test_a_subscriber_at_a_node_that_hangs_stops_nobody(self):
        with Cluster(3, *LONG_LEASE) as cluster, cluster[0].client() as client, contextlib.ExitStack() as stack:
            ear = stack.enter_context(cluster[2].client())
            ear.call("PSUBSCRIBE", "*")
            name = next(name for name in (f"{'w' * 200}{number}" for number in range(100))
                        if client.call("LOCK", name, "NOWAIT") and client.call("UNLOCK", name))
            cluster[2].signal(signal.SIGSTOP)
            epoch = cluster[0].status()["epoch"]
            try:
                self.work(client, 200000, name) # more than 64 MB of events, which would end the epoch
                self.assertEqual(cluster[0].status()["epoch"], epoch)
            finally:
                cluster[2].signal(signal.SIGCONT)
            message = ear.read()
            while not message[3].startswith("dropped"):
                message = ear.read()
            self.assertEqual(message[:3], ["pmessage", "*", "*"])
            word, count, node = message[3].split()
            self.assertEqual((word, node), ("dropped", "n1"))
            self.assertGreater(int(count), 0)
            # Later events are delivered again.
            self.assertGreater(client.call("LOCK", "after"), 0)
            until("the next event comes", lambda: ear.read()[2] == "after")

    def test_one_that_does_not_read_keeps_its_connection(self):
        with Cluster(1) as cluster, cluster[0].client() as client, cluster[0].client() as ear:
            ear.call("SUBSCRIBE", "x")
            before_kb = cluster[0].rss_kb()
            pair = encode("LOCK", "x") + encode("UNLOCK", "x")
            pairs = 0

            def dropped():
                nonlocal pairs
                pairs += 500
                client.send_bytes(pair * 500)
                for _ in range(1000):
                    client.read()
                return "a subscriber does not read" in cluster[0].log()

            until("events are dropped", dropped)
            self.work(client, 20000, "x")
            pairs += 20000
            self.assertLess(cluster[0].rss_kb(), before_kb + 20000)
            last, told, word = 0, 0, ""
            while word != "dropped":
                _, channel, text = ear.read()
                self.assertEqual(channel, "x")
                word, number, _ = text.split()
                if word != "dropped":
                    self.assertGreaterEqual(int(number), last)
                    last = int(number)
                    told += 1
            # Each pair has two events, and each of them is delivered or counted as dropped.
            self.assertEqual(told + int(number), 2 * pairs)


if __name__ == "__main__":
    unittest.main()
