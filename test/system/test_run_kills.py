"""`baton run` killed with -9, again and again, several at once: the next holder finds no process of the last one.

    test_run_kills.py [--kills 300]

Every command, and every descendant of it, keeps the file `inside` locked (flock) as long as it lives.
"""
import os
import random
import subprocess
import sys
import threading
import unittest

from baton import BATON
from cluster import until
from running import PATIENCE
from service import ServiceTest

KILLS = 30
CROWD = 3  # how many clients want the lock at a time

# The processes that the commands leave for the guardian to kill.
FAMILIES = [
    "sleep 1000",
    "sleep 1000 & wait",
    "(sh -c 'sleep 1000 & sleep 1000' & sleep 1000) & wait",
    "setsid sh -c 'sleep 1000 & wait' & wait",
    "(setsid sleep 1000 &) & sleep 1000",
    "sh -c 'kill -STOP $$' & sleep 1000",
    "trap '' TERM INT HUP; while :; do (sleep 0.001 & sleep 0.001); done",
    "sh -c 'while :; do setsid sh -c \"sleep 0.002 & sleep 0.002\"; done' & sleep 1000",
    "(trap '' HUP; setsid sh -c 'while :; do :; done' &); sleep 1000",
]
COMMAND = "exec 9>inside; if flock -n 9; then echo $BATON_FENCE >> fences; else echo $BATON_FENCE >> violations; fi; touch {}; {}"


class Kills(ServiceTest):
    def setUp(self):
        super().setUp()
        self.left = KILLS
        self.lock = threading.Lock()

    def take_one(self):
        with self.lock:
            self.left -= 1
            return self.left + 1

    def kill_many(self, seed):
        chance = random.Random(seed)
        while (number := self.take_one()) > 0:
            family = chance.choice(FAMILIES)
            inside = f"inside{number}"
            run = subprocess.Popen([BATON, "run", "x", "sh", "-c", COMMAND.format(inside, family)], env=self.environment,
                                   cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
            # Most are killed while inside, some before that, some just as they enter.
            if chance.random() < 0.8:
                until(f"{number} is inside", lambda: os.path.exists(self.path(inside)))
            if chance.random() < 0.5:
                threading.Event().wait(chance.random() / 100)
            run.kill()
            run.wait(PATIENCE)

    def test_never_two_inside(self):
        crowd = [threading.Thread(target=self.kill_many, args=(seed,)) for seed in range(CROWD)]
        for thread in crowd:
            thread.start()
        for thread in crowd:
            thread.join()
        self.assertEqual(self.left, -CROWD, "a killer has ended before its time")
        # When one more client gets in, everything is over.
        self.assertEqual(self.run_baton("run", "-w", "1m", "x", "sh", "-c", "exec 9>inside; flock -n 9")[0], 0)
        until("nobody is left", lambda: not self.commands("x"))
        self.assertFalse(os.path.exists(self.path("violations")))
        with open(self.path("fences"), encoding="utf-8") as file:
            fences = [int(line) for line in file]
        self.assertEqual(fences, sorted(set(fences)))
        self.assertGreaterEqual(len(fences), KILLS // 2)


if __name__ == "__main__":
    if "--kills" in sys.argv:
        at = sys.argv.index("--kills")
        KILLS = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main()
