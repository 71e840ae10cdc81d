"""baton dev makes a cluster with one command and leaves nothing behind, however it ends. baton status is for people and for
programs."""
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

from baton import BATON
from cluster import LONG_LEASE, PATIENCE_S, Cluster, environment, until


def processes_with(text):
    """Returns the command lines of all processes that contain the text."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in line:
            found.append(line)
    return found


class Dev(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="baton-test-")
        self.addCleanup(self.folder.cleanup)
        self.process = None

    def start(self, *words):
        self.process = subprocess.Popen([BATON, "dev", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env=environment(XDG_RUNTIME_DIR=self.folder.name), start_new_session=True)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)

    def read_until(self, text):
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if text in line:
                return lines
        self.fail(f"'{text}' was not said:\n{''.join(lines)}")

    def leaves_nothing(self):
        until(lambda: f"{os.listdir(self.folder.name)}, {processes_with(self.folder.name)} are left",
              lambda: not os.listdir(self.folder.name) and not processes_with(self.folder.name))

    def test_it_hands_a_lock_around_and_ends_in_time(self):
        self.start("--for", "200ms")
        text = self.process.communicate(timeout=PATIENCE_S)[0]
        self.assertEqual(self.process.returncode, 0, text)
        self.assertIn("A cluster of 3 nodes, neilsen.", text)
        fences = [int(fence) for fence in re.findall(r"n\d +has it, fence (\d+)", text)]
        self.assertEqual(fences, list(range(fences[0], fences[0] + 4)))
        self.assertRegex(text, r"\d+ messages between the nodes for 4 grants")
        self.assertIn(f"export BATON_SOCKET={self.folder.name}/", text)
        self.leaves_nothing()

    def test_other_clusters(self):
        for words in (["--nodes", "1"], ["--nodes", "5", "--algorithm", "helary", "--topology", "line"],
                      ["--nodes", "11", "--algorithm", "misra"]):
            self.start("--for", "1ms", *words)
            text = self.process.communicate(timeout=PATIENCE_S)[0]
            self.assertEqual(self.process.returncode, 0, text)
            self.assertEqual(text.count("has it, fence"), int(words[1]) + 1)
            self.leaves_nothing()

    def test_signals_end_all_of_it(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.start()
            self.read_until("redis-cli")
            os.kill(self.process.pid, number)
            self.assertEqual(self.process.wait(PATIENCE_S), 0)
            self.leaves_nothing()

    def test_ctrl_c_while_it_starts(self):
        for _ in range(5):
            self.start("--nodes", "5")
            until("there are nodes", lambda: processes_with(self.folder.name + "/"))
            os.killpg(self.process.pid, signal.SIGINT)
            self.process.wait(PATIENCE_S)
            self.leaves_nothing()

    def test_kill_9_leaves_nothing_either(self):
        self.start()
        self.read_until("redis-cli")
        self.assertNotEqual(processes_with(self.folder.name), [])
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self.leaves_nothing()

    def test_failover_is_shown(self):
        self.start("--failover", "--for", "1ms")
        text = self.process.communicate(timeout=PATIENCE_S)[0]
        self.assertEqual(self.process.returncode, 0, text)
        held = re.search(r"n1 +holds 'demo', fence (\d+); a client of n2 waits", text)
        granted = re.search(r"n1 +is killed: kill -9\n +n2 +has it, fence (\d+), after [0-9.]+ s", text)
        self.assertGreater(int(granted[1]), int(held[1]))
        self.assertRegex(text, r"n1 +is started again and serves after [0-9.]+ s")
        self.leaves_nothing()

    def test_a_node_that_is_killed_is_told_of(self):
        self.start()
        text = "".join(self.read_until("redis-cli"))
        path = re.search(r"n2 +(\S+)", text)[1]
        victim = next(pid for pid in filter(str.isdigit, os.listdir("/proc")) if self.serves(pid, path))
        os.kill(int(victim), signal.SIGKILL)
        self.read_until("n2 was ended by signal 9; it is started again in 5 s")
        victim = until("n2 is started again",
                       lambda: next((pid for pid in filter(str.isdigit, os.listdir("/proc")) if self.serves(pid, path)), None))
        until("n2 serves again", lambda: subprocess.run([BATON, "status", "--ready", "-S", path], check=False).returncode == 0)
        os.kill(self.process.pid, signal.SIGINT)
        self.assertEqual(self.process.wait(PATIENCE_S), 0)
        self.leaves_nothing()

    @staticmethod
    def serves(pid, path):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                return f"\0--socket\0{path}\0".encode() in file.read()
        except OSError:
            return False

    def test_bad_words_are_refused(self):
        for words, says in ((["--nodes", "0"], "--nodes"), (["--nodes", "65"], "--nodes"),
                            (["--algorithm", "bully"], "this is an election"), (["--algorithm", "neilson"], "neilsen"),
                            (["--topology", "line:3"], "topology"), (["--for", "ever"], "--for"),
                            (["--failover", "--nodes", "2"], "three nodes are needed"), (["x"], "unexpected 'x'")):
            with self.subTest(words=words):
                self.start(*words)
                text = self.process.communicate(timeout=PATIENCE_S)[0]
                self.assertEqual(self.process.returncode, 2, text)
                self.assertEqual(len(text.splitlines()), 1, text)
                self.assertIn(says, text)
        self.leaves_nothing()


class Status(unittest.TestCase):
    def run_status(self, *words, code=0, **env):
        done = subprocess.run([BATON, "status", *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False,
                              env=environment(**env))
        self.assertEqual(done.returncode, code, done)
        return done.stdout if code in (0, 3) else done.stderr

    def ready(self, node, code):
        """Checks that nothing is printed, whatever the answer is."""
        began = time.monotonic()
        done = subprocess.run([BATON, "status", "--ready", "-S", node if isinstance(node, str) else node.socket],
                              capture_output=True, timeout=PATIENCE_S, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (code, b"", b""))
        return time.monotonic() - began

    def test_a_table_within_100_columns(self):
        with Cluster(3, "--algorithm", "helary", "--topology", "ring") as cluster:
            holder, waiters = cluster[0].client(), [cluster[number % 3].client() for number in range(3)]
            names = ["a", b"0\x000", "x" * 255, "ü" * 100, "tab\there", "\x1b[2J", b"\xff\xfe" * 60]
            for name in names:
                holder.call("LOCK", name)
            for waiter in waiters:
                waiter.send("LOCK", "a")
            until("they wait", lambda: len(cluster[0].status("a")["locks"][0]["waiters"]) == 3)
            text = self.run_status("-S", cluster[0].socket)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 100, line)
                self.assertTrue(line.isprintable(), line)
            self.assertEqual(text.count(" holds "), len(names))
            self.assertEqual(text.count(" waits "), 3)
            self.assertIn("n1: epoch ", text)
            self.assertEqual(text.count(" active"), 3)
            self.assertIn("Nobody holds such a lock", self.run_status("-S", cluster[1].socket, "nothing*"))
            told = json.loads(self.run_status("--json", BATON_SOCKET=cluster[2].socket))
            self.assertEqual(set(told), {"node", "epoch", "algorithm", "topology", "members", "takeover_ms", "lease_ms",
                                         "waiting_for", "certificate_days", "locks", "messages", "grants", "silent", "links", "by_member"})
            self.assertEqual((told["node"], len(told["locks"])), ("n3", len(names)))
            self.assertEqual([list(member) for member in told["members"]], [["name", "address", "incarnation", "state", "lease_ms"]] * 3)
            self.assertEqual(list(told["by_member"]), ["n1", "n2", "n3"])
            for total, count in ((told["grants"], "grants"), (told["messages"]["sent"], "sent")):
                self.assertEqual(total, sum(member[count] for member in told["by_member"].values()))
            self.assertEqual(told["grants"], len(names))
            for lock in told["locks"]:
                self.assertEqual(list(lock), ["name", "fence", "holder", "waiters", "order"])
                self.assertEqual(list(lock["holder"]), ["node", "pid", "uid", "command", "since_ms", "losing"])
                self.assertEqual((lock["holder"]["losing"], lock["order"]),
                                 (False, "by node" if len(lock["waiters"]) > 1 else "served"))
            self.assertEqual([set(waiter) for lock in told["locks"] for waiter in lock["waiters"]],
                             [{"node", "pid", "uid", "command", "since_ms"}] * 3)
            self.assertEqual(len(json.loads(self.run_status("--json", "--count", "2", "-S", cluster[0].socket))["locks"]), 2)
            for client in (holder, *waiters):
                client.close()

    def test_the_order_of_waiters_is_told_where_they_wait_at_one_node(self):
        with Cluster(2) as cluster:
            holder, waiters = cluster[0].client(), [cluster[1].client() for _ in range(3)]
            holder.call("LOCK", "a")
            for number, waiter in enumerate(waiters):
                waiter.send("LOCK", "a")
                until("it waits", lambda n=number: len(cluster[0].status("a")["locks"][0]["waiters"]) == n + 1)
            told = cluster[0].status("a")["locks"][0]
            self.assertEqual((told["order"], [waiter["node"] for waiter in told["waiters"]]), ("served", ["n2"] * 3))
            # Another client asks at n1. Of n2's three, only the first is served in this turn: the others wait until n2 has asked again.
            other = cluster[0].client()
            other.send("LOCK", "a")
            until("it waits", lambda: len(cluster[0].status("a")["locks"][0]["waiters"]) == 4)
            told = until("messages have arrived",
                         lambda: [lock for lock in cluster[1].status("a")["locks"] if lock["order"] == "by node"])[0]
            self.assertEqual([waiter["node"] for waiter in told["waiters"]], ["n1"] + ["n2"] * 3)
            for client in (holder, *waiters, other):
                client.close()

    def test_waiters_at_several_nodes_are_told_in_the_order_in_which_they_are_served(self):
        for algorithm, known in (("neilsen", True), ("suzuki-kasami", True), ("raymond", True), ("central", True),
                                 ("maekawa", False)):
            with self.subTest(algorithm), Cluster(4, "--algorithm", algorithm) as cluster:
                holder = cluster[0].client()
                holder.call("LOCK", "a")
                waiters = {}
                for index in (3, 1, 2):
                    waiters[f"n{index + 1}"] = cluster[index].client()
                    waiters[f"n{index + 1}"].send("LOCK", "a")
                    until("it waits", lambda: len(cluster[0].status("a")["locks"][0]["waiters"]) == len(waiters))

                def told():
                    lock = cluster[2].status("a")["locks"][0]
                    return (lock["order"], [waiter["node"] for waiter in lock["waiters"]])

                if not known:
                    self.assertEqual(told(), ("by node", ["n2", "n3", "n4"]))
                    self.assertIn("in which order they are served is not known", self.run_status("-S", cluster[0].socket))
                else:
                    until("messages have arrived", lambda: told()[0] == "served")
                    order = told()[1]
                    self.assertNotIn("not known", self.run_status("-S", cluster[0].socket))
                    holder.call("UNLOCK", "a")
                    served = []
                    for _ in range(3):
                        inside = until("somebody is in", lambda: cluster[0].status("a")["locks"][0]["holder"])["node"]
                        served.append(inside)
                        waiters[inside].read()
                        waiters[inside].call("UNLOCK", "a")
                    self.assertEqual(served, order)
                for client in (holder, *waiters.values()):
                    client.close()

    def test_a_member_that_is_silent_is_told(self):
        with Cluster(2, *LONG_LEASE) as cluster:
            cluster[1].signal(signal.SIGSTOP)
            self.assertRegex(self.run_status("-S", cluster[0].socket), r"n2 .* silent")
            told = json.loads(self.run_status("--json", "-S", cluster[0].socket))
            self.assertEqual(told["silent"], ["n2"])
            self.assertEqual(told["by_member"], {"n1": {"grants": 0, "sent": told["messages"]["sent"]}})

    def test_who_waits_for_the_others_says_so(self):
        cluster = Cluster(2)
        cluster[0].start()
        until("it answers", cluster[0].answers)
        text = self.run_status("-S", cluster[0].socket, code=3)
        self.assertIn("Not serving: waiting for ", text)
        self.assertIn("n2", text)
        self.assertNotIn("cluster of one", text)
        self.assertIn("n2", json.loads(self.run_status("--json", "-S", cluster[0].socket, code=3))["waiting_for"])
        self.ready(cluster[0], 3)
        cluster[1].start()
        cluster.ready()
        for node in cluster:
            self.ready(node, 0)
        self.assertNotIn("cluster of one", self.run_status("-S", cluster[0].socket))
        cluster.end()

    def test_who_waits_after_a_kill_serves_nobody(self):
        with Cluster(1, "--lease", "1h") as cluster:
            self.ready(cluster[0], 0)
            cluster[0].signal(signal.SIGKILL)
            self.ready(cluster[0], 69)
            cluster[0].start()
            until("it answers", cluster[0].answers)
            self.ready(cluster[0], 3)
            text = self.run_status("-S", cluster[0].socket, code=3)
            self.assertIn("commands started under the previous node on this socket, which was killed", text)

    def test_a_lock_is_being_taken_away(self):
        """The status shows that the lock is being taken away: from the break until the holder has
        stopped, at every member, and while a node leaves."""
        with Cluster(2, *LONG_LEASE) as cluster, cluster[0].client() as holder, cluster[1].client() as operator:
            holder.call("CLIENT", "GRACE", 600)
            fence = holder.call("LOCK", "x")
            self.assertNotIn("taken away", self.run_status("-S", cluster[1].socket))
            holder.call("CLIENT", "GRACE", 10000)
            self.assertEqual(operator.call("BREAK", "x", fence), 1)
            for node in cluster:
                self.assertEqual([lock["holder"]["losing"] for lock in node.status()["locks"]], [True])
                text = self.run_status("-S", node.socket)
                self.assertRegex(text, rf"x +{fence} +holds .*\n +is being taken away")
            self.assertEqual(holder.call("UNLOCK", "x"), 0)
            self.assertEqual(cluster[1].status()["locks"], [])

    def test_who_leaves_serves_nobody(self):
        with Cluster(1, "--lease", "1h") as cluster, cluster[0].client() as holder:
            holder.call("CLIENT", "GRACE", 1000000)
            holder.call("LOCK", "x")
            cluster[0].signal(signal.SIGTERM)
            cluster[0].says("leaving")
            self.ready(cluster[0], 3)
            text = self.run_status("-S", cluster[0].socket, code=3)
            self.assertIn("it is leaving", text)
            self.assertIn("is being taken away", text)
            with cluster[0].client() as other:
                for words in (["LOCK", "y"], ["LOCK", "y", "NOWAIT"], ["ELECT", "y", "v"]):
                    self.assertRegex(other.call(*words), "^NOVIEW .*leaving")
                holder.call("UNLOCK", "x")
                holder.close()
                self.assertTrue(other.closed())
            self.assertEqual(cluster[0].wait(), 0)

    def test_the_last_command_before_a_node_has_left_is_answered(self):
        """The command is answered even if it arrives in the turn in which the node finds that no
        client is left to wait for."""
        with Cluster(1, "--lease", "1h") as cluster, cluster[0].client() as holder:
            holder.call("CLIENT", "GRACE", 1000000)
            holder.call("LOCK", "x")
            cluster[0].signal(signal.SIGTERM)
            cluster[0].says("leaving")
            cluster[0].signal(signal.SIGSTOP)
            holder.send("UNLOCK", "x")
            time.sleep(0.1) # the node's timer expires in the meantime
            cluster[0].signal(signal.SIGCONT)
            self.assertEqual(holder.read(), 0)
            self.assertEqual(cluster[0].wait(), 0)

    def test_a_probe_is_bounded_in_time(self):
        with Cluster(1) as cluster:
            cluster[0].signal(signal.SIGSTOP)
            self.assertLess(self.ready(cluster[0], 69), 30)
            cluster[0].signal(signal.SIGCONT)
            cluster.ready() # the node's lease may have ended
            self.ready(cluster[0], 0)
        self.ready("/nonexistent.sock", 69)
        for words in (["--ready", "x"], ["--ready", "--json"]):
            self.assertIn("--ready prints nothing", self.run_status(*words, code=2))

    def test_it_is_said_whose_command_line_is_shown(self):
        with Cluster(1) as cluster, subprocess.Popen([BATON, "run", "-S", cluster[0].socket, "x", "cat"],
                                                     stdin=subprocess.PIPE) as child:
            until("it holds", lambda: cluster[0].status()["locks"])
            holder = cluster[0].status()["locks"][0]["holder"]
            self.assertEqual((holder["pid"], holder["command"]), (child.pid, f"{BATON} run -S {cluster[0].socket} x cat"))
            self.assertRegex(self.run_status("-S", cluster[0].socket), r"WHO .* CLIENT'S COMMAND LINE\n")
            child.stdin.close()
        self.assertIn("command line are those of the process that connected", self.run_status("--help"))

    def test_a_cluster_of_one_says_so(self):
        with Cluster(1) as cluster:
            self.assertIn("n1: a cluster of one, epoch ", self.run_status("-S", cluster[0].socket))

    def test_a_node_that_does_not_answer(self):
        with Cluster(1) as cluster:
            cluster[0].signal(signal.SIGSTOP)
            for words in (["status"], ["break", "x", "--fence", "1"], ["observe", "x"]):
                with self.subTest(words=words):
                    done = subprocess.run([BATON, *words, "-S", cluster[0].socket], capture_output=True, text=True, timeout=60,
                                          check=False)
                    self.assertEqual((done.returncode, done.stdout, done.stderr),
                                     (69, "", f"baton {words[0]}: the node does not answer\n"))

    def test_without_a_node(self):
        self.assertIn("/nonexistent.sock", self.run_status("-S", "/nonexistent.sock", code=69))
        self.assertIn("one pattern", self.run_status("a", "b", code=2))


if __name__ == "__main__":
    unittest.main()
