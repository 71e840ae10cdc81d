"""Tests common Redis clients: redis-cli, redis-benchmark, hiredis, python3-redis, and `redis` and `ioredis` of npm."""
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import termios
import unittest

import npm
from baton import BATON
from cluster import PATIENCE_S, Cluster, until
from resp import encode

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
        self.assertEqual(int(self.redis_cli("LOCK", "cli")), fence + 1) # the first client has gone, so its lock is free
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

    def test_redis_cli_pipe_ends(self):
        """redis-cli sends ECHO after everything else, and reads until the reply to it arrives."""
        if shutil.which("redis-cli") is None:
            self.skipTest("redis-cli is not here: tools/setup test installs it")
        with tempfile.TemporaryFile() as file:
            file.write(b"".join(encode("LOCK", "pipe") + encode("UNLOCK", "pipe") for _ in range(5000)) + encode("NONSENSE"))
            file.seek(0)
            done = subprocess.run(["redis-cli", "-s", self.sockets[0], "--pipe"], stdin=file, capture_output=True, text=True,
                                  timeout=PATIENCE_S, check=False)
        self.assertIn("errors: 1, replies: 10001", done.stdout + done.stderr)

    def test_redis_cli_helps(self):
        """On a terminal, redis-cli asks for the commands, to complete and explain them."""
        if shutil.which("redis-cli") is None:
            self.skipTest("redis-cli is not here: tools/setup test installs it")
        terminal, other = pty.openpty()
        termios.tcsetwinsize(other, (24, 200)) # if the size were unknown, redis-cli would ask the terminal
        cli = subprocess.Popen(["redis-cli", "-s", self.sockets[0]], stdin=other, stdout=other, stderr=other,
                               env={**os.environ, "TERM": "xterm"})
        try:
            self.heard(terminal, b"> ") # wait for the prompt: earlier input is discarded
            os.write(terminal, b"help LOCK\r")
            self.assertIn("Takes a lock: name [NOWAIT | TIMEOUT ms]", self.heard(terminal, b"TIMEOUT ms]"))
        finally:
            cli.kill()
            cli.wait(PATIENCE_S)
            os.close(other)
            os.close(terminal)

    def heard(self, terminal, end):
        text = b""
        while end not in text:
            self.assertTrue(select.select([terminal], [], [], PATIENCE_S)[0], text)
            text += os.read(terminal, 4096)
        return text.decode(errors="replace")

    def test_redis_benchmark(self):
        if shutil.which("redis-benchmark") is None:
            self.skipTest("redis-benchmark is not here: tools/setup test installs it")
        told = self.run_words("redis-benchmark", "-s", self.sockets[0], "-t", "ping_inline,ping_mbulk", "-n", "20000",
                              "-P", "500", "--csv")
        self.assertIn("PING_INLINE", told)
        self.assertIn("PING_MBULK", told)

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

    def test_npm_ioredis(self):
        if shutil.which("node") is None or shutil.which("npm") is None:
            self.skipTest("node and npm are not here: tools/setup test installs them")
        npm.install(os.path.join(HERE, "node"), NPM)
        found = json.loads(self.run_words("node", os.path.join(NPM, "ioredis.mjs"), *self.sockets[:2]))
        self.assertGreater(found["fence"], 0)
        self.assertEqual((found["name"], found["busy"], found["free"], found["reset"]), ("io", None, [], "RESET"))
        self.assertEqual(found["heard"], ["io", f"granted {found['fence']} n1"])
        self.assertEqual(found["pipeline"], [[None, 1], [None, 0], [None, "last"]])
        self.assertIn("EXECABORT", found["multi"])


if __name__ == "__main__":
    unittest.main()
