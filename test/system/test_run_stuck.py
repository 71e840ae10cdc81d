"""A guardian is stopped (SIGSTOP, a debugger), or a command has changed its user, so that SIGTERM and SIGKILL fail with EPERM, or the
command's processes are not in /proc. Nobody else is let in while the command lives."""
import ctypes
import itertools
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import time
import unittest

from baton import BATON
from cluster import SANITIZED, Cluster, free_port, until
from fake_node import FakeNode
from resp import Client
from running import PATIENCE
from service import ServiceTest, is_alive, stat_of

NOBODY = 65534
# Becomes root for good, prints its pid, and lives until a file of that name exists.
BECOMES_ROOT = """
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc != 2 || setresgid(0, 0, 0) != 0 || setresuid(0, 0, 0) != 0)
		return 99;
	printf("%d\\n", (int)getpid());
	fflush(stdout);
	while (access(argv[1], F_OK) != 0)
		usleep(1000);
	return 0;
}
"""
STUBBORN = "trap '' TERM; echo $$; while :; do sleep 0.01; done"


class StuckTest(ServiceTest):
    def break_it(self, lock="x"):
        fence = self.status(lock)["locks"][0]["fence"]
        with Client(self.node.socket) as client:
            self.assertEqual(client.call("BREAK", lock, fence), 1)

    def heir(self, command):
        """Returns the client that is let in next, and whether the command was still alive then."""
        heir = self.start("run", "x", "sh", "-c", f"kill -0 {command} 2>/dev/null && echo both || echo alone")
        self.wait_for_waiters("x")
        return heir


