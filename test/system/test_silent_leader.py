"""If the leader's node is silent, baton observe must show neither that all is well nor that nobody leads."""
import json
import queue
import signal
import subprocess
import threading
import unittest

from baton import BATON
from cluster import LONG_LEASE, PATIENCE_S, Cluster, until


class Observer:
    """A `baton observe`, and its lines in the order in which they are printed."""

    def __init__(self, node, *words):
        self.process = subprocess.Popen([BATON, "observe", "-S", node.socket, *words, "job"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.seen = []
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def next(self):
        """Returns the next line; if it is JSON, the object."""
        try:
            line = self.lines.get(timeout=PATIENCE_S)
        except queue.Empty:
            raise AssertionError(f"only these lines came: {self.seen}") from None
        self.seen.append(json.loads(line) if line.startswith("{") else line)
        return self.seen[-1]

    def wait_for(self, line):
        """Waits for a line. Other lines may come first: on a busy machine a node may be silent for a moment."""
        while self.next() != line:
            pass

    def close(self):
        self.process.kill()
        self.process.wait()
        self.thread.join()
        self.process.stdout.close()
        self.process.stderr.close()


class LeaderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Makes one cluster for all tests, because with a long lease its start takes long. Each test leaves it unchanged."""
        cls.cluster = cls.enterClassContext(Cluster(3, *LONG_LEASE))

    def setUp(self):
        """Waits until the leader of the previous test has ended, and the nodes answer again."""
        for node in self.cluster:
            with node.client() as client:
                until("nobody leads", lambda client=client: client.call("LEADER", "job", "SILENT") == [None, None, None, []])

    def stop(self, index):
        self.cluster[index].signal(signal.SIGSTOP)
        self.addCleanup(self.cluster[index].signal, signal.SIGCONT)

    def observe(self, index, *words):
        observer = Observer(self.cluster[index], *words)
        self.addCleanup(observer.close)
        return observer

    def lead(self, index, value="here"):
        client = self.cluster[index].client()
        self.addCleanup(client.close)
        return client, client.call("ELECT", "job", value)


class SilentLeader(LeaderTest):
    def test_it_is_marked_and_the_mark_is_taken_back(self):
        leader, fence = self.lead(0)
        observers = [self.observe(1), self.observe(2, "-a"), self.observe(1, "--json"), self.observe(0)]
        plain = f"{fence} n1 here"
        told = {"fence": fence, "node": "n1", "value": "here"}
        for observer, line in zip(observers, (plain, "leads " + plain, {**told, "silent": False}, plain)):
            observer.wait_for(line)
        self.stop(0)
        # The last observer asks the very node that is stopped.
        for observer, line in zip(observers, ("silent " + plain, "silent " + plain, {**told, "silent": True},
                                              "silent " + plain)):
            observer.wait_for(line)
        late = [self.observe(1), self.observe(2, "--json")]
        self.assertEqual(late[0].next(), "silent " + plain)
        self.assertEqual(late[1].next(), {**told, "silent": True})
        self.cluster[0].signal(signal.SIGCONT)
        for observer, line in zip((*observers, *late), (plain, "leads " + plain, {**told, "silent": False},
                                                        plain, plain, {**told, "silent": False})):
            observer.wait_for(line)
        self.assertEqual(leader.call("RESIGN", "job"), 1)
        observers[1].wait_for("ended " + plain)

    def test_one_that_ended_while_it_was_silent(self):
        leader, fence = self.lead(0)
        observer = self.observe(1)
        observer.wait_for(f"{fence} n1 here")
        self.stop(0)
        observer.wait_for(f"silent {fence} n1 here")
        leader.close()
        self.cluster[0].signal(signal.SIGCONT)
        observer.wait_for(f"ended {fence} n1 here")
        _, second = self.lead(2, "there")
        observer.wait_for(f"{second} n3 there")

    def test_nobody_is_known_to_lead(self):
        self.stop(2)
        text, lines = self.observe(0), self.observe(1, "--json", "-a")
        nothing = {"fence": None, "node": None, "value": None}
        self.assertEqual(text.next(), "unknown n3")
        self.assertEqual(lines.next(), {**nothing, "silent": True, "silent_members": ["n3"], "leads": None})
        self.cluster[2].signal(signal.SIGCONT)
        text.wait_for("nobody")
        lines.wait_for({**nothing, "silent": False, "leads": False})
        _, fence = self.lead(2)
        text.wait_for(f"{fence} n3 here")

    def test_a_member_that_does_not_lead_changes_nothing(self):
        leader, fence = self.lead(0)
        observer = self.observe(1)
        observer.wait_for(f"{fence} n1 here")
        before = len(observer.seen)
        self.stop(2)
        with self.cluster[1].client() as client:
            for _ in range(8):  # long enough for several queries
                self.assertEqual(client.call("LEADER", "job", "SILENT")[:3], [fence, "n1", "here"])
        self.cluster[2].signal(signal.SIGCONT)
        leader.call("RESIGN", "job")
        _, second = self.lead(1, "there")
        observer.wait_for(f"{second} n2 there")
        self.assertNotIn(f"silent {fence} n1 here", observer.seen[before:])

    def test_the_protocol(self):
        with self.cluster[1].client() as two, self.cluster[1].client(version=3) as three:
            for client in (two, three):
                until("all answer", lambda client=client: client.call("LEADER", "job", "SILENT") == [None, None, None, []])
                self.assertEqual(client.call("LEADER", "job"), None)
                self.assertEqual(client.call("LEADER", "job", "LOUD"), "ERR syntax error: LEADER name [SILENT]")
                self.assertTrue(client.call("LEADER", "", "SILENT").startswith("NAME "))
                self.assertIsInstance(client.call("LOCK", "other"), int)
                self.assertEqual(client.call("UNLOCK", "other"), 1)
            _, fence = self.lead(0)
            self.stop(0)
            for client in (two, three):
                self.assertEqual(client.call("LEADER", "job"), [fence, "n1", "here"])
                self.assertEqual(client.call("LEADER", "job", "silent"), [fence, "n1", "here", ["n1"]])
                self.assertEqual(client.call("LEADER", "other", "silent"), [None, None, None, ["n1"]])
            self.stop(2)
            self.assertEqual(two.call("LEADER", "other", "SILENT"), [None, None, None, ["n1", "n3"]])


class KilledLeader(LeaderTest):
    def test_it_is_marked(self):
        _, fence = self.lead(0)
        old = self.observe(1)
        old.wait_for(f"{fence} n1 here")
        self.cluster[0].signal(signal.SIGKILL)
        old.wait_for(f"silent {fence} n1 here")
        self.assertEqual(self.observe(2).next(), f"silent {fence} n1 here")


if __name__ == "__main__":
    unittest.main()
