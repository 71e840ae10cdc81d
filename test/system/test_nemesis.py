"""Does random faults on real processes for a short time; tools/nemesis does it for longer. Also tests that the recorder sees what
it should."""
import os
import signal
import tempfile
import threading
import unittest

import history
from cluster import SANITIZED, Cluster, until
from nemesis import Nemesis
from recorder import Recorder, send

SECONDS = 15


class Faults(unittest.TestCase):
    def test_nobody_comes_in_too_early_and_everybody_is_served_after_healing(self):
        lease_ms = 3000 if SANITIZED else 1000
        nemesis = Nemesis(nodes=3, clients=12, locks=4, lease_ms=lease_ms, seed=os.getpid())
        self.addCleanup(nemesis.close)
        verdict = nemesis.run(SECONDS)
        logs = "".join(f"--- {node.name}\n{node.log()}" for node in nemesis.nodes if os.path.exists(node.log_path))
        said = f"seed {nemesis.seed}: {history.report(verdict)}\n{nemesis.failures}\n{logs}"
        self.assertEqual((verdict.problems, nemesis.failures), ([], []), said)
        self.assertGreater(verdict.grants, 20, said)
        self.assertGreater(sum(verdict.faults.values()), 3000 / lease_ms, said) # faults last as long as leases
        self.assertNotIn("Sanitizer", logs)


class Recording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="baton-test-")
        self.addCleanup(folder.cleanup)
        self.recorder = Recorder(folder.name)
        self.cluster = self.enterContext(Cluster(3, "--lease", "1s"))

    def begin(self, *words):
        """Begins an attempt in a thread of its own, and returns when it is inside."""
        holder = threading.Thread(target=self.recorder.attempt, args=words)
        holder.start()
        attempt = until("somebody is inside", self.recorder.holders)[0]
        # The insider writes a little later that it was granted the lock.
        until("that is written", lambda: any(event["ev"] == "granted" for event in history.read(self.recorder.path)))
        return holder, attempt

    def test_a_hold_from_its_question_to_its_end(self):
        self.assertEqual(self.recorder.attempt("a", 0, self.cluster[0], 20, "c"), 0)
        self.assertEqual(self.recorder.attempt("b", 0, self.cluster[1], 20), 0)
        self.assertEqual(self.recorder.finish(), [])
        events = history.read(self.recorder.path)
        self.assertEqual([event["ev"] for event in events if event.get("hold") == 1],
                         ["asked", "granted", "write", "valid", "released", "gone", "answered"])
        verdict = history.judge(events)
        self.assertEqual(verdict.problems, [])
        self.assertGreater(verdict.holds[1].gone - verdict.holds[1].granted, 20_000_000)
        self.assertGreater(min(verdict.gaps_ns), 0)

    def test_the_end_of_a_killed_command_is_known(self):
        holder, attempt = self.begin("a", 0, self.cluster[0], 60_000, "ct")
        send(attempt.keepers()[0], signal.SIGKILL)
        holder.join()
        self.assertEqual(self.recorder.attempt("b", 0, self.cluster[1], 1), 0)
        self.assertEqual(self.recorder.finish(), [])
        verdict = history.judge(history.read(self.recorder.path))
        self.assertEqual(verdict.problems, [])
        self.assertLess(verdict.holds[1].gone, verdict.holds[2].granted)

    def test_a_command_that_nobody_can_stop_is_seen_and_refused_by_the_register(self):
        holder, attempt = self.begin("a", 0, self.cluster[0], 60_000)
        run, guardian, command = attempt.keepers()
        self.recorder.note("unguarded", hold=attempt.hold, why="all three stopped")
        for pid in (run, guardian, self.cluster[0].process.pid):
            os.kill(pid, signal.SIGSTOP)
        self.assertEqual(self.recorder.attempt("b", 0, self.cluster[1], 50), 0)
        self.assertIsNotNone(command)
        for pid in (self.cluster[0].process.pid, guardian, run):
            send(pid, signal.SIGCONT)
        holder.join()
        self.assertEqual(self.recorder.finish(), [])
        events = history.read(self.recorder.path)
        self.assertEqual(history.judge(events).problems, [])
        # Without that note, the checker must find the fault: by the times, by the kernel's report and by the register.
        verdict = history.judge([event for event in events if event["ev"] != "unguarded"])
        self.assertEqual(sorted(verdict.rules()), ["overlap", "overlap", "overtaken"], verdict.problems)


if __name__ == "__main__":
    unittest.main()