class StoppedGuardian(StuckTest):
    lease = "5s"  # `baton run` has a tenth of it beyond the grace, on a busy machine too

    def begin(self, script, *words):
        """Returns (baton run, its guardian, its command)."""
        read, write = os.pipe()
        run = self.start("run", "--status-fd", str(write), *words, "x", "sh", "-c", script, pass_fds=[write])
        os.close(write)
        run.status = open(read, encoding="utf-8")
        self.addCleanup(run.status.close)
        command = int(run.stdout.readline())
        return run, stat_of(command)[1], command

    def stop(self, guardian):
        os.kill(guardian, signal.SIGSTOP)
        until("the guardian is stopped", lambda: stat_of(guardian)[0] == "T")

    def check_end(self, run, child):
        code, _, err = self.finish(run)
        self.assertEqual(code, 76, err)
        self.assertIn("does not answer", err)
        line = json.loads(run.status.read())
        self.assertEqual((line["lost"], line["child"]), (True, child))

    def test_the_command_is_gone_before_the_next_one_is_in(self):
        for script, child in [(STUBBORN, 137), ("trap 'exit 4' TERM; echo $$; while :; do sleep 0.01; done", 4),
                              ("echo $$; setsid sh -c \"trap '' TERM; sleep 1000\" & wait", 143)]:
            for words in ([], ["--grace", "0"], ["--grace", "700ms"]):
                with self.subTest(script=script, words=words):
                    run, guardian, command = self.begin(script, *words)
                    heir = self.heir(command)
                    self.stop(guardian)
                    self.break_it()
                    self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
                    # With a grace of 0, even a command that obeys SIGTERM is killed, or has just ended.
                    code, _, err = self.finish(run)
                    self.assertEqual(code, 76, err)
                    self.assertIn("does not answer", err)
                    line = json.loads(run.status.read())
                    self.assertTrue(line["lost"])
                    self.assertIn(line["child"], (child, 137) if words == ["--grace", "0"] else (child,))
                    self.assertEqual(self.commands("x"), [])
                    self.assertIsNone(stat_of(guardian))

    def test_it_is_stopped_when_it_has_told_the_command(self):
        run, guardian, command = self.begin("trap 'echo term' TERM; echo $$; while :; do sleep 0.01; done", "--grace", "700ms")
        heir = self.heir(command)
        self.break_it()
        self.assertEqual(run.stdout.readline(), "term\n")
        self.stop(guardian)
        self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
        self.check_end(run, 137)

    def test_it_is_stopped_just_before_it_kills(self):
        """`baton run` asked the guardian a moment ago, and would ask again only when it is too late. To arrange this, `baton run`
        is stopped for a while: it asks next when it continues."""
        grace = 1.75  # the longest grace that the lease allows
        run, guardian, command = self.begin("trap 'echo term' TERM; echo $$; while :; do sleep 0.01; done", "--grace", "1750ms")
        heir = self.heir(command)
        self.break_it()
        self.assertEqual(run.stdout.readline(), "term\n")
        told = time.monotonic()
        for pid, number, at in [(run.pid, signal.SIGSTOP, 0.1), (run.pid, signal.SIGCONT, 0.43), (guardian, signal.SIGSTOP, 0.95)]:
            select.select([], [], [], max(0, told + at * grace - time.monotonic()))
            os.kill(pid, number)
        self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
        self.check_end(run, 137)

    def test_both_are_stopped_while_the_lock_is_broken(self):
        """The grace counts from when the node told them, not from when they read it."""
        run, guardian, command = self.begin(STUBBORN) # the grace is 1.25 s, and the node waits for 1.75 s
        heir = self.heir(command)
        self.stop(guardian)
        self.stop(run.pid)
        self.break_it()
        select.select([], [], [], 1.1)
        os.kill(guardian, signal.SIGCONT)
        os.kill(run.pid, signal.SIGCONT)
        self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
        self.assertEqual(self.finish(run)[0], 76)

    def test_its_command_ends_while_baton_run_is_stopped(self):
        """`baton run` learns only after its command has ended that the command was stopped. So it must not stop itself any more."""
        run = self.start("run", "x", "sh", "-c", "echo $$; read line", stdin=subprocess.PIPE)
        command = int(run.stdout.readline())
        guardian = stat_of(command)[1]
        for pid in (run.pid, command):
            os.kill(pid, signal.SIGSTOP)
            until("it is stopped", lambda pid=pid: stat_of(pid)[0] == "T")
        until("the guardian has told it", lambda: stat_of(guardian)[0] == "S")
        os.kill(command, signal.SIGCONT)
        run.stdin.write("line\n")
        run.stdin.flush()
        until("the guardian has ended", lambda: stat_of(guardian) is None or stat_of(guardian)[0] == "Z")
        os.kill(run.pid, signal.SIGCONT)
        self.assertEqual(run.wait(PATIENCE), 0)

    def test_a_debugger_keeps_it(self):
        """The guardian can be killed, but not reaped: its debugger, which is this process, is told
        of its end first."""
        attach, all_kinds = 16, 0x40000000 # PTRACE_ATTACH, __WALL
        run, _, descendant = self.begin("setsid sh -c \"trap '' TERM; echo \\$\\$; exec sleep 1000\" & wait")
        guardian = stat_of(stat_of(descendant)[1])[1]
        self.assertEqual(stat_of(guardian)[1], run.pid)
        heir = self.heir(descendant)
        if ctypes.CDLL(None, use_errno=True).ptrace(attach, guardian, 0, 0) != 0:
            self.skipTest("no debugger may attach here")
        os.waitpid(guardian, all_kinds)
        self.break_it()
        self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
        self.check_end(run, 143)
        self.assertEqual(stat_of(guardian)[0], "Z")
        os.waitpid(guardian, all_kinds)

    def test_a_debugger_keeps_the_command(self):
        """The command has ended, but its debugger, which is this process, has not taken notice.
        `baton run` does not wait for that."""
        attach, all_kinds = 16, 0x40000000 # PTRACE_ATTACH, __WALL
        for spared in ("", "sleep 1000 & "):
            with self.subTest(spared=spared):
                run = subprocess.Popen(["sh", "-c", f"{spared}exec {BATON} run x sh -c 'echo $$; exec sleep 1000'"],
                                       env=self.environment, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                self.addCleanup(self.end, run)
                command = int(run.stdout.readline())
                if ctypes.CDLL(None, use_errno=True).ptrace(attach, command, 0, 0) != 0:
                    self.skipTest("no debugger may attach here")
                os.waitpid(command, all_kinds)
                if spared: # `baton run` has children that it must not kill, and does the guardian's work
                    os.kill(stat_of(command)[1], signal.SIGKILL)
                else:
                    self.break_it()
                self.assertEqual(run.wait(PATIENCE), -signal.SIGKILL if spared else 76)
                self.assertEqual(stat_of(command)[0], "Z")
                os.waitpid(command, all_kinds)

    def test_the_node_is_killed(self):
        run, guardian, command = self.begin(STUBBORN)
        self.stop(guardian)
        self.node.stop(signal.SIGKILL)
        self.node.start()
        script = f"kill -0 {command} 2>/dev/null && echo both || echo alone"
        self.assertEqual(self.run_baton("run", "x", "sh", "-c", script)[:2], (0, "alone\n"))
        self.check_end(run, 137)

    def test_nothing_happens_while_the_lock_is_held(self):
        run, guardian, command = self.begin("echo $$; exec sleep 1000")
        self.stop(guardian)
        self.assertEqual(self.run_baton("run", "-w", "1s", "x", "true")[0], 75)
        self.assertTrue(is_alive(command))
        os.kill(guardian, signal.SIGCONT)
        os.kill(command, signal.SIGUSR1)
        self.assertEqual(run.wait(PATIENCE), -signal.SIGUSR1)

    def test_all_three_are_stopped_and_go_on_in_any_order(self):
        """`baton run` stops itself when its command is stopped, and continues with it, in whatever order the processes notice."""
        def state(pid):
            return stat_of(pid)[0]

        orders = list(itertools.permutations(range(3)))
        for stops, goes in itertools.product(orders, orders):
            with self.subTest(stops=stops, goes=goes):
                run = self.start("run", "x", "sh", "-c", "echo $$; read line", stdin=subprocess.PIPE)
                command = int(run.stdout.readline())
                pids = [run.pid, stat_of(command)[1], command]
                for index in stops:
                    os.kill(pids[index], signal.SIGSTOP)
                    until("it is stopped", lambda pid=pids[index]: state(pid) == "T")
                for index in goes:
                    os.kill(pids[index], signal.SIGCONT)
                    # Each process does its work before the next one continues, or at the same time.
                    until("it has read", lambda pid=pids[index]: state(pid) in "ST")
                until(lambda pids=pids: f"all run: {[state(pid) for pid in pids]}",
                      lambda pids=pids: "T" not in [state(pid) for pid in pids], 10)
                self.assertEqual(self.finish(run, "line\n")[0], 0)

    def test_news_that_is_no_loss(self):
        """`baton run` reads the news instead of the guardian, and changes nothing. It looks after a quarter of the grace, at most
        a second. The rest is for the command to end by SIGTERM, on a busy machine too."""
        with FakeNode(self.path("fake"), {"LOCK": b":7\r\n"}, lease_ms=20000) as fake:
            run, guardian, command = self.begin("echo $$; exec sleep 1000", "-S", fake.path, "--grace", "5s")
            self.stop(guardian)
            fake.publish("x", "leader 7 fake value")
            until("somebody has read it", lambda: fake.unread() == 0)
            fake.publish("x", "granted 8 other")
            until("somebody has read it", lambda: fake.unread() == 0)
            self.assertTrue(is_alive(command))
            self.assertEqual(stat_of(guardian)[0], "T")
            self.assertIsNone(run.poll())
            fake.publish("x", "lost 7 fake")
            self.check_end(run, 143)

    def test_it_goes_on_after_the_command_has_obeyed(self):
        """`baton run` has read of the loss, so the guardian cannot. Still the guardian must not
        believe that the command ended by itself."""
        run, guardian, command = self.begin("exec 9>inside; flock -n 9; setsid sh -c \"trap '' TERM; exec sleep 1000\" & echo $$; wait")
        heir = self.start("run", "x", "sh", "-c", "exec 9<inside; flock -sn 9 && echo alone || echo both")
        self.wait_for_waiters("x")
        self.stop(guardian)
        self.break_it()
        until("the command has ended", lambda: not is_alive(command))
        os.kill(guardian, signal.SIGCONT)
        self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertEqual(run.status.read().count("\n"), 1)

    def test_it_goes_on_and_baton_run_is_stopped(self):
        """The guardian and `baton run` are stopped one after the other, never both at once."""
        run, guardian, command = self.begin("trap 'echo term' TERM; echo $$; while :; do sleep 0.01; done")
        heir = self.heir(command)
        self.stop(guardian)
        self.break_it()
        self.assertEqual(run.stdout.readline(), "term\n")
        self.stop(run.pid)
        os.kill(guardian, signal.SIGCONT)
        self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
        os.kill(run.pid, signal.SIGCONT)
        self.assertEqual(run.wait(PATIENCE), 76)

    def test_it_goes_on_meanwhile(self):
        """The guardian and `baton run` both know of the loss, and it is reported once."""
        run, guardian, command = self.begin(STUBBORN, "--grace", "700ms")
        heir = self.heir(command)
        self.stop(guardian)
        self.break_it()
        os.kill(guardian, signal.SIGCONT)
        self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertEqual(run.status.read().count("\n"), 1)


@unittest.skipUnless(os.getuid() == 0, "only root can make a program that becomes root")
class ForeignCommandTest(StuckTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o777)
        os.chmod(self.node.socket, 0o666)
        with open(self.path("helper.c"), "w", encoding="utf-8") as file:
            file.write(BECOMES_ROOT)
        subprocess.run(["cc", "-o", self.path("helper"), self.path("helper.c")], check=True)
        os.chmod(self.path("helper"), 0o4755)
        # Other users may not be able to read baton's folder.
        shutil.copy(BATON, self.path("baton"))

    def begin(self, *command):
        """Returns (baton run as nobody, the process that belongs to root)."""
        run = subprocess.Popen(["setpriv", f"--reuid={NOBODY}", "--clear-groups", self.path("baton"), "run", "x", *command],
                               env={**self.environment, "ASAN_OPTIONS": "detect_leaks=0"}, cwd=self.folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, run)
        root = int(run.stdout.readline())
        until("it is root", lambda: os.stat(f"/proc/{root}").st_uid == 0)
        return run, root

    def node_says(self, text):
        until(f"the node says {text}", lambda: text in self.node.log())

    def let_it_end(self):
        with open(self.path("end"), "w", encoding="utf-8"):
            pass

    def is_kept(self, holder):
        """Checks that the lock is still held after longer than any grace and margin."""
        self.assertEqual(self.run_baton("run", "-w", "2s", "x", "true")[0], 75)
        self.assertEqual(self.status("x")["locks"][0]["holder"]["pid"], holder)

    def check_words(self, err, root, signals="SIGTERM"):
        self.assertRegex(err, rf"process {root} cannot be \w+: ({signals}) fails with EPERM \(Operation not permitted\)")
        for claim in ("gets SIGTERM", "SIGKILL after", "was killed", "is killed"):
            self.assertNotIn(claim, err)


class ForeignCommand(ForeignCommandTest):
    lease = "3s"  # a quarter of the lease must be enough, on a busy machine too, to notice EPERM before SIGKILL is due

    def test_broken(self):
        for command in (["./helper", "end"], ["sh", "-c", "./helper end; true"], ["sh", "-c", "setsid ./helper end & wait"]):
            with self.subTest(command=command):
                run, root = self.begin(*command)
                heir = self.heir(root)
                self.break_it()
                self.node_says("cannot stop what it runs")
                self.is_kept(run.pid)
                self.assertTrue(is_alive(root))
                self.assertIsNone(run.poll())
                self.let_it_end()
                self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
                code, _, err = self.finish(run)
                self.assertEqual(code, 76)
                self.check_words(err, root)
                self.assertIn("'x' was lost (fence", err)
                self.assertIn("nobody is let in before it has ended", err)
                os.unlink(self.path("end"))

    def test_baton_run_is_killed(self):
        run, root = self.begin("./helper", "end")
        run.kill()
        heir = self.heir(root)
        self.is_kept(run.pid)
        self.break_it()
        self.is_kept(run.pid)
        self.assertTrue(is_alive(root))
        self.let_it_end()
        self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
        self.check_words(self.finish(run)[2], root, "SIGTERM|SIGKILL")

    def test_the_guardian_is_killed(self):
        run, root = self.begin("./helper", "end")
        os.kill(stat_of(root)[1], signal.SIGKILL)
        heir = self.heir(root)
        self.is_kept(run.pid)
        self.break_it()
        self.is_kept(run.pid)
        self.assertTrue(is_alive(root))
        self.let_it_end()
        self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
        code, _, err = self.finish(run)
        self.assertEqual(code, 76)
        self.assertRegex(err, rf"process {root} cannot be stopped: SIGKILL fails with EPERM")

    def test_the_guardian_is_stopped(self):
        run, root = self.begin("./helper", "end")
        os.kill(stat_of(root)[1], signal.SIGSTOP)
        heir = self.heir(root)
        self.break_it()
        self.is_kept(run.pid)
        self.assertTrue(is_alive(root))
        self.let_it_end()
        self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
        code, _, err = self.finish(run)
        self.assertEqual(code, 76)
        self.check_words(err, root)

    def test_a_signal_that_cannot_be_forwarded(self):
        run, root = self.begin("./helper", "end")
        run.terminate()
        self.assertTrue(select.select([run.stderr], [], [], PATIENCE)[0], "nothing is said of it")
        self.assertIn(f"SIGTERM cannot be forwarded to process {root}: EPERM", run.stderr.readline())
        self.let_it_end()
        self.assertEqual(run.wait(PATIENCE), 0)

    def test_it_ends_by_itself(self):
        run, _ = self.begin("./helper", "end")
        self.let_it_end()
        self.assertEqual(self.finish(run), (0, "", ""))


class ForeignCommandForLong(ForeignCommandTest):
    lease = "5s"

    def test_baton_run_is_killed_when_the_guardian_has_tried(self):
        run, root = self.begin("./helper", "end")
        guardian = stat_of(root)[1]
        heir = self.heir(root)
        self.break_it()
        self.node_says("cannot stop what it runs")
        self.is_kept(run.pid)
        self.assertTrue(is_alive(guardian))
        run.kill()
        self.is_kept(run.pid)
        self.assertTrue(is_alive(root))
        self.let_it_end()
        self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
        self.check_words(self.finish(run)[2], root)


class Unseen(StuckTest):
    """The descendants of the command are not in /proc. One of them has a session of its own, and holds a file lock."""
    lease = "5s"
    script = "setsid flock mutex sh -c \"trap '' TERM; echo inside; sleep 1000; :\" & wait"

    def check(self, *prefix, limit=None, numbers_from=None):
        if numbers_from is not None:
            with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as file:
                file.write(str(numbers_from))
        run = subprocess.Popen([*prefix, BATON, "run", "x", "sh", "-c", self.script], env=self.environment, cwd=self.folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, run)
        self.assertEqual(run.stdout.readline(), "inside\n")
        heir = self.start("run", "x", "sh", "-c", "flock -n mutex echo alone || echo both")
        self.wait_for_waiters("x")
        if limit is not None:
            with open(f"/proc/{run.pid}/task/{run.pid}/children", encoding="ascii") as file:
                guardian = int(file.read())
            for pid in (run.pid, guardian):
                resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, limit))
                os.kill(pid, signal.SIGSTOP) # it must call poll again
                until("it is stopped", lambda pid=pid: stat_of(pid)[0] == "T")
                os.kill(pid, signal.SIGCONT)
                until("it sleeps", lambda pid=pid: stat_of(pid)[0] == "S")
        self.break_it()
        self.assertEqual(self.finish(heir)[:2], (0, "alone\n"))
        self.assertEqual(self.finish(run)[0], 76)

    def check_namespace(self, *words):
        if SANITIZED:
            self.skipTest("a sanitizer reads /proc itself, and ends the program without it")
        if subprocess.run([*words, "true"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("namespaces cannot be made here")

    def in_namespace(self, *words):
        self.check_namespace(*words)
        self.check(*words)

    def test_no_descriptors_are_left(self):
        """poll refuses to wait for more descriptors than may be open."""
        # At the end a sanitizer looks for leaks, and needs descriptors for that.
        for limit in (6,) if SANITIZED else (6, 3, 1, 0):
            with self.subTest(limit=limit):
                self.check(limit=limit)

    @unittest.skipIf(SANITIZED, "at the end a sanitizer looks for leaks, and needs descriptors for that")
    @unittest.skipUnless(os.access("/proc/sys/kernel/ns_last_pid", os.W_OK), "only root chooses numbers of processes")
    def test_no_descriptors_are_left_and_numbers_begin_again(self):
        """Children are found by trying all numbers up to the limit, which cannot be read any more."""
        with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
            limit = int(file.read())
        self.check(limit=3, numbers_from=limit - 8)

    def test_proc_is_of_another_namespace(self):
        # Process 1 of the namespace is a shell: if it were `baton run`, everything would end with
        # it. The pids differ from all others, so that a wrong one is not right by chance.
        script = 'echo 20000 > /proc/sys/kernel/ns_last_pid; "$@"; exit $?'
        self.in_namespace("unshare", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh")

    without_proc = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")

    def test_there_is_no_proc(self):
        self.in_namespace(*self.without_proc)

    def test_there_is_no_proc_and_the_command_is_killed_while_run_is_stopped(self):
        """Nobody can tell that `baton run` is only stopped. Still the lock is free before it is continued."""
        self.check_namespace(*self.without_proc)
        run = subprocess.Popen([*self.without_proc, BATON, "run", "x", "sh", "-c", "echo $$; exec sleep 1000"], env=self.environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, run)
        command = int(run.stdout.readline())
        heir = self.start("run", "x", "true")
        self.wait_for_waiters("x")
        os.kill(run.pid, signal.SIGSTOP)
        until("it is stopped", lambda: stat_of(run.pid)[0] == "T")
        os.kill(command, signal.SIGKILL)
        self.assertEqual(heir.wait(PATIENCE), 0)
        os.kill(run.pid, signal.SIGCONT)
        self.assertEqual(run.wait(PATIENCE), -signal.SIGKILL)


class SilentNode(ServiceTest):
    def test_an_answer_about_the_lease_comes_and_none_to_the_unlock(self):
        """A node may be stopped between the two. Its lease decides when the lock is free, so `baton run` need not wait."""
        left = b"*2\r\n:0\r\n:60000\r\n"
        asked = iter([left])

        def lease():
            """Answers the first question, and the second one together with the UNLOCK."""
            if (answer := next(asked, None)) is not None:
                return answer
            with open(self.path("asked"), "w", encoding="ascii"):
                return b""

        address = ("127.0.0.1", free_port())
        answers = {"CLIENT LEASES": b"*2\r\n:1\r\n:600\r\n", "LEASE": lease, "LOCK": b"*3\r\n:7\r\n:0\r\n:60000\r\n", "UNLOCK": left}
        with FakeNode(address, answers, lease_ms=600):
            words = ["-S", "%s:%d" % address, "x", "sh", "-c", "until test -e asked; do sleep 0.01; done"]
            self.assertEqual(self.run_baton("run", *words)[0], 0)


class Stay(unittest.TestCase):
    """Tests CLIENT STAY, as the node implements it."""

    def test_what_is_lost_stays_until_the_connection_ends(self):
        for early in (True, False):
            with self.subTest(early=early), Cluster(1) as cluster:
                holder, waiter, operator = (cluster[0].client() for _ in range(3))
                self.assertEqual(holder.call("CLIENT", "GRACE", 300), "OK")
                fence = holder.call("LOCK", "x")
                if early:
                    self.assertEqual(holder.call("CLIENT", "STAY"), "OK")
                waiter.send("LOCK", "x")
                self.assertEqual(operator.call("BREAK", "x", fence), 1)
                if not early:
                    self.assertEqual(holder.call("CLIENT", "STAY"), "OK")
                self.assertEqual(holder.call("CLIENT", "STAY"), "OK")
                self.assertTrue(waiter.quiet(1.5))
                self.assertEqual(holder.call("PING"), "PONG")
                self.assertEqual(json.loads(operator.call("STATUS"))["locks"][0]["fence"], fence)
                holder.close()
                self.assertGreater(waiter.read(), fence)
                waiter.close()
                operator.close()

    def test_it_counts_although_the_node_was_stopped_until_the_time_was_over(self):
        """What came meanwhile is read before the lock is taken."""
        with Cluster(1, "--lease", "1s") as cluster:
            holder, waiter, operator = (cluster[0].client() for _ in range(3))
            self.assertEqual(holder.call("CLIENT", "GRACE", 300), "OK")
            fence = holder.call("LOCK", "x")
            waiter.send("LOCK", "x")
            self.assertEqual(operator.call("BREAK", "x", fence), 1)
            cluster[0].signal(signal.SIGSTOP)
            holder.send("CLIENT", "STAY")
            time.sleep(0.6) # the grace and the margin are 0.4 s
            cluster[0].signal(signal.SIGCONT)
            self.assertEqual(holder.read(), "OK")
            self.assertTrue(waiter.quiet(0.5))
            holder.close()
            self.assertGreater(waiter.read(), fence)
            waiter.close()
            operator.close()

    def test_it_is_shown_who_cannot_stop(self):
        with Cluster(2) as cluster, cluster[0].client() as holder, cluster[1].client() as operator:
            fence = holder.call("LOCK", "x")
            self.assertEqual(holder.call("CLIENT", "STAY"), "OK")
            cluster[0].says("End the client, or the processes that it runs: ")
            self.assertRegex(cluster[0].log(), rf"processes that it runs: .*\bpid {os.getpid()}, ")
            self.assertEqual(operator.call("BREAK", "x", fence), 1)
            shown = cluster[1].status("x")["locks"][0]["holder"]
            self.assertEqual((shown["pid"], shown["losing"]), (os.getpid(), True))
            self.assertRegex(shown["command"], "^cannot stop: .*python")

    def test_it_is_for_holders_only(self):
        """If every client could use CLIENT STAY, anybody could keep a node from ending, and fill
        its log."""
        with Cluster(1) as cluster, cluster[0].client() as client:
            refusal = "ERR CLIENT STAY is for a session that holds a lock or is losing one, and this one has none"
            self.assertEqual(client.call("CLIENT", "STAY"), refusal)
            client.call("LOCK", "x")
            client.call("UNLOCK", "x")
            self.assertEqual(client.call("CLIENT", "STAY"), refusal)
            begun = time.monotonic()
            for _ in range(50):
                with cluster[0].client() as other:
                    other.call("LOCK", "x")
                    self.assertEqual(other.call("CLIENT", "STAY"), "OK")
            lines = cluster[0].log().count("cannot stop what it runs")
            self.assertTrue(1 <= lines <= 2 + time.monotonic() - begun, lines) # one line a second

    def test_a_node_that_leaves_does_not_hand_it_on(self):
        with Cluster(2, "--lease", "1s") as cluster:
            holder, waiter = cluster[0].client(), cluster[1].client()
            self.assertEqual(holder.call("CLIENT", "GRACE", 300), "OK")
            fence = holder.call("LOCK", "x")
            self.assertEqual(holder.call("CLIENT", "STAY"), "OK")
            waiter.send("LOCK", "x")
            until("n2 waits", lambda: cluster[0].status()["locks"][0]["waiters"])
            cluster[0].signal(signal.SIGTERM)
            cluster[0].says("this node ends, but a client cannot stop what it runs")
            self.assertRegex(cluster[0].log(), rf"even if its processes still run: .*\bpid {os.getpid()}, ")
            self.assertEqual(cluster[0].wait(), 0)
            self.assertTrue(holder.closed())
            self.assertTrue(waiter.quiet(0.5))
            self.assertGreater(fence, 0)
            os.unlink(cluster[0].socket) # this tells the next node that it has to wait
            holder.close()
            waiter.close()

    def test_a_node_that_leaves_waits_for_it(self):
        with Cluster(1) as cluster, cluster[0].client() as holder:
            holder.call("LOCK", "x")
            self.assertEqual(holder.call("CLIENT", "STAY"), "OK")
            cluster[0].signal(signal.SIGTERM)
            cluster[0].says("leaving")
            self.assertEqual(holder.call("PING"), "PONG")
            holder.close()
            self.assertEqual(cluster[0].wait(), 0)

    def test_one_that_ends_in_the_turn_in_which_the_node_looks_has_stopped(self):
        """In one turn the node hears of the end and looks which clients are left. The next node need not wait for that client."""
        with Cluster(1) as cluster, cluster[0].client() as holder:
            holder.call("LOCK", "x")
            self.assertEqual(holder.call("CLIENT", "STAY"), "OK")
            cluster[0].signal(signal.SIGTERM)
            cluster[0].says("leaving")
            self.assertEqual(holder.call("PING"), "PONG")
            cluster[0].signal(signal.SIGSTOP)
            holder.close()
            time.sleep(0.1) # many times as long as the node sleeps between two checks
            cluster[0].signal(signal.SIGCONT)
            self.assertEqual(cluster[0].wait(), 0)
            self.assertFalse(os.path.exists(cluster[0].socket))

    def test_after_one_that_did_not_wait_the_next_one_does(self):
        with Cluster(1, "--lease", "1s") as cluster, cluster[0].client() as holder:
            fence = holder.call("LOCK", "x")
            self.assertEqual(holder.call("CLIENT", "STAY"), "OK")
            cluster[0].signal(signal.SIGTERM)
            self.assertEqual(cluster[0].wait(), 0)
            begun = time.monotonic()
            cluster[0].start()
            until("it serves", lambda: os.path.exists(cluster[0].socket) and cluster[0].serves())
            self.assertGreaterEqual(time.monotonic() - begun, 0.9)
            with cluster[0].client() as other:
                self.assertGreater(other.call("LOCK", "x"), fence)

    def test_words(self):
        with Cluster(1) as cluster, cluster[0].client() as client:
            self.assertIn("STAY", client.call("CLIENT", "STAY", "here"))


if __name__ == "__main__":
    unittest.main()
