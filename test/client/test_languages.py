"""Tests the examples in other languages. They all do the same: hold a lock until their input ends."""
import os
import re
import signal
import unittest

import npm
from baton import ROOT
from cluster import until
from running import PATIENCE, Node, Program, redis_cli

EXAMPLES = os.path.join(ROOT, "examples")
NPM = os.path.join(os.environ["BUILD"], "examples", "node")


class Language:
    words = ()

    def setUp(self):
        self.node = Node()
        self.node.__enter__()
        self.addCleanup(self.node.__exit__)

    def holder(self, timeout=1000 * PATIENCE):
        program = Program(*self.words, "a lock", str(timeout), environment=self.node.environment)
        self.addCleanup(program.__exit__)
        return program

    def held(self):
        program = self.holder()
        return program, int(re.fullmatch(r"fence (\d+)", program.line())[1])

    def test_one_after_the_other(self):
        first, fence = self.held()
        second = self.holder()
        until("it waits", lambda: '"waiters":[]' not in redis_cli(self.node, "STATUS", "a lock"))
        self.assertEqual(first.end(), (0, "", ""))
        self.assertGreater(int(re.fullmatch(r"fence (\d+)", second.line())[1]), fence)
        self.assertEqual(second.end(), (0, "", ""))

    def test_not_free(self):
        first, _ = self.held()
        self.assertEqual(self.holder(50).end(), (75, "", "a lock is not free\n"))
        self.assertEqual(first.end(), (0, "", ""))

    def test_lost(self):
        first, fence = self.held()
        self.assertEqual(redis_cli(self.node, "BREAK", "a lock", fence), "1")
        self.assertEqual(first.end(), (76, "", "a lock was lost\n"))

    def test_killed(self):
        first, _ = self.held()
        first.process.kill()
        second, _ = self.held()
        self.assertEqual(second.end(), (0, "", ""))

    def test_the_node_dies(self):
        first, _ = self.held()
        self.node.stop(signal.SIGKILL)
        self.assertEqual(first.end(), (76, "", "a lock was lost\n"))
        code, out, err = self.holder().end()
        self.assertEqual((code, out), (69, ""))
        self.assertNotEqual(err, "")


class Shell(Language, unittest.TestCase):
    words = (os.path.join(EXAMPLES, "lock.sh"),)


class Python(Language, unittest.TestCase):
    words = (os.path.join(EXAMPLES, "lock.py"),)


class NodeJs(Language, unittest.TestCase):
    words = ("node", os.path.join(NPM, "lock.mjs"))

    @classmethod
    def setUpClass(cls):
        npm.install(os.path.join(EXAMPLES, "node"), NPM)


unittest.main()
