"""Redis clients as people have them: redis-cli, hiredis, python3-redis, and `redis` of npm."""
import json
import os
import shutil
import subprocess
import sys
import unittest

import npm
from baton import BATON
from cluster import PATIENCE_S, Cluster, until

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD", os.path.dirname(BATON))
NPM = os.path.join(BUILD, "test", "node")


class Libraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(3).start()
        cls.sockets = [node.socket for node in cls.cluster]

    @classmethod
    def tearDownClass(cls):
        cls.cluster.end()

    def run_words(self, *words, **more):
        done = subprocess.run(words, capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False, **more)
        self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr}")
        return done.stdout

    def redis_cli(self, *words, **more):
        if shutil.which("redis-cli") is None:
            self.skipTest("redis-cli is not here: tools/setup test installs it")
        return self.run_words("redis-cli", "-s", self.sockets[0], *words, **more).strip()

    def test_redis_cli(self):
        fence = int(self.redis_cli("LOCK", "cli"))
        self.assertEqual(int(self.redis_cli("LOCK", "cli")), fence + 1) # the first has gone, and its lock is free
        self.assertEqual(self.redis_cli("UNLOCK", "cli"), "0")
        self.assertEqual(self.redis_cli("-3", "LEADER", "cli"), "")
        self.assertEqual(self.redis_cli("PING"), "PONG")
        self.assertIn("wrong number of arguments", self.redis_cli("LOCK"))
        self.assertEqual(json.loads(self.redis_cli("STATUS"))["node"], "n1")
        told = self.redis_cli("-3", input="LOCK a\nLOCK a NOWAIT\nUNLOCK a\nUNLOCK a\nELECT b me\nLEADER b\n").splitlines()
        self.assertGreater(int(told[0]), 0)
        self.assertIn("HELD", told[1])
        numbers = [word for word in told if word]
        self.assertEqual(numbers[2:4], ["1", "0"])
        self.assertEqual(numbers[-2:], ["n1", "me"])

    def test_redis_cli_listens(self):
        if shutil.which("redis-cli") is None:
            self.skipTest("redis-cli is not here: tools/setup test installs it")
        with subprocess.Popen(["redis-cli", "-s", self.sockets[1], "SUBSCRIBE", "heard"], stdout=subprocess.PIPE,
                              text=True) as listener, self.cluster[0].client() as client:
            self.assertEqual([listener.stdout.readline().strip() for _ in range(3)], ["subscribe", "heard", "1"])
            fence = client.call("LOCK", "heard")
            self.assertEqual([listener.stdout.readline().strip() for _ in range(3)],
                             ["message", "heard", f"granted {fence} n1"])
            listener.terminate()

    def test_hiredis(self):
        self.run_words(os.path.join(BUILD, "test", "hiredis"), *self.sockets[:2])

    def test_python_redis(self):
        for python in (sys.executable, "/usr/bin/python3"):
            found = subprocess.run([python, "-c", "import redis"], capture_output=True, check=False)
            if found.returncode == 0:
                self.run_words(python, os.path.join(HERE, "python_redis.py"), *self.sockets[:2])
                return
        self.skipTest("python3-redis is not here: tools/setup test installs it")

    def test_npm_redis(self):
        if shutil.which("node") is None or shutil.which("npm") is None:
            self.skipTest("node and npm are not here: tools/setup test installs them")
        npm.install(os.path.join(HERE, "node"), NPM)
        for version in ("2", "3"):
            with self.subTest(version=version):
                found = json.loads(self.run_words("node", os.path.join(NPM, "client.mjs"), *self.sockets[:2], version))
                fence = found["fence"]
                self.assertGreater(fence, 0)
                self.assertEqual((found["ping"], found["busy"], found["unlocked"], found["next"]), ("PONG", None, 1, fence + 1))
                self.assertIn("holds the lock already", found["again"])
                self.assertEqual(found["leader"], [found["elected"], "n1", "me"])
                self.assertEqual((found["pipeline"], found["status"]), (["1", "2", "3"], ["npm-boss"]))
                self.assertEqual(found["heard"], [f"granted {fence} n1", f"released {fence} n1", f"granted {fence + 1} n2",
                                                  f"released {fence + 1} n2"])
                self.assertEqual(found["pattern"], ["npm", f"released {fence + 1} n2"])
                until("its locks are free", lambda: self.cluster[0].status("npm*")["locks"] == [])


if __name__ == "__main__":
    unittest.main()
