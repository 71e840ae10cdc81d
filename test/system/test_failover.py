"""Nodes of a cluster are killed, stopped, wiped, moved, joined and drained. The others go on, fences rise, and a node that comes
back serves again by itself."""
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from baton import BATON
from cluster import Cluster, Node, free_port, until
from resp import Closed
from service import is_alive

LEASE_S = 1
TAKEOVER_S = LEASE_S + 1.5
ATTEMPTS = 3  # a claim about a time must hold in one of these attempts, because the machine may be busy


def take(node, lock):
    """Takes the lock and gives it back. Returns its fence."""
    with node.client() as client:
        fence = client.call("LOCK", lock)
        assert isinstance(fence, int), fence
        assert client.call("UNLOCK", lock) == 1
        return fence


def content(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def serves(node):
    until(lambda: f"{node.name} serves:\n{node.log()}", node.serves)


def lease_end(node):
    """Returns when the node's lease ends if it is not renewed."""
    with node.client() as client:
        info = dict(line.split(":", 1) for line in client.call("INFO").splitlines() if ":" in line)
        return time.monotonic() + int(info["lease_left_ms"]) / 1000


class Family(Cluster):
    """A cluster that grows: nodes join it one after another."""

    def __init__(self, count=3, *options):
        super().__init__(count, "--lease", f"{LEASE_S}s", *options)

    def add(self, name, *options, join=(0,)):
        """Adds a node that joins by the addresses of these nodes. It is not started yet."""
        self.names.append(name)
        self.ports.append(free_port())
        node = Node(self.folder, name, options)
        node.options += ["--data", node.data, "--listen", f"127.0.0.1:{self.ports[-1]}"]
        if join:
            node.options += ["--join", ",".join(f"127.0.0.1:{self.ports[index]}" for index in join)]
        self.nodes.append(node)
        return node


class Killed(unittest.TestCase):
    def test_a_waiter_elsewhere_is_granted_and_the_node_comes_back(self):
        taken = []
        with Family() as cluster:
            for attempt in range(ATTEMPTS):
                with cluster[0].client() as holder, cluster[1].client() as waiter:
                    fence = holder.call("LOCK", "prize")
                    waiter.send("LOCK", "prize")
                    self.assertTrue(waiter.quiet())
                    cluster[0].signal(signal.SIGKILL)
                    begin = time.monotonic()
                    self.assertGreater(waiter.read(), fence)
                    taken.append(time.monotonic() - begin)
                cluster[0].start()
                serves(cluster[0])
                self.assertGreater(take(cluster[0], "prize"), fence, attempt)
                if taken[-1] < TAKEOVER_S:
                    break
            self.assertLess(min(taken), TAKEOVER_S)
            # Nobody was let in before the dead node's own deadline could have passed.
            self.assertGreater(min(taken), LEASE_S / 2)

    def test_all_are_killed_and_restarted(self):
        with Family() as cluster:
            fences = [take(node, "prize") for node in cluster]
            for _ in range(2):
                for node in cluster:
                    node.signal(signal.SIGKILL)
                for node in cluster:
                    node.start()
                cluster.ready()
                fences += [take(node, "prize") for node in cluster]
            self.assertEqual(fences, sorted(set(fences)))

    def test_without_a_majority_nobody_is_let_in_and_a_majority_goes_on(self):
        with Family() as cluster:
            fence = take(cluster[0], "prize")
            for node in cluster.nodes[1:]:
                node.signal(signal.SIGKILL)
            until("n1 serves nobody", lambda: cluster[0].status()["waiting_for"] is not None)
            with cluster[0].client() as client:
                client.send("LOCK", "prize", "TIMEOUT", 2000 * LEASE_S)
                self.assertNotIsInstance(client.read(), int)
            cluster[1].start()
            serves(cluster[0])
            serves(cluster[1])
            self.assertGreater(take(cluster[0], "prize"), fence)


class Stopped(unittest.TestCase):
    def test_the_command_of_a_stopped_node_is_gone_before_the_next_one_is_in(self):
        with Family() as cluster:
            path = os.path.join(cluster.folder, "first")
            with subprocess.Popen([BATON, "run", "-S", cluster[0].socket, "prize", "-c", f"echo $$ > {path}; exec sleep 1000"],
                                  stderr=subprocess.DEVNULL) as first:
                pid = until("the first command runs", lambda: os.path.exists(path) and content(path))
                second = subprocess.Popen([BATON, "run", "-S", cluster[1].socket, "prize", "-c",
                                           f"if kill -0 {int(pid)}; then echo both; else echo alone; fi"],
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                cluster[0].signal(signal.SIGSTOP)
                self.assertEqual(second.communicate(timeout=60)[0], "alone\n")
                self.assertFalse(is_alive(int(pid)))
                cluster[0].signal(signal.SIGCONT)
                self.assertEqual(first.wait(60), 76)
            serves(cluster[0]) # the node notices that its lease has ended, and joins again
            take(cluster[0], "prize")

    def test_a_client_that_holds_at_a_stopped_node_is_told_when_it_wakes(self):
        with Family() as cluster, cluster[0].client() as holder, cluster[1].client() as waiter:
            fence = holder.call("LOCK", "prize")
            waiter.send("LOCK", "prize")
            cluster[0].signal(signal.SIGSTOP)
            self.assertGreater(waiter.read(), fence)
            cluster[0].signal(signal.SIGCONT)
            with contextlib.suppress(Closed, BrokenPipeError): # or the end of its connection tells the holder that the lock is lost
                self.assertEqual(holder.call("UNLOCK", "prize", fence), 0)
            serves(cluster[0])


class Growing(unittest.TestCase):
    def test_a_cluster_of_one_is_joined(self):
        with Family(0) as cluster:
            first = cluster.add("a", "--lease", f"{LEASE_S}s", join=()).start()
            serves(first)
            fence = take(first, "prize")
            second = cluster.add("b").start()
            serves(second)
            self.assertGreater(take(second, "prize"), fence)
            with first.client() as holder, second.client() as waiter:
                fence = holder.call("LOCK", "prize")
                waiter.send("LOCK", "prize")
                self.assertTrue(waiter.quiet())
                holder.call("UNLOCK", "prize")
                self.assertGreater(waiter.read(), fence)
            self.assertEqual(second.status()["lease_ms"], 1000 * LEASE_S) # the second node has no --lease: it learned this from the cluster
            # Only one of two nodes votes, and an operator should know what that means.
            roles = {name: member["role"] for name, member in first.members().items()}
            self.assertEqual(roles, {"a": "voter", "b": "member"})
            first.says("--witness")
            # With a third there are three voters, some time later.
            serves(cluster.add("c", join=(1,)).start())
            until("there are three voters", lambda: [member["role"] for member in second.members().values()] == ["voter"] * 3)
            first.signal(signal.SIGKILL)
            self.assertGreater(take(second, "prize"), fence)

    def test_a_fourth_is_joined_and_drained_under_load(self):
        over = threading.Event()
        fences = []

        def load(node):
            while not over.is_set():
                fences.append(take(node, "busy"))

        with Family() as cluster:
            threads = [threading.Thread(target=load, args=(node,)) for node in cluster.nodes]
            for thread in threads:
                thread.start()
            try:
                fourth = cluster.add("n4", join=(0, 1, 2)).start()
                serves(fourth)
                take(fourth, "busy")
                with fourth.client() as holder:
                    holder.call("LOCK", "mine")
                    drain = subprocess.Popen([BATON, "drain", "-S", fourth.socket], stdout=subprocess.PIPE,
                                             stderr=subprocess.PIPE, text=True)
                    self.assertIn("1 lock is held at n4", drain.stderr.readline())
                    self.assertIsNone(drain.poll())
                    with fourth.client() as other:
                        self.assertIn("NOVIEW", other.call("LOCK", "other"))
                    self.assertEqual(holder.call("UNLOCK", "mine"), 1) # the holder may finish undisturbed
                out, err = drain.communicate(timeout=60)
                self.assertEqual((drain.returncode, out), (0, "n4 has left the cluster and ended\n"), err)
                self.assertEqual(fourth.wait(), 0)
                self.assertEqual(set(cluster[0].members()), {"n1", "n2", "n3"})
                count = len(fences)
                until("the others go on", lambda: len(fences) > count + 30)
            finally:
                over.set()
                for thread in threads:
                    thread.join()
        self.assertEqual(len(fences), len(set(fences)))

    def test_drain_gives_holders_no_more_time_than_it_was_told(self):
        with Family(1) as cluster, cluster[0].client(3) as holder:
            holder.call("SUBSCRIBE", "mine")
            holder.call("LOCK", "mine")
            done = subprocess.run([BATON, "drain", "--for", "300ms", "-S", cluster[0].socket], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, done)
            self.assertTrue(holder.closed())
            self.assertEqual(cluster[0].wait(), 0)


class Remembered(unittest.TestCase):
    def restart(self, node, *options):
        """Restarts a node with --data and the given options, and no others."""
        node.end()
        node.options = ["--data", node.data, *options]
        node.named = False
        node.start()

    def test_a_restart_needs_data_alone(self):
        with Family(3, "--algorithm", "suzuki-kasami") as cluster:
            fence = take(cluster[1], "prize")
            for node in cluster: # one after another
                self.restart(node)
                serves(node)
                self.assertEqual(node.status()["node"], node.name)
            self.assertEqual(cluster[2].status()["algorithm"], "suzuki-kasami")
            self.assertEqual(set(cluster[0].members()), {"n1", "n2", "n3"})
            self.assertGreater(take(cluster[0], "prize"), fence)
            for node in cluster: # then all at once
                node.signal(signal.SIGKILL)
            for node in cluster:
                node.start()
            cluster.ready()
            self.assertGreater(take(cluster[2], "prize"), fence)

    def test_a_flag_that_differs_is_an_error_that_says_both(self):
        with Family() as cluster:
            stranger = cluster.add("n4", "--lease", "5s")
            stranger.start()
            self.assertEqual(stranger.wait(), 2)
            self.assertIn("--lease 5s: this cluster's lease is 1s", stranger.log())
            self.restart(cluster[1], "--algorithm", "central")
            self.assertEqual(cluster[1].wait(), 2)
            self.assertIn("--algorithm central: this cluster's algorithm is neilsen", cluster[1].log())
            cluster[1].options = ["--data", cluster[1].data] # the earlier start did no harm
            cluster[1].start()
            cluster.nodes.remove(stranger)
            cluster.ready()

    def test_a_flag_that_agrees_is_taken_without_the_others(self):
        """A parameter can be read only together with the algorithm, which the folder remembers."""
        with tempfile.TemporaryDirectory() as folder:
            node = Node(folder, "a", ["--listen", f"127.0.0.1:{free_port()}", "--algorithm", "suzuki-kasami-b", "--param", "L=3"])
            node.options += ["--data", node.data]
            self.addCleanup(lambda: node.process is not None and node.end())
            node.start()
            serves(node)
            self.restart(node, "--param", "L=3")
            serves(node)
            self.restart(node, "--param", "L=4")
            self.assertEqual(node.wait(), 2)
            self.assertIn("--param L=4: this cluster's L is 3", node.log())

    def test_another_name_in_the_same_folder_is_refused(self):
        with Family() as cluster:
            cluster[1].end()
            stranger = Node(cluster.folder, "other", ["--data", cluster[1].data])
            stranger.start()
            self.assertEqual(stranger.wait(), 2)
            self.assertIn("belongs to node n2", stranger.log())
            cluster[1].start()
            cluster.ready()

    def test_a_node_moves_to_another_address(self):
        with Family() as cluster:
            fence = take(cluster[1], "prize")
            port = free_port()
            self.restart(cluster[1], "--listen", f"127.0.0.1:{port}")
            cluster.ready()
            self.assertEqual(cluster[0].members()["n2"]["address"], f"127.0.0.1:{port}")
            self.assertGreater(take(cluster[1], "prize"), fence)
            # n2 remembers its new address too, and n3 reaches it: without n1 the two are a
            # majority.
            self.restart(cluster[1])
            cluster.ready()
            cluster[0].signal(signal.SIGKILL)
            self.assertGreater(take(cluster[1], "prize"), fence)
            self.assertEqual(cluster[2].members()["n2"]["address"], f"127.0.0.1:{port}")

    def test_a_wiped_disk(self):
        with Family() as cluster:
            fence = take(cluster[1], "prize")
            cluster[1].signal(signal.SIGKILL)
            shutil.rmtree(cluster[1].data)
            cluster[1].start()
            cluster.ready()
            # n2 serves before it votes, and no status may claim that it votes.
            self.assertEqual([node.members()["n2"]["role"] for node in cluster], ["member"] * 3)
            self.assertGreater(take(cluster[1], "prize"), fence)
            # Later n2 is a new voter in place of the old one: without n1 the other two are a
            # majority.
            until("n2 votes again", lambda: cluster[2].members().get("n2", {}).get("role") == "voter")
            cluster[0].signal(signal.SIGKILL)
            self.assertGreater(take(cluster[1], "prize"), fence)


class Leaving(unittest.TestCase):
    def test_a_node_that_leaves_takes_part_in_views(self):
        """The node waits for a holder that cannot stop. Meanwhile another node is killed, and the third must go on."""
        with Cluster(3, "--lease", "3s") as cluster, cluster[0].client() as holder, cluster[1].client() as other:
            holder.call("LOCK", "kept")
            self.assertEqual(holder.call("CLIENT", "STAY"), "OK")
            cluster[2].signal(signal.SIGKILL)
            cluster[0].terminate()
            until("n3 is out of the view", lambda: "n3" not in [m["name"] for m in cluster[1].status()["members"]])
            self.assertIsInstance(other.call("LOCK", "free"), int)
            self.assertIsNone(cluster[0].process.poll()) # two leases have not passed yet
            self.assertIsNone(other.call("LOCK", "kept", "NOWAIT"))
            for node in (cluster[0], cluster[1]): # kill them, because with one voter of three leaving would take long
                node.signal(signal.SIGKILL)

    def test_without_a_majority_sigterm_ends_after_a_lease(self):
        with Family() as cluster:
            for node in cluster.nodes[1:]:
                node.signal(signal.SIGKILL)
            begin = time.monotonic()
            self.assertEqual(cluster[0].end(), 0)
            self.assertLess(time.monotonic() - begin, 10 * LEASE_S)

    def test_while_another_is_silent_a_leave_waits_and_the_others_are_served(self):
        """A new view would need a report of the silent node. Nobody would be let in before that node's lease of five minutes
        ends."""
        with Family(4, "--lease", "5m") as cluster:
            fence = max(take(node, "prize") for node in cluster.nodes[:2])
            first = lease_end(cluster[3])
            until("n4 has told the voters that it serves", lambda: lease_end(cluster[3]) > first + 1.5) # n4 renews every second
            cluster[3].signal(signal.SIGSTOP)
            until("n4 is silent", lambda: cluster[0].status()["silent"] == ["n4"])
            cluster[2].terminate()
            cluster[2].says("leaving")
            end = time.monotonic() + 3 # the leader looks twice a second
            while time.monotonic() < end:
                for node in cluster.nodes[:2]:
                    before, fence = fence, take(node, "prize")
                    self.assertGreater(fence, before)
            self.assertIn("n3", [member["name"] for member in cluster[0].status()["members"]])
            cluster[3].signal(signal.SIGCONT)
            self.assertEqual(cluster[2].wait(), 0)
            until("n3 has left", lambda: [member["name"] for member in cluster[0].status()["members"]] == ["n1", "n2", "n4"])
            self.assertGreater(take(cluster[0], "prize"), fence)


class LongLease(unittest.TestCase):
    """With a lease of minutes, only operations that involve a silent node take minutes."""

    def test_birth_join_drain_and_kill(self):
        begun = time.monotonic()
        with Family(3, "--lease", "5m") as cluster:
            serves(cluster.add("n4", join=(0, 1)).start())
            self.assertLess(time.monotonic() - begun, 60)
            status = cluster[0].status()
            self.assertEqual(len(status["members"]), 4)
            self.assertTrue(all(200_000 < member["lease_ms"] <= 300_000 for member in status["members"]), status)
            self.assertTrue(300_000 < status["takeover_ms"] < 305_000, status)
            done = subprocess.run([BATON, "run", "-S", cluster[3].socket, "--grace", "100s", "x", "true"], check=False)
            self.assertEqual(done.returncode, 0)
            begun = time.monotonic()
            self.assertEqual(cluster[3].end(), 0)
            until("it has left", lambda: len(cluster[0].status()["members"]) == 3 and all(node.serves() for node in cluster.nodes[:3]))
            self.assertLess(time.monotonic() - begun, 30)
            mine = take(cluster[0], "mine")
            cluster[2].signal(signal.SIGKILL)
            self.assertGreater(take(cluster[0], "mine"), mine)  # the token is here, and the node renews its own lease
            until("n3 is silent", lambda: cluster[0].status()["silent"] == ["n3"])
            for node in cluster.nodes[:2]:
                node.signal(signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
