"""If a signal ends the command, or arrives while `baton run` waits, `baton run` ends by the same signal."""
import json
import os
import resource
import signal
import subprocess
import unittest

from baton import BATON
from cluster import until
from service import ServiceTest

# Signals that end a process. Some of them would leave a core dump.
ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGILL, signal.SIGABRT, signal.SIGFPE, signal.SIGKILL,
          signal.SIGSEGV, signal.SIGPIPE, signal.SIGALRM, signal.SIGTERM, signal.SIGUSR1, signal.SIGXCPU, signal.SIGRTMIN,
          signal.SIGRTMAX)


def allow_cores():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def may_make_namespaces():
    return subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True, check=False).returncode == 0


class Ends(ServiceTest):
    def wait_status(self, process):
        """Returns the wait status from the kernel, including the bit for a core dump."""
        _, status = os.waitpid(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return status

    def test_by_the_signal_that_ended_the_command(self):
        for words in (["run", "x"], ["elect", "x", "value", "--"]):
            for number in ENDING:
                with self.subTest(words=words, number=number):
                    read, write = os.pipe()
                    run = self.start(words[0], "--status-fd", str(write), *words[1:], "sh", "-c", f"kill -{int(number)} $$",
                                     pass_fds=[write], preexec_fn=allow_cores if os.getuid() == 0 else None)
                    os.close(write)
                    status = self.wait_status(run)
                    self.assertEqual(run.returncode, -number)
                    self.assertFalse(os.WCOREDUMP(status))
                    with open(read, encoding="utf-8") as file:
                        line = json.loads(file.read())
                    self.assertEqual((line["lost"], line["child"]), (False, 128 + number))
        self.assertEqual(self.run_baton("run", "-n", "x", "true")[0], 0)

    def test_without_a_core_while_it_waits(self):
        self.hold("x")
        for number in (signal.SIGQUIT, signal.SIGXCPU):
            with self.subTest(number=number):
                waiter = self.start("run", "x", "true", preexec_fn=allow_cores if os.getuid() == 0 else None)
                self.wait_for_waiters("x")
                waiter.send_signal(number)
                status = self.wait_status(waiter)
                self.assertEqual(waiter.returncode, -number)
                self.assertFalse(os.WCOREDUMP(status))
                until("it has withdrawn", lambda: not self.status("x")["locks"][0]["waiters"])

    def test_a_signal_that_it_was_told_to_ignore(self):
        """The command has restored the default action of the signal, so the signal ends both."""
        code, _, _ = self.run_baton("run", "x", "python3", "-c",
                                    "import os, signal; signal.signal(1, signal.SIG_DFL); os.kill(os.getpid(), 1)",
                                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(code, -signal.SIGHUP)

    def test_not_if_the_lock_was_lost(self):
        run = self.start("run", "x", "sh", "-c", "echo $$; exec sleep 1000")
        run.stdout.readline()
        fence = self.status("x")["locks"][0]["fence"]
        self.assertEqual(self.run_baton("break", "x", "--fence", str(fence))[0], 0)
        self.assertEqual(self.finish(run)[0], 76)

    @unittest.skipUnless(may_make_namespaces(), "may not make namespaces")
    def test_process_1_exits_with_its_number(self):
        """Process 1 cannot end by a signal. unshare would end by the signal that ended its child."""
        def start(*words):
            process = subprocess.Popen(["unshare", "--pid", "--fork", BATON, "run", *words], env=self.environment, cwd=self.folder,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.addCleanup(self.end, process)
            return process

        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGSEGV):
            with self.subTest(number=number):
                self.assertEqual(self.finish(start("x", "sh", "-c", f"kill -{int(number)} $$"))[0], 128 + number)
        self.hold("x")
        waiter = start("x", "true")
        self.wait_for_waiters("x")
        with open(f"/proc/{waiter.pid}/task/{waiter.pid}/children", encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGTERM)
        self.assertEqual(self.finish(waiter)[0], 128 + signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
