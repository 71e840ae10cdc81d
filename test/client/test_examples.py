"""Tests the examples in C with a real node."""
import json
import os
import re
import signal
import subprocess
import tempfile
import unittest

from baton import ROOT
from cluster import until
from running import PATIENCE, Node, Program, redis_cli

EXAMPLES = os.path.join(os.environ["BUILD"], "examples")


class Examples(unittest.TestCase):
    def setUp(self):
        node = Node()
        node.__enter__()
        self.addCleanup(node.__exit__)
        self.node = node
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def example(self, name, *words):
        program = Program(os.path.join(EXAMPLES, name), *words, environment=self.node.environment)
        self.addCleanup(program.__exit__)
        return program

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def hold(self, lock):
        """Returns a session that holds a lock until its input ends."""
        holder = Program("redis-cli", "-s", self.node.socket)
        self.addCleanup(holder.__exit__)
        holder.tell(f"LOCK {lock}")
        return holder, int(holder.line())

    def test_each_is_short(self):
        names = [name for name in os.listdir(os.path.join(ROOT, "examples")) if name.endswith(".c")]
        self.assertEqual(len(names), 4)
        for name in names:
            with open(os.path.join(ROOT, "examples", name), encoding="utf-8") as file:
                self.assertLess(len(file.readlines()), 120, name)

    # --- cron_job ---

    def test_a_cron_job_is_done(self):
        code, out, err = self.example("cron_job", "nightly", self.path("report")).end()
        self.assertEqual((code, err), (0, ""))
        fence = re.fullmatch(r"done, fence (\d+)\n", out)[1]
        self.assertEqual(self.read("report"), "".join(f"part {part}, fence {fence}\n" for part in (1, 2, 3)))

    def test_a_cron_job_leaves_it_to_who_is_at_it(self):
        holder, _ = self.hold("nightly")
        self.assertEqual(self.example("cron_job", "nightly", self.path("report")).end(), (0, "somebody else is at it\n", ""))
        self.assertFalse(os.path.exists(self.path("report")))
        holder.end()
        self.assertEqual(self.example("cron_job", "nightly", self.path("report")).end()[0], 0)

    def test_a_cron_job_without_a_node(self):
        self.node.stop()
        code, out, err = self.example("cron_job", "nightly", self.path("report")).end()
        self.assertEqual((code, out), (69, ""))
        self.assertIn(f"no node at {self.node.socket}", err)

    # --- worker_pool ---

    def test_two_pools_do_each_task_once(self):
        tasks = 60
        for i in range(tasks):
            with open(self.path(f"{i}.task"), "w", encoding="utf-8"):
                pass
        pools = [self.example("worker_pool", self.folder, "3") for _ in range(2)]
        done = 0
        for pool in pools:
            code, out, err = pool.end()
            self.assertEqual((code, err), (0, ""))
            counts = re.findall(r"(\d+) done\n", out)
            self.assertEqual(len(counts), 3)
            done += sum(map(int, counts))
        self.assertEqual(done, tasks)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(f"{i}.done" for i in range(tasks)))
        for i in range(tasks):
            self.assertEqual(self.read(f"{i}.done").count("\n"), 1)

    # --- leader_service ---

    def leader(self):
        return redis_cli(self.node, "LEADER", "web").split("\n")

    def test_a_service_leads_until_it_stands_down(self):
        first = self.example("leader_service", "web", "10.0.0.1:80")
        self.assertEqual(first.line(), "campaigning")
        fence = re.fullmatch(r"leading, fence (\d+)", first.line())[1]
        self.assertEqual(self.leader(), [fence, "n1", "10.0.0.1:80"])
        second = self.example("leader_service", "web", "10.0.0.2:80")
        self.assertEqual(second.line(), "campaigning")
        first.process.send_signal(signal.SIGTERM)
        self.assertEqual(first.line(), "standing down")
        self.assertEqual(first.end()[0], 0)
        later = re.fullmatch(r"leading, fence (\d+)", second.line())[1]
        self.assertGreater(int(later), int(fence))
        self.assertEqual(self.leader(), [later, "n1", "10.0.0.2:80"])

    def test_a_service_whose_leadership_is_broken_campaigns_again(self):
        first = self.example("leader_service", "web", "10.0.0.1:80")
        first.line()
        fence = re.fullmatch(r"leading, fence (\d+)", first.line())[1]
        second = self.example("leader_service", "web", "10.0.0.2:80")
        second.line()
        until("the second waits", lambda: json.loads(redis_cli(self.node, "STATUS", "web"))["locks"][0]["waiters"])
        self.assertEqual(redis_cli(self.node, "BREAK", "web", fence), "1")
        self.assertEqual([first.line(), first.line()], [f"lost, fence {fence}", "campaigning"])
        self.assertRegex(second.line(), r"leading, fence (\d+)")
        second.process.kill()
        self.assertRegex(first.line(), r"leading, fence (\d+)")

    def test_a_service_ends_when_its_node_dies(self):
        leads, waits = (self.example("leader_service", "web", f"10.0.0.{i}:80") for i in (1, 2))
        for program in (leads, waits):
            self.assertEqual(program.line(), "campaigning")
        self.node.stop(signal.SIGKILL)
        for program in (leads, waits):
            code, _, err = program.end()
            self.assertEqual(code, 69, err)

    # --- fenced_writer ---

    def test_a_writer_that_was_overtaken_is_refused(self):
        first = self.example("fenced_writer", "file", self.path("data"))
        fence = int(re.fullmatch(r"fence (\d+)", first.line())[1])
        first.tell("one")
        self.assertEqual(first.line(), "written")
        # The cluster takes the holder for dead, and the holder does not know it.
        self.assertEqual(redis_cli(self.node, "BREAK", "file", fence), "1")
        second = self.example("fenced_writer", "file", self.path("data"))
        self.assertGreater(int(re.fullmatch(r"fence (\d+)", second.line())[1]), fence)
        second.tell("two")
        self.assertEqual(second.line(), "written")
        first.tell("three")
        code, out, err = first.end()
        self.assertEqual((code, out), (1, ""))
        self.assertIn("refused: my fence is", err)
        self.assertEqual(self.read("data"), "two\n")
        self.assertEqual(second.end()[0], 0)

    # --- common to all examples ---

    def test_bad_usage(self):
        for name in ("cron_job", "worker_pool", "leader_service", "fenced_writer"):
            done = subprocess.run([os.path.join(EXAMPLES, name)], capture_output=True, text=True, check=False, timeout=PATIENCE)
            self.assertEqual((done.returncode, done.stdout), (64, ""))
            self.assertIn(f"usage: {name}", done.stderr)


unittest.main()
