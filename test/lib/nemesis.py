"""Faults on a cluster of real processes, drawn from a seed, while clients ask for locks and everything is recorded.

Each node runs on a host of its own (wires.py) where the machine permits it, and on loopback
otherwise. Faults that the machine does not permit are left out, and `skipped` lists them. Two
threads, the hands, cause faults at the same time, each on nodes that the other does not use at the
moment.
"""
import contextlib
import datetime
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import history
from baton import BATON
from certificates import Certificates
from cluster import Node, free_port
from freezing import Disks, Freezer
from recorder import Crowd, Recorder, now_ns, send
from wires import Wires, address

PATIENCE_S = 90  # how long nodes may take to serve again after all faults are healed
HANDS = 2
LOOK_S = 15  # how often the history is checked


class Unlucky(Exception):
    """Raised if a fault cannot be done now: nobody holds a lock, or the node is taken."""


class Nemesis:
    def __init__(self, nodes=5, clients=50, locks=8, lease_ms=1000, seed=1, kinds=None, tls=False):
        self.lease_ms, self.seed, self.kinds = lease_ms, seed, kinds
        self.removed = set()  # names of nodes that an operator has removed at some time
        self.folder = tempfile.mkdtemp(prefix="baton-nemesis-")
        self.certificates = Certificates(os.path.join(self.folder, "pki")) if tls else None
        self.stack = contextlib.ExitStack()
        self.over = threading.Event()
        self.guard = threading.Lock()
        self.taken = set()
        self.rules = {}
        self.skipped = {}
        self.failures = []
        self.wiped = None
        names = [f"n{number}" for number in range(1, nodes + 1)]
        try:
            self.make_hosts(names)
            self.recorder = Recorder(self.folder)
            self.crowd = Crowd(self.recorder, self.nodes[:-1], clients, locks, lease_ms, seed)
        except BaseException:
            self.stack.close()
            raise

    def make_hosts(self, names):
        self.stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        count = len(names) + 1 # the last node joins and is drained
        try:
            self.wires = self.stack.enter_context(Wires(count, self.seed))
            addresses = [f"{address(host)}:7440" for host in range(count)]
        except unittest.SkipTest as skipped:
            self.wires = None
            self.skipped["network"] = str(skipped)
            addresses = [f"127.0.0.1:{free_port()}" for _ in range(count)]
        self.freezers = [Freezer(f"baton-nemesis-{os.getpid()}-{hand}") for hand in range(HANDS)]
        for freezer in self.freezers:
            self.stack.callback(freezer.end)
        if self.freezers[0].why_not:
            self.skipped["freeze"] = self.freezers[0].why_not
        self.disks = Disks(self.folder, [name + ".disk" for name in names])
        self.stack.callback(self.disks.end)
        if self.disks.why_not:
            self.skipped["disk"] = self.disks.why_not
        peers = ",".join(f"{name}={place}" for name, place in zip(names, addresses))
        self.nodes = []
        for host, (name, place) in enumerate(zip([*names, "extra"], addresses)):
            secured = self.certificates.options(name) if self.certificates else ["--insecure"]
            node = Node(self.folder, name, [*secured, "--listen", place], self.wires.within(host) if self.wires else ())
            if not self.disks.why_not and name != "extra":
                node.data = os.path.join(self.folder, name + ".disk", "data")
            node.options += ["--data", node.data]
            node.options += ["--peers", peers, "--lease", f"{self.lease_ms}ms"] if name != "extra" else \
                ["--join", ",".join(addresses[:-1])]
            self.nodes.append(node)

    # The state of the cluster.

    def serves(self, node):
        """Asks the node, with a limit, because it may be stopped."""
        done = subprocess.run([BATON, "status", "--ready", "-S", node.socket], capture_output=True, check=False)
        return done.returncode == 0

    def await_serving(self, node, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if node.process is None or node.process.poll() is not None:
                return False
            if self.serves(node):
                return True
            if self.over.wait(0.1) and seconds < PATIENCE_S:
                return False
        return False

    def members(self):
        """Returns what some node says about the members, by name."""
        for node in self.nodes:
            try:
                done = subprocess.run([BATON, "member", "list", "--json", "-S", node.socket], capture_output=True, text=True,
                                      check=False, timeout=1)
                if done.returncode == 0:
                    return {member["name"]: member for member in json.loads(done.stdout)["members"]}
            except subprocess.TimeoutExpired:
                pass
        return {}

    @contextlib.contextmanager
    def taking(self, *nodes):
        """Reserves these nodes: no other fault touches them."""
        with self.guard:
            if not nodes or any(node.name in self.taken for node in nodes):
                raise Unlucky
            self.taken |= {node.name for node in nodes}
        try:
            yield
        finally:
            with self.guard:
                self.taken -= {node.name for node in nodes}

    @contextlib.contextmanager
    def noted(self, kind, what):
        self.recorder.note("fault", kind=kind, what=what)
        try:
            yield
        finally:
            self.recorder.note("healed", kind=kind, what=what)

    def last(self, draw, least=0.1, most=3):
        """Waits for a fraction or a multiple of the lease: some faults are over before anybody notices."""
        self.over.wait(draw.uniform(least, most) * self.lease_ms / 1000)

    def any_node(self, draw):
        """Draws a node, mostly one whose client is inside, because only such a client can stay too long."""
        found = [(attempt.hold, attempt.node) for attempt in self.recorder.holders()] if draw.random() < 0.7 else []
        return draw.choice(found)[1] if found else draw.choice(self.nodes[:-1])

    def any_host(self, draw):
        """Draws a node in the same way. Returns its number."""
        return self.nodes.index(self.any_node(draw))

    def leader(self):
        found = [name for name, member in self.members().items() if member["leader"]]
        return next((node for node in self.nodes[:-1] if node.name in found), None)

    # Faults. Each one reserves its nodes, does its damage, waits, and heals.

    def kill(self, draw, node=None, kind="kill"):
        node = node or self.any_node(draw)
        with self.taking(node), self.noted(kind, node.name):
            self.kill_now(node)
            self.last(draw)
            node.start()

    def kill_now(self, node):
        if node.process is not None:
            node.signal(signal.SIGKILL)

    def kill_leader(self, draw):
        self.kill(draw, self.leader() or self.any_node(draw), "kill leader")

    def kill_voters(self, draw):
        """Kills each voter in turn. The next is killed when the last one serves again, or after some time."""
        voters = [name for name, member in self.members().items() if member["role"] == "voter"]
        for node in [node for node in self.nodes[:-1] if node.name in voters]:
            self.kill(draw, node, "kill each voter")
            self.await_serving(node, 4 * self.lease_ms / 1000)

    def kill_all(self, draw):
        with self.taking(*self.nodes[:-1]), self.noted("kill all", "all"):
            for node in self.nodes[:-1]:
                self.kill_now(node)
            self.last(draw, 0, 1.5)
            for node in self.nodes[:-1]:
                node.start()

    def terminate(self, draw, node=None, kind="terminate"):
        node = node or self.any_node(draw)
        with self.taking(node), self.noted(kind, node.name):
            node.terminate()
            node.wait()
            self.last(draw, 0, 1)
            node.start()

    def roll(self, draw):
        """Restarts the nodes one after the other."""
        for node in self.nodes[:-1]:
            self.terminate(draw, node, "rolling restart")
            self.await_serving(node, 10 * self.lease_ms / 1000)

    def stop(self, draw, node=None, kind="stop"):
        node = node or self.any_node(draw)
        with self.taking(node), self.noted(kind, node.name):
            node.signal(signal.SIGSTOP)
            self.last(draw)
            node.signal(signal.SIGCONT)

    def stop_leader(self, draw):
        self.stop(draw, self.leader() or self.any_node(draw), "stop leader")

    def freeze(self, draw, hand):
        node = self.any_node(draw)
        with self.taking(node), self.noted("freeze", node.name), self.frozen(hand, [node.process.pid]):
            self.last(draw)

    @contextlib.contextmanager
    def frozen(self, hand, pids):
        self.freezers[hand].freeze(pids)
        try:
            yield
        finally:
            self.freezers[hand].thaw()

    def wipe(self, draw):
        """Wipes a voter's disk. Only one voter may lose its disk, and all others must live: a lost majority stays lost."""
        node = self.any_node(draw)
        with self.taking(*self.nodes[:-1]):
            members = self.members()
            sound = [name for name, member in members.items() if member["role"] == "voter" and member["state"] == "active"]
            if self.wiped is not None and not self.serves(self.wiped) or len(sound) < 3:
                raise Unlucky
            with self.noted("wipe", node.name):
                self.wiped = node
                self.kill_now(node)
                shutil.rmtree(node.data, ignore_errors=True)
                node.start()
                self.await_serving(node, 10 * self.lease_ms / 1000)

    def hang_disk(self, draw):
        node = self.any_node(draw)
        path = os.path.dirname(node.data)
        with self.taking(node), self.noted("disk hangs", node.name):
            self.disks.freeze(path)
            try:
                self.last(draw, 0.1, 2)
            finally:
                self.disks.thaw(path)

    def join_and_drain(self, draw):
        extra = self.nodes[-1]
        with self.taking(extra), self.noted("join and drain", extra.name):
            extra.start()
            self.await_serving(extra, 15 * self.lease_ms / 1000)
            self.last(draw, 0.5, 3)
            subprocess.run([BATON, "drain", "--for", "1s", "-S", extra.socket], capture_output=True, check=False, timeout=60)
            extra.terminate() # drain has ended the node, unless it never began to serve
            extra.wait()

    def order(self, draw, verb, name):
        """Gives an operator's order at any node. The order may be lost."""
        try:
            subprocess.run([BATON, "member", verb, name, "-S", draw.choice(self.nodes[:-1]).socket], capture_output=True, check=False,
                           timeout=3 * self.lease_ms / 1000)
        except subprocess.TimeoutExpired:
            pass

    def remove_and_invite(self, draw):
        node = self.any_node(draw)
        with self.taking(node), self.noted("remove and invite", node.name):
            self.removed.add(node.name)
            self.order(draw, "remove", node.name)
            self.last(draw, 0, 2)
            self.order(draw, "invite", node.name)
            self.await_serving(node, 5 * self.lease_ms / 1000)

    def rule(self, hand, **rules):
        with self.guard:
            if rules:
                self.rules[hand] = rules
            else:
                self.rules.pop(hand, None)
            together = {name: [pair for one in self.rules.values() for pair in one.get(name, ())] for name in ("cut", "slow")}
            for name in ("loss", "delay_ms", "jitter_ms"):
                together[name] = max([one.get(name, 0) for one in self.rules.values()], default=0)
            self.wires.rule(**together)

    def disturb(self, draw, hand, kind, what, **rules):
        with self.noted(kind, what):
            self.rule(hand, **rules)
            self.last(draw, 0.2, 4)
            self.rule(hand)

    def cut(self, draw, hand):
        host = self.any_host(draw)
        others = [other for other in range(len(self.nodes)) if other != host]
        ways = draw.choice(("both ways", "what it sends", "what it hears"))
        pairs = [[host, other] for other in others] if ways != "what it hears" else []
        pairs += [[other, host] for other in others] if ways != "what it sends" else []
        self.disturb(draw, hand, "cut", f"{self.nodes[host].name}, {ways}", cut=pairs)

    def lag(self, draw, hand):
        """Makes a node hear everything late, and then nothing: its last acknowledgement is old when it arrives."""
        host = self.any_host(draw)
        others = [other for other in range(len(self.nodes)) if other != host]
        with self.noted("lag", self.nodes[host].name):
            self.rule(hand, slow=[[host, draw.uniform(0.2, 0.6) * self.lease_ms]])
            self.last(draw, 0.7, 1.2)
            self.rule(hand, cut=[[host, other] for other in others] + [[other, host] for other in others])
            self.last(draw, 1, 3)
            self.rule(hand)

    def cut_link(self, draw, hand):
        one, other = draw.sample(range(len(self.nodes) - 1), 2)
        self.disturb(draw, hand, "cut link", f"{self.nodes[one].name} to {self.nodes[other].name}", cut=[[one, other]])

    def split(self, draw, hand):
        hosts = list(range(len(self.nodes)))
        draw.shuffle(hosts)
        left, right = hosts[:len(hosts) // 2], hosts[len(hosts) // 2:]
        self.disturb(draw, hand, "split", "-".join(self.nodes[host].name for host in left),
                     cut=[[a, b] for a in left for b in right] + [[b, a] for a in left for b in right])

    def lose(self, draw, hand):
        share = draw.choice((0.02, 0.1, 0.3))
        self.disturb(draw, hand, "loss", f"{share:.0%}", loss=share)

    def delay(self, draw, hand):
        ms = draw.choice((0.01, 0.05, 0.2)) * self.lease_ms
        self.disturb(draw, hand, "delay", f"{ms:.0f} ms", delay_ms=ms)

    def reorder(self, draw, hand):
        ms = draw.choice((0.01, 0.05)) * self.lease_ms
        self.disturb(draw, hand, "reordering", f"by {ms:.0f} ms", jitter_ms=ms)

    def a_holder(self, draw):
        """Draws a client that is inside and that no fault has touched yet."""
        found = sorted((attempt for attempt in self.recorder.holders() if not attempt.meddled), key=lambda attempt: attempt.hold)
        if not found:
            raise Unlucky
        attempt = draw.choice(found)
        attempt.meddled = True
        if None in attempt.keepers():
            raise Unlucky
        return attempt

    def meddle(self, draw):
        """Stops or kills `baton run` or its guardian. The other of the two stops the command in time."""
        attempt = self.a_holder(draw)
        who, number = draw.choice(("run", "guardian")), draw.choice((signal.SIGSTOP, signal.SIGKILL))
        pid = attempt.keepers()[0 if who == "run" else 1]
        with self.noted(("stop " if number == signal.SIGSTOP else "kill ") + who, f"hold {attempt.hold}"):
            send(pid, number)
            self.last(draw, 0.5, 3)
            send(pid, signal.SIGCONT)

    def stop_all_three(self, draw):
        """Stops all three, so that nobody can stop the command, and only the register keeps it out."""
        attempt = self.a_holder(draw)
        with self.taking(attempt.node):
            pids = attempt.keepers()[:2]
            self.recorder.note("unguarded", hold=attempt.hold, why="all three stopped")
            with self.noted("stop all three", f"hold {attempt.hold} at {attempt.node.name}"):
                for pid in pids:
                    send(pid, signal.SIGSTOP)
                attempt.node.signal(signal.SIGSTOP)
                self.last(draw, 0.5, 3)
                attempt.node.signal(signal.SIGCONT)
                for pid in reversed(pids):
                    send(pid, signal.SIGCONT)

    def freeze_client(self, draw, hand):
        """Freezes the client, its keepers and its command together, as when a host is suspended."""
        attempt = self.a_holder(draw)
        self.recorder.note("unguarded", hold=attempt.hold, why="frozen")
        with self.noted("freeze client", f"hold {attempt.hold}"), self.frozen(hand, attempt.processes()):
            self.last(draw, 0.5, 3)

    def break_lock(self, draw):
        attempt = self.a_holder(draw)
        node = self.any_node(draw)
        with self.noted("break", f"l{attempt.lock}"):
            try:
                subprocess.run([BATON, "break", f"l{attempt.lock}", "--fence", str(self.recorder.greatest(attempt.lock)), "-S",
                                node.socket], capture_output=True, check=False, timeout=2 * self.lease_ms / 1000)
            except subprocess.TimeoutExpired:
                pass

    def faults(self):
        """Returns the faults that this machine permits, each with its weight."""
        table = {"kill": (self.kill, 4), "kill leader": (self.kill_leader, 3), "kill each voter": (self.kill_voters, 1),
                 "kill all": (self.kill_all, 1), "terminate": (self.terminate, 3), "rolling restart": (self.roll, 1),
                 "stop": (self.stop, 4), "stop leader": (self.stop_leader, 2), "wipe": (self.wipe, 1),
                 "join and drain": (self.join_and_drain, 2), "meddle": (self.meddle, 6), "stop all three": (self.stop_all_three, 3),
                 "break": (self.break_lock, 2), "remove and invite": (self.remove_and_invite, 2)}
        if self.wires:
            table |= {"cut": (self.cut, 4), "lag": (self.lag, 2), "cut link": (self.cut_link, 2), "split": (self.split, 2), "loss": (self.lose, 2),
                      "delay": (self.delay, 2), "reordering": (self.reorder, 1)}
        if "freeze" not in self.skipped:
            table |= {"freeze": (self.freeze, 2), "freeze client": (self.freeze_client, 2)}
        if "disk" not in self.skipped:
            table |= {"disk hangs": (self.hang_disk, 2)}
        return {name: entry for name, entry in table.items() if self.kinds is None or name in self.kinds}

    def hand(self, number):
        """Does one fault after another."""
        draw = random.Random(self.seed * 100 + number)
        table = self.faults()
        names, weights = list(table), [weight for _, weight in table.values()]
        with_hand = {"freeze", "freeze client", "cut", "lag", "cut link", "split", "loss", "delay", "reordering"}
        while not self.over.wait(draw.expovariate(1000 / self.lease_ms)):
            name = draw.choices(names, weights)[0]
            try:
                table[name][0](draw, *([number] if name in with_hand else []))
            except Unlucky:
                pass
            except BaseException as failure: # pylint: disable=broad-exception-caught
                self.failures.append(f"{name}: {type(failure).__name__}: {failure}")
                self.over.set()

    # The run.

    def run(self, seconds, tell=lambda text: None):
        """Does the run and returns the Verdict. `tell` is called with a line of progress now and then."""
        try:
            for node in self.nodes[:-1]:
                node.start()
            for node in self.nodes[:-1]:
                assert self.await_serving(node, PATIENCE_S), f"{node.name} does not begin:\n{node.log()}"
            self.crowd.start()
            hands = [threading.Thread(target=self.hand, args=(number,)) for number in range(HANDS)]
            for thread in hands:
                thread.start()
            sound = self.wait(seconds, tell)
            for thread in hands:
                thread.join()
            if sound:
                self.heal()
                left = self.recorder.finish()
                if left:
                    self.failures.append(f"processes of clients are left behind: {left}")
        finally:
            self.over.set()
            self.clear()
        return history.judge(history.read(self.recorder.path))

    def wait(self, seconds, tell):
        """Waits, but ends early if something is wrong. Returns false if the checker has found a fault."""
        begun = told = time.monotonic()
        while time.monotonic() < begun + seconds and not self.over.wait(1):
            self.look_for_the_dead()
            if time.monotonic() < told + LOOK_S:
                continue
            told = time.monotonic()
            verdict = history.judge(history.read(self.recorder.path))
            tell(f"{told - begun:.0f} s: {verdict.grants} grants, {verdict.lost} lost, {sum(verdict.faults.values())} faults, "
                 f"{len(verdict.problems)} problems")
            if verdict.problems:
                self.over.set()
                return False
        self.over.set()
        return True

    def look_for_the_dead(self):
        """Checks that no node and no client has ended unless a fault ended it."""
        if self.crowd.failures:
            self.failures += self.crowd.failures[:3]
            self.over.set()
        with self.guard:
            for node in self.nodes:
                if node.name not in self.taken and node.process is not None and node.process.poll() is not None:
                    self.failures.append(f"{node.name} ended by itself: exit {node.process.poll()}\n{node.log()[-3000:]}")
                    node.process = None
                    self.over.set()

    def heal(self):
        """Heals everything. Each node must serve and each client must get its answer. Then each lock must be available at each
        node."""
        draw = random.Random(self.seed)
        for node in self.nodes[:-1]:
            # An order to remove the node may have been committed after its last invitation.
            for _ in range(10 if node.name in self.removed else 0):
                self.order(draw, "invite", node.name)
                if self.await_serving(node, 3 * self.lease_ms / 1000):
                    break
            if not self.await_serving(node, PATIENCE_S):
                self.failures.append(f"{node.name} does not serve after everything was healed")
        if not self.crowd.end():
            self.failures.append(f"clients are not answered after everything was healed: {sorted(self.recorder.running)}")
        self.note_views()
        for lock, node in itertools.product(range(self.crowd.locks), self.nodes[:-1]):
            if self.failures: # after a failure, waiting for each lock would take long
                return
            code = self.recorder.attempt("last", lock, node, 1, options=["-w", "60s"])
            if code != 0:
                self.failures.append(f"l{lock} cannot be had at {node.name} after everything was healed: exit {code}")

    def note_views(self):
        """Records the views from the logs, each at the time when the first node knew it. Logs have the time of day."""
        since = now_ns() - time.time_ns()
        first = {}
        for node in self.nodes:
            if not os.path.exists(node.log_path):
                continue
            for when, epoch, count in re.findall(r"^(\S+)Z \S+ info: epoch (\d+), (\d+) member", node.log(), re.M):
                day = datetime.datetime.fromisoformat(when).replace(tzinfo=datetime.timezone.utc)
                t = int(day.timestamp() * 1000) * 1_000_000 + since
                if int(epoch) not in first or t < first[int(epoch)][0]:
                    first[int(epoch)] = t, int(count)
        for epoch, (t, count) in first.items():
            self.recorder.note("view", t=t, epoch=epoch, members=count)

    def clear(self):
        """Ends every process that was started here. Keeps only the history and the logs."""
        for freezer in self.freezers:
            if freezer.path:
                freezer.thaw()
        for node in self.nodes:
            if node.process is not None and node.process.poll() is None:
                node.process.kill()
                node.process.wait()
        while not self.crowd.end(0.2) or self.recorder.processes():
            for pid in self.recorder.processes():
                send(pid, signal.SIGKILL)

    def keep(self, path):
        """Copies the history and the logs to a folder."""
        os.makedirs(path, exist_ok=True)
        for name in os.listdir(self.folder):
            if name.endswith((".log", ".jsonl")):
                shutil.copy(os.path.join(self.folder, name), path)

    def close(self):
        self.stack.close()
