"""Tests an operator's orders: members are listed, removed, invited, promoted and demoted; a witness only votes; and a cluster
that has lost most of its voters is rescued."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from baton import BATON
from cluster import LONG_LEASE, PATIENCE_S, Cluster, Node, environment, free_port, until
from resp import Closed, Wrong

LEASE_S = 1


def baton(*words):
    return subprocess.run([BATON, *words], capture_output=True, text=True, check=False, env=environment(), timeout=60)


def voters(node):
    return {name for name, member in node.members().items() if member["role"] == "voter"}


def where(node, name):
    member = node.members().get(name, {})
    return member.get("role"), member.get("state")


def take(node, lock="prize"):
    with node.client() as client:
        fence = client.call("LOCK", lock)
        assert isinstance(fence, int), fence
        return fence


def serves(node):
    until(lambda: f"{node.name} serves:\n{node.log()}", node.serves)


class Orders(unittest.TestCase):
    def cluster(self, count=3, *options):
        return Cluster(count, "--lease", f"{LEASE_S}s", *options)

    def add(self, cluster, name, *options):
        """Starts a node that joins."""
        node = Node(cluster.folder, name, [*options, "--listen", f"127.0.0.1:{free_port()}", "--join",
                                           f"127.0.0.1:{cluster.ports[0]}"])
        cluster.nodes.append(node)
        return node.start()

    def order(self, node, *words, code=0):
        done = baton("member", *words, "-S", node.socket)
        self.assertEqual(done.returncode, code, done)
        return done.stdout + done.stderr

    def test_the_list(self):
        with self.cluster() as cluster:
            told = json.loads(baton("member", "list", "--json", "-S", cluster[1].socket).stdout)
            self.assertEqual(set(told), {"cluster", "epoch", "members"})
            self.assertRegex(told["cluster"], "^[0-9a-f]{32}$")
            self.assertEqual(told["epoch"], cluster[0].status()["epoch"])
            for member, node in zip(told["members"], cluster):
                self.assertEqual(list(member), ["name", "address", "incarnation", "role", "state", "leader", "lease_ms", "since_ms"])
                self.assertEqual((member["name"], member["role"], member["state"]), (node.name, "voter", "active"))
            self.assertEqual(sum(member["leader"] for member in told["members"]), 1)
            table = baton("member", "list", "-S", cluster[2].socket).stdout
            self.assertIn(told["cluster"], table)
            self.assertEqual([line.split()[0] for line in table.splitlines()[3:]], ["n1", "n2", "n3"])
            self.assertEqual(table.count(" leader "), 1)

    def test_a_node_that_is_removed_does_not_come_back_until_it_is_invited(self):
        with self.cluster() as cluster, cluster[2].client() as holder:
            fence = holder.call("LOCK", "prize")
            self.assertIn("n3 is removed", self.order(cluster[0], "remove", "n3"))
            self.assertNotIn("n3", [member["name"] for member in cluster[0].status()["members"]])
            self.assertGreater(take(cluster[1]), fence)
            cluster[2].end()
            cluster[2].start()
            until("it answers", cluster[2].answers)
            with cluster[2].client() as client:
                self.assertIsInstance(client.call("LOCK", "prize", "TIMEOUT", 3000 * LEASE_S), Wrong)
            self.order(cluster[1], "invite", "n3")
            serves(cluster[2])
            self.assertGreater(take(cluster[2]), fence)

    def test_the_last_of_two_opposite_orders_wins_for_good(self):
        """An order is over when it is answered, and never undoes the next one: n3 hears of each once."""
        with self.cluster() as cluster, cluster[0].client() as first, cluster[1].client() as second:
            heard = lambda: tuple(cluster[2].log().count(f"an operator has {what} this node") for what in ("removed", "invited"))
            for count in range(1, 6):
                self.assertEqual(first.call("MEMBER", "REMOVE", "n3"), "OK")
                until(lambda: f"n3 is removed:\n{cluster[2].log()}", lambda count=count: heard() == (count, count - 1))
                self.assertEqual(second.call("MEMBER", "INVITE", "n3"), "OK")
                serves(cluster[2])
                self.assertEqual(heard(), (count, count))

    def test_an_order_survives_its_leader(self):
        with self.cluster() as cluster:
            leader = next(int(name[1]) - 1 for name, member in cluster[0].members().items() if member["leader"])
            other, third = (index for index in range(3) if index != leader)
            with cluster[other].client() as client:
                cluster[leader].signal(signal.SIGSTOP)
                client.send("MEMBER", "REMOVE", "nobody")
                self.assertEqual(client.read(), "OK")
                cluster[leader].signal(signal.SIGCONT)
                self.assertEqual(client.call("MEMBER", "INVITE", "nobody"), "OK")
            with cluster[third].client() as client:
                self.assertEqual(client.call("MEMBER", "REMOVE", "nobody"), "OK")

    def test_an_operator_does_not_wait_for_a_node_that_is_stopped(self):
        """The node is stopped while it waits for the voters, which are stopped too."""
        with Cluster(3, *LONG_LEASE) as cluster:
            for node in cluster[1:]:
                node.signal(signal.SIGSTOP)
            with subprocess.Popen([BATON, "member", "remove", "n3", "-S", cluster[0].socket], stderr=subprocess.PIPE, text=True,
                                  env=environment()) as order:
                cluster[0].says("removes n3")
                cluster[0].signal(signal.SIGSTOP)
                try:
                    err = order.communicate(timeout=PATIENCE_S)[1]
                finally:
                    order.kill()
                    for node in cluster:
                        node.signal(signal.SIGCONT)
            self.assertEqual(order.returncode, 69, err)
            self.assertIn("the node does not answer, and the voters may yet obey the order", err)

    def test_a_node_that_has_left_is_kept_out(self):
        """The node is neither a member nor a voter any more, so nobody knows its name when the
        order to remove it comes. The order is given to a member that does not vote."""
        with self.cluster() as cluster:
            serves(self.add(cluster, "n4"))
            serves(self.add(cluster, "n5"))
            cluster[3].end()
            until("it has left", lambda: "n4" not in cluster[0].members())
            told = self.order(cluster[4], "remove", "n4")
            self.assertIn("n4 is removed", told)
            self.assertIn("no member or voter has this name now", told)
            cluster[3].start()
            cluster[3].says("an operator has removed this node")
            with cluster[3].client() as client:
                self.assertIsInstance(client.call("LOCK", "prize", "TIMEOUT", 3000 * LEASE_S), Wrong)
            self.assertNotIn("n4", cluster[0].members())
            self.order(cluster[0], "invite", "n4")
            serves(cluster[3])
            take(cluster[3])

    def test_a_living_node_that_is_removed_tells_its_holders(self):
        with Cluster(3, *LONG_LEASE) as cluster, cluster[0].client() as waiter, cluster[2].client() as plain, \
                cluster[2].client() as hopeful:
            plain_fence = plain.call("LOCK", "plain")
            words = [BATON, "run", "-S", cluster[2].socket, "prize", "sh", "-c", "trap 'exit 5' TERM; echo in; while :; do sleep .01; done"]
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as holder:
                self.assertEqual(holder.stdout.readline(), "in\n")
                hopeful.send("LOCK", "prize")
                until("somebody waits", lambda: cluster[2].status()["locks"][-1]["waiters"])
                waiter.send("LOCK", "prize")
                begun = time.monotonic()
                self.assertIn("n3 is removed", self.order(cluster[1], "remove", "n3"))
                self.assertEqual(holder.wait(60), 76)
                self.assertIn("leaving", holder.stderr.read())
            self.assertIsInstance(waiter.read(), int)
            self.assertLess(time.monotonic() - begun, 20)  # the lease is 30 s
            with self.assertRaises(Closed):  # the end of its connection tells this client that the lock is lost
                plain.read()
            told = hopeful.read()
            self.assertIn("an operator", str(told))
            with cluster[0].client() as client:
                self.assertGreater(client.call("LOCK", "plain"), plain_fence)
            self.assertEqual(where(cluster[0], "n3"), ("voter", "out of the view"))
            self.assertEqual(where(cluster[2], "n3"), ("voter", "out of the view"))
            self.assertEqual(where(cluster[2], "n1"), ("voter", "unknown"))
            self.assertIn(" out of the view ", baton("member", "list", "-S", cluster[0].socket).stdout)
            cluster[2].says("an operator has removed this node")
            self.assertIn("'baton member invite n3'", cluster[2].status()["waiting_for"])
            asked = baton("status", "-S", cluster[2].socket)
            self.assertEqual(asked.returncode, 3, asked)
            self.assertIn("'baton member invite n3'", asked.stdout + asked.stderr)

    def test_a_node_removes_itself_and_comes_back_without_a_restart(self):
        with self.cluster() as cluster:
            self.assertIn("n3 is removed", self.order(cluster[2], "remove", "n3"))
            with cluster[2].client() as client:
                self.assertIn("an operator", str(client.call("LOCK", "prize")))
            self.order(cluster[2], "invite", "n3")
            serves(cluster[2])
            take(cluster[2])

    def test_a_dead_node_is_removed_and_its_vote_goes_to_another(self):
        with self.cluster() as cluster:
            serves(self.add(cluster, "n4", "--data", os.path.join(cluster.folder, "n4.data")))
            cluster[2].signal(signal.SIGKILL)
            self.order(cluster[0], "remove", "n3")
            until("n4 votes", lambda: voters(cluster[0]) == {"n1", "n2", "n4"})
            cluster[0].signal(signal.SIGKILL)
            serves(cluster[3])
            take(cluster[3])
            cluster[0].start()
            serves(cluster[0])

    def test_without_a_majority_an_order_is_refused(self):
        with Cluster(3, "--lease", f"{LEASE_S}s") as cluster:
            for node in cluster.nodes[1:]:
                node.signal(signal.SIGKILL)
            until("n1 has no lease", lambda: not cluster[0].serves())
            for words in (("remove", "n3"), ("invite", "n3"), ("promote", "n2"), ("demote", "n2")):
                self.assertIn("most of the voters do not answer", self.order(cluster[0], *words, code=1))

    def test_an_operator_chooses_voters(self):
        with self.cluster() as cluster:
            serves(self.add(cluster, "n4", "--data", os.path.join(cluster.folder, "n4.data")))
            self.assertEqual(voters(cluster[0]), {"n1", "n2", "n3"})
            self.order(cluster[0], "demote", "n2")
            until("n4 votes instead of n2", lambda: voters(cluster[0]) == {"n1", "n3", "n4"})
            self.order(cluster[0], "promote", "n2")
            # There are four voters for a moment: n2 is added before another one makes room for it.
            until("n2 votes again, as one of three", lambda: "n2" in (now := voters(cluster[0])) and len(now) == 3)

    def test_an_order_needs_one_verb_and_is_told_as_json(self):
        cluster = self.cluster(3, "--allow", f"* admin uid:{os.geteuid()}")
        self.addCleanup(cluster.end)
        for node in cluster: # nobody may ask for the status by which Cluster.start sees that they serve
            node.start()
        until(lambda: f"they serve:\n{cluster.logs()}",
              lambda: all(baton("status", "--ready", "-S", node.socket).returncode == 0 for node in cluster))

        def ordered(*words):
            done = baton("member", *words, "--json", "-S", cluster[0].socket)
            self.assertEqual(done.returncode, 0, done)
            return json.loads(done.stdout)

        self.assertEqual(ordered("remove", "n9"), {"order": "remove", "name": "n9", "found": False, "gone": True, "votes": False})
        self.assertEqual(ordered("remove", "n3"), {"order": "remove", "name": "n3", "found": True, "gone": True, "votes": True})
        for words in (("invite", "n3"), ("demote", "n2"), ("promote", "n2")):
            self.assertEqual(ordered(*words), {"order": words[0], "name": words[1], "found": None, "gone": None, "votes": None})
        until("n3 is back", lambda: {member["name"]: member["incarnation"] for member in ordered("list")["members"]}.get("n3"))

    def test_bad_orders(self):
        with self.cluster(1) as cluster:
            node = cluster[0]
            self.assertIn("did you mean 'list'", self.order(node, "lisst", code=2))
            self.assertIn("needs the name", self.order(node, "remove", code=2))
            self.assertIn("takes no name", self.order(node, "list", "n1", code=2))
            self.assertIn("--data", self.order(node, "rescue", code=2))
            self.assertIn("belongs to no cluster that others could join", self.order(node, "remove", "n1", code=1))
        with self.cluster() as cluster:
            self.assertIn("no member, voter or candidate has this name", self.order(cluster[0], "promote", "n9", code=1))
            self.assertIn("'n9' does not vote", self.order(cluster[0], "demote", "n9", code=1))

    def test_a_witness_votes_and_serves_no_locks(self):
        with self.cluster(2) as cluster:
            witness = self.add(cluster, "w", "--witness", "--data", os.path.join(cluster.folder, "w.data"))
            until("three vote", lambda: len(voters(cluster[0])) + ("w" in cluster[0].members()) == 3)
            for node in cluster:
                until(f"{node.name} knows the witness", lambda node=node: where(node, "w") == ("witness", "active"))
            self.assertEqual([member["name"] for member in cluster[0].status()["members"]], ["n1", "n2"])
            self.assertIn("this node is a witness: it votes and serves no locks", witness.log())
            with witness.client() as client:
                self.assertIn("this node is a witness", client.call("LOCK", "x", "NOWAIT"))
                self.assertIn("\r\nserves:0\r\nwitness:1\r\n", client.call("INFO"))
            with cluster[0].client() as client:
                self.assertIn("\r\nserves:1\r\nwitness:0\r\n", client.call("INFO"))
            # Now any one of the three may fail.
            cluster[0].signal(signal.SIGKILL)
            fence = take(cluster[1])
            cluster[0].start()
            serves(cluster[0])
            killed = time.monotonic()
            witness.signal(signal.SIGKILL)
            self.assertGreater(take(cluster[0]), fence)
            until("it is missed, and still known as a witness", lambda: where(cluster[1], "w") == ("witness", "absent"))
            missed_s = cluster[1].members()["w"]["since_ms"] / 1000
            self.assertLessEqual(missed_s, time.monotonic() - killed)
            until("it is missed for longer", lambda: cluster[1].members()["w"]["since_ms"] / 1000 > missed_s)

    def test_a_witness_says_so_and_its_folder_remembers_it(self):
        with self.cluster(2) as cluster:
            witness = self.add(cluster, "w", "--witness", "--data", os.path.join(cluster.folder, "w.data"))
            until("it votes", lambda: "w" in cluster[0].members())
            witness.end()
            witness.options[0:1] = ["--log", "debug"]
            witness.start()
            # Voters do not answer the petitions of a witness. The witness does not take them for silent.
            until("it says what it waits for", lambda: ": waiting for " in witness.log())
            self.assertIn(f"the data directory {cluster.folder}/w.data remembers it for good", witness.log())
            done = baton("status", "-S", witness.socket)
            self.assertEqual(done.returncode, 3, done)
            self.assertIn(f"Not serving: this node is a witness, which votes and serves no locks; so says its data directory {cluster.folder}/w.data",
                          done.stdout)
            # This follows doc/operating.md.
            witness.end()
            self.order(cluster[0], "remove", "w")
            self.order(cluster[0], "invite", "w")
            shutil.rmtree(f"{cluster.folder}/w.data")
            serves(witness.start())
            take(witness)

    def test_a_member_without_a_folder_never_votes(self):
        with self.cluster(2) as cluster:
            serves(self.add(cluster, "n3"))
            take(cluster[2])
            self.assertEqual(cluster[0].members()["n3"]["role"], "member")


class Rescue(unittest.TestCase):
    def test_a_cluster_that_lost_most_of_its_voters(self):
        with Cluster(3, "--lease", f"{LEASE_S}s", "--algorithm", "suzuki-kasami") as cluster:
            fence = take(cluster[0])
            running = baton("member", "rescue", "--data", cluster[0].data)
            self.assertEqual(running.returncode, 2, running)
            self.assertIn("in use", running.stderr)
            old = json.loads(baton("member", "list", "--json", "-S", cluster[0].socket).stdout)["cluster"]
            for node in cluster:
                node.signal(signal.SIGKILL)
            for node in cluster.nodes[1:]: # these nodes are lost for good
                shutil.rmtree(node.data)
            told = baton("member", "rescue", "--data", cluster[0].data)
            self.assertEqual(told.returncode, 0, told)
            self.assertRegex(told.stdout, r"its last entry: term \d+, index \d+")
            self.assertIn("Nothing\nhas changed yet", told.stdout)
            self.assertEqual(set(os.listdir(cluster[0].data)) & {"rescue.new"}, set())
            done = baton("member", "rescue", "--data", cluster[0].data, "--yes", "--json")
            self.assertEqual(done.returncode, 0, done)
            report = json.loads(done.stdout)
            self.assertEqual((report["cluster"], report["done"], report["node"]), (old, True, "n1"))
            self.assertNotEqual(report["new_cluster"], old)
            self.assertTrue(os.path.exists(f"{report['kept']}/baton.db"))
            cluster[0].options = ["--data", cluster[0].data]
            cluster[0].start()
            serves(cluster[0])
            self.assertEqual(cluster[0].status()["algorithm"], "suzuki-kasami")
            self.assertGreater(take(cluster[0]), fence + (1 << 40) - 1)
            for index, node in enumerate(cluster.nodes[1:], 1): # the new nodes start with empty folders
                node.options = ["--data", node.data, "--listen", f"127.0.0.1:{cluster.ports[index]}", "--join",
                                f"127.0.0.1:{cluster.ports[0]}"]
                node.start()
                serves(node)
            self.assertGreater(take(cluster[2]), fence)
            self.assertEqual(json.loads(baton("member", "list", "--json", "-S", cluster[2].socket).stdout)["cluster"],
                             report["new_cluster"])

    def test_what_cannot_be_rescued(self):
        with Cluster(1) as cluster:
            empty = os.path.join(cluster.folder, "empty")
            os.mkdir(empty)
            done = baton("member", "rescue", "--data", empty, "--yes")
            self.assertEqual((done.returncode, os.listdir(empty)), (2, []), done)
            done = baton("member", "rescue", "--data", os.path.join(cluster.folder, "none"), "--yes")
            self.assertEqual(done.returncode, 1, done)

    def test_a_rescue_that_was_interrupted_is_finished(self):
        with Cluster(3, "--lease", f"{LEASE_S}s") as cluster:
            fence = take(cluster[0])
            for node in cluster:
                node.signal(signal.SIGKILL)
            data = cluster[0].data
            # This looks as if the rescue had been killed before its last step.
            self.assertEqual(baton("member", "rescue", "--data", data, "--yes").returncode, 0)
            os.mkdir(f"{data}/rescue.new")
            os.rename(f"{data}/baton.db", f"{data}/rescue.new/baton.db")
            cluster[0].options = ["--data", data]
            cluster[0].start()
            self.assertEqual(cluster[0].wait(), 2)
            self.assertIn("a rescue was interrupted there", cluster[0].log())
            self.assertEqual(baton("member", "rescue", "--data", data).returncode, 2)
            self.assertEqual(baton("member", "rescue", "--data", data, "--yes").returncode, 0)
            cluster[0].start()
            serves(cluster[0])
            self.assertGreater(take(cluster[0]), fence)


if __name__ == "__main__":
    unittest.main()
