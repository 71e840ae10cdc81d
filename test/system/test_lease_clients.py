"""When the lease of their node ends, clients stop by their own timers, before another client can be granted the lock, whatever
else is stopped."""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from baton import BATON
from certificates import Certificates
from cluster import SANITIZED, Cluster, Node, environment, free_port, until
from resp import Client, Closed, encode

LEASE_S = 2
ATTEMPTS = 4
# Ignores SIGTERM, and writes the time repeatedly while it lives.
STUBBORN = "trap '' TERM; echo $$ > {0}.pid; while :; do date +%s%N > {0}.new; mv {0}.new {0}; done"
# The next holder writes the time when it began.
NEXT = "date +%s%N > {0}.next"


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None


def waits(pid):
    """Tells whether the process is in a poll, according to the kernel. The numbers are those of x86-64 and arm64."""
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            return file.read().split()[0] in ("7", "219", "232", "271", "281", "22", "73", "128")
    except OSError:
        return True


def number(path):
    with open(path, encoding="ascii") as file:
        return int(file.read())


class Holding(unittest.TestCase):
    """A cluster, and a command that runs under a lock."""

    def setUp(self):
        self.port = free_port()
        folder = tempfile.TemporaryDirectory(prefix="baton-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.cluster = Cluster(3, "--lease", f"{LEASE_S}s", each=self.options)
        self.cluster.start()
        self.addCleanup(self.cluster.end)
        self.path = os.path.join(self.folder, "beat")
        self.run_ = None
        self.addCleanup(self.end_run)

    def options(self, index):
        """Returns the options of a node."""
        return ["--clients", f"127.0.0.1:{self.port}"] if index == 0 else []

    def end_run(self):
        if self.run_ is not None and self.run_.poll() is None:
            for pid in [self.run_.pid, *children(self.run_.pid)]:
                os.kill(pid, signal.SIGCONT)
            self.run_.kill()
            self.run_.communicate()

    def begin(self, *words, address=None):
        """Starts a stubborn command under the lock. Returns the pid of the guardian."""
        script = STUBBORN.format(self.path)
        self.run_ = subprocess.Popen([BATON, "run", "-S", address or self.cluster[0].socket, "--status-fd", "1", *words, "prize",
                                      "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until("the command runs", lambda: os.path.exists(self.path))
        return children(self.run_.pid)[0]

    def stop(self, *pids):
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
            until("it is stopped", lambda pid=pid: state_of(pid) == "T")

    def stop_guardian(self, pid):
        """Stops the guardian while it waits. If it were stopped while it reads, `baton run` would have to assume that it has read
        of a loss, and would not know the reason."""
        def is_stopped():
            self.stop(pid)
            if waits(pid):
                return True
            os.kill(pid, signal.SIGCONT)
            return False

        until("the guardian is stopped in a poll", is_stopped)

    def outlives_its_lease(self, begin):
        """Begins, and checks that the command outlives the lease that it began with. Returns the guardian. On a busy machine a node
        may lose its lease, so one of several attempts must succeed. Without renewals none does."""
        for _ in range(ATTEMPTS):
            guardian = begin()
            time.sleep(2.5 * LEASE_S)
            if self.run_.poll() is None:
                return guardian
            if state_of(guardian) is not None:
                os.kill(guardian, signal.SIGCONT)
            errors = self.run_.communicate(timeout=60)[1]
            self.assertEqual(self.run_.returncode, 76, errors)
            os.unlink(self.path)
            until("its node is a member again", self.cluster[0].serves)
        raise AssertionError(f"the lease was not renewed in any of {ATTEMPTS} attempts")

    def next_(self):
        """Waits for the next holder, at another node. Returns when it began."""
        subprocess.run([BATON, "run", "-S", self.cluster[1].socket, "-w", "60", "prize", "-c", NEXT.format(self.path)], check=True)
        return number(self.path + ".next")

    def ends_by_its_lease(self, begun, lives=True):
        """Checks that the command's last sign of life was before the next holder began."""
        self.assertLess(number(self.path), begun)
        self.assertIn(state_of(number(self.path + ".pid")), (None, "Z"))
        if not lives:
            return
        output, errors = self.run_.communicate(timeout=60)
        report = json.loads(output)
        self.assertEqual(self.run_.returncode, 76, errors)
        self.assertEqual([report["lost"], report["reason"], report["child"]], [True, "lease", 137], errors)


class Stopped(Holding):
    def test_the_node_is_stopped(self):
        self.begin()
        self.stop(self.cluster[0].process.pid)
        self.ends_by_its_lease(self.next_())

    def test_the_node_and_the_guardian_are_stopped(self):
        self.stop_guardian(self.begin())
        self.stop(self.cluster[0].process.pid)
        self.ends_by_its_lease(self.next_())

    def test_the_node_and_baton_run_are_stopped(self):
        self.begin()
        self.stop(self.run_.pid, self.cluster[0].process.pid)
        begun = self.next_()
        os.kill(self.run_.pid, signal.SIGCONT)
        self.ends_by_its_lease(begun)

    def test_over_tcp_the_node_is_stopped(self):
        self.begin(address=f"127.0.0.1:{self.port}")
        self.stop(self.cluster[0].process.pid)
        self.ends_by_its_lease(self.next_())

    def test_over_tcp_the_lease_is_renewed(self):
        self.outlives_its_lease(lambda: self.begin(address=f"127.0.0.1:{self.port}"))

    def test_a_renewed_lease_goes_on_while_the_guardian_is_stopped(self):
        def begin():
            guardian = self.begin()
            self.stop_guardian(guardian)
            return guardian

        self.outlives_its_lease(begin)
        self.assertLess(time.time_ns() - number(self.path), LEASE_S * 10**9)

    def test_who_goes_on_after_the_lease_reads_the_clock_first(self):
        guardian = self.begin()
        command = number(self.path + ".pid")
        self.stop_guardian(guardian)
        self.stop(self.run_.pid, command, self.cluster[0].process.pid)
        begun = self.next_()
        # The command is stopped too. It must not run again, so it gets no time to stop.
        os.kill(guardian, signal.SIGCONT)
        until("the command is gone", lambda: state_of(command) in (None, "Z"))
        os.kill(self.run_.pid, signal.SIGCONT)
        self.ends_by_its_lease(begun)

    def test_baton_lock_ends(self):
        with subprocess.Popen([BATON, "lock", "-S", self.cluster[0].socket, "prize"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as lock:
            self.assertGreater(int(lock.stdout.readline()), 0)
            self.stop(self.cluster[0].process.pid)
            begun = time.monotonic()
            self.assertEqual(lock.wait(60), 76)
            self.assertLess(time.monotonic() - begun, 10 * LEASE_S)
            self.assertIn("could not renew its lease", lock.stderr.read())

    def test_a_session_that_lapsed_is_told_and_closed(self):
        node = self.cluster[0]
        with node.client() as holder, node.client() as listener, node.client() as other:
            listener.call("CLIENT", "REASONS", "ON")
            listener.call("SUBSCRIBE", "prize")
            fence = holder.call("LOCK", "prize")
            self.stop(node.process.pid)
            with self.cluster[1].client() as waiter:
                self.assertGreater(waiter.call("LOCK", "prize"), fence)
            node.signal(signal.SIGCONT)
            with self.assertRaises(Closed):
                holder.read()
            self.assertEqual(listener.read()[-1].split()[:2], ["granted", str(fence)])
            self.assertEqual(listener.read()[-1], f"lost {fence} {node.name} lease")
            self.assertEqual(other.call("PING"), "PONG")

    def test_over_tcp_a_connection_that_is_cut_keeps_its_lock_until_what_it_was_told(self):
        with Client(("127.0.0.1", self.port)) as holder, self.cluster[1].client() as waiter:
            _, left_ms = holder.call("LEASE")
            asked = time.monotonic()
            holder.call("LOCK", "prize")
            waiter.send("LOCK", "prize")
            holder.close()
            waiter.read()
            self.assertGreater(time.monotonic() - asked, left_ms / 1000 - 0.1)


class Secure(Holding):
    """Over TLS only one of the two processes of `baton run` can use the connection. The lease still decides."""

    def options(self, index):
        if index == 0:
            self.certificates = Certificates(os.path.join(self.folder, "pki"))
        return super().options(index) + self.certificates.options(f"n{index + 1}")

    def begin(self, *words, address=None):
        certificate, key = self.certificates.make("client", "backup")
        return super().begin("--tls-ca", self.certificates.path("ca.crt"), "--tls-cert", certificate, "--tls-key", key, *words,
                             address=address or f"127.0.0.1:{self.port}")

    def test_the_node_is_stopped(self):
        self.begin()
        self.stop(self.cluster[0].process.pid)
        self.ends_by_its_lease(self.next_())

    def test_the_lease_is_renewed_and_the_guardian_is_stopped(self):
        self.stop(self.outlives_its_lease(self.begin))
        self.ends_by_its_lease(self.next_())

    def test_the_guardian_is_killed(self):
        os.kill(self.begin(), signal.SIGKILL)
        begun = self.next_()
        self.assertLess(number(self.path), begun)
        output, errors = self.run_.communicate(timeout=60)
        self.assertEqual((self.run_.returncode, json.loads(output)["lost"]), (-signal.SIGKILL, False), errors)


class AnotherLease(unittest.TestCase):
    """A node that does not belong to a cluster yet does not know its future lease."""

    def newcomer(self, cluster):
        node = Node(cluster.folder, "late", ["--listen", f"127.0.0.1:{free_port()}", "--join", f"127.0.0.1:{cluster.join_port}"])
        cluster.nodes.append(node)
        node.start()
        until("it answers", node.answers)
        return node

    def run_at(self, node, *words):
        return subprocess.Popen([BATON, "run", "-S", node.socket, *words, "x", "true"], stderr=subprocess.PIPE, text=True,
                                env=environment())

    def test_the_grace_is_judged_by_the_lease_of_the_cluster(self):
        for lease, words, code in (("12s", ["--grace", "4s"], 0), ("1s", [], 0), ("1s", ["--grace", "500ms"], 64)):
            with self.subTest(lease=lease, words=words):
                cluster = Cluster(1, "--lease", lease)
                cluster.join_port = free_port()
                cluster[0].options += ["--data", cluster[0].data, "--listen", f"127.0.0.1:{cluster.join_port}"]
                try:
                    node = self.newcomer(cluster)
                    at_once, patient = self.run_at(node, *words), self.run_at(node, "-w", "60s", *words)
                    told = at_once.communicate(timeout=60)[1]
                    self.assertEqual(at_once.returncode, 69, told)
                    self.assertIn("waiting for", told)
                    self.assertIsNone(patient.poll())
                    cluster[0].start()
                    told = patient.communicate(timeout=60)[1]
                    self.assertEqual(patient.returncode, code, told)
                    if code == 64:
                        self.assertIn("does not fit the lease of node 'late', 1000 ms", told)
                    cluster.ready()
                finally:
                    cluster.end()


@unittest.skipIf(SANITIZED, "a sanitizer must be the first library")
class StandsStill(unittest.TestCase):
    """A node stands still where it reads a clock (standstill.c), until others have the locks that it could grant."""
    names = [f"x{number}" for number in range(50)]

    def check(self, cluster, stands, reading):
        node = cluster[0]
        until("it serves", node.serves)
        with node.client() as client: # afterwards no lock has to be asked for elsewhere
            for name in self.names:
                self.assertIsInstance(client.call("LOCK", name), int)
                self.assertEqual(client.call("UNLOCK", name), 1)
        with node.client() as first, node.client() as late, cluster[1].client() as heir:
            first.call("PING")
            late.call("PING")
            node.signal(signal.SIGSTOP) # both are served in one turn of its loop
            first.send("PING", f"stand still {reading}\n")
            late.send_bytes(b"".join(encode("LOCK", name) for name in self.names))
            node.signal(signal.SIGCONT)
            until("it stands still", lambda: os.path.exists(stands))
            heir.send_bytes(b"".join(encode("LOCK", name) for name in self.names))
            fences = [heir.read() for _ in self.names]
            os.unlink(stands)
            with node.client() as client: # when it answers, what it granted was written
                client.call("PING")
            late.socket.settimeout(0.1)
            granted = []
            try:
                while len(granted) < len(self.names) and isinstance(fence := late.read(), int):
                    granted.append(fence)
            except (Closed, TimeoutError):
                pass
            self.assertTrue(all(fence < other for fence, other in zip(granted, fences)), (granted, fences))
            return len(granted)

    def test_it_grants_one_lock_at_most_as_if_its_lease_were_valid(self):
        cluster = Cluster(3, "--lease", f"{LEASE_S}s")
        stands = os.path.join(cluster.folder, "stands")
        cluster[0].env = {"LD_PRELOAD": os.path.join(os.environ.get("BUILD", os.path.dirname(BATON)), "test", "standstill.so"),
                          "STANDSTILL": stands}
        with cluster:
            # The turn of the second client begins with five readings: the beginning of the turn, and four of the lease clock. The
            # sixth follows its first command. After each time the others wait longer before they let the node join again.
            granted = {reading: self.check(cluster, stands, reading) for reading in (1, 5, 6)}
        self.assertLessEqual(max(granted.values()), 1, granted)


if __name__ == "__main__":
    unittest.main()
