"""`baton run` with commands that are hard to kill (hostile.c): the next holder finds nothing of them, and strangers live on."""
import ctypes
import os
import resource
import select
import signal
import subprocess
import time
import unittest

from baton import BATON
from cluster import SANITIZED, until
from resp import Client
from running import PATIENCE
from service import ServiceTest, is_alive, stat_of

HOSTILE = os.path.join(os.environ.get("BUILD", os.path.dirname(BATON)), "test", "hostile")
KINDS = ("apart", "avenger", "bomb 300", "borrower", "chain 100000", "deaf", "debugger", "leaderless", "liars", "stopped", "twins", "wide 500")
# Every process of the command keeps the file `inside` locked as long as it lives.
COMMAND = "exec 9>inside; flock -n 9 || exit 99; echo $$; exec {} {}"


def slow_command(megabytes):
    """Returns a command that needs long to end, because it has so much memory, and keeps the file `inside` locked meanwhile."""
    return ["python3", "-c", "import fcntl, time; file = open('inside', 'w'); fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB); "
                             f"much = b'x' * ({megabytes} << 20); print('ready', flush=True); time.sleep(1000)"]


class HostileTest(ServiceTest):
    lease = "5s"
    words = ()

    def begin(self, kind):
        """Returns (baton run, its command)."""
        run = self.start("run", *self.words, "x", "sh", "-c", COMMAND.format(HOSTILE, kind))
        command = int(run.stdout.readline())
        until("it is ready", lambda: run.stdout.readline() == "ready\n")
        return run, command

    def check(self, kind, how):
        stranger = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(self.end, stranger)
        run, command = self.begin(kind)
        heir = self.start("run", "x", "sh", "-c", "exec 9>inside; flock -n 9 || exit 99")
        self.wait_for_waiters("x")
        how(run, command)
        self.assertEqual(heir.wait(PATIENCE), 0)
        self.assertEqual(self.commands("x"), [])
        run.wait(PATIENCE)
        self.assertTrue(is_alive(stranger.pid))

    def break_it(self, _run, _command):
        fence = self.status("x")["locks"][0]["fence"]
        with Client(self.node.socket) as client:
            self.assertEqual(client.call("BREAK", "x", fence), 1)

    @staticmethod
    def kill_run(run, _command):
        run.kill()

    @staticmethod
    def kill_guardian(run, _command):
        with open(f"/proc/{run.pid}/task/{run.pid}/children", encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)


class Hostile(HostileTest):
    def test_many_runs_within_runs(self):
        """Each run gives its own lock back after its command has ended, and all of them must have
        done so in time."""
        for how in (self.break_it, self.kill_run):
            with self.subTest(how=how.__name__):
                command, locks = slow_command(64), ["x"]
                for depth in range(9):
                    locks.append(f"within{depth}")
                    command = [BATON, "run", locks[-1], *command]
                run = self.start("run", "--grace", "0", "x", *command)
                self.assertEqual(run.stdout.readline(), "ready\n")
                heirs = [self.start("run", lock, "sh", "-c", "exec 9<inside; flock -sn 9 || exit 99") for lock in locks]
                for lock in locks:
                    self.wait_for_waiters(lock)
                how(run, None)
                self.assertEqual(heirs[0].wait(PATIENCE), 0)
                self.assertEqual(self.commands("x"), [])
                self.assertEqual([heir.wait(PATIENCE) for heir in heirs], [0] * len(locks))

    def test_one_that_says_it_is_a_guardian_and_makes_others(self):
        """Guardians are killed when nothing else is left. But something is always left beside this
        one."""
        for how in (self.break_it, self.kill_run):
            with self.subTest(how=how.__name__):
                self.check("breeder", how)

    def test_one_that_says_it_is_a_guardian_and_keeps_another_from_ending(self):
        """Something is always left beside this one too, although it makes no new processes."""
        for how in (self.break_it, self.kill_run):
            with self.subTest(how=how.__name__):
                self.check("warden", how)

    def test_each_kind(self):
        for kind in KINDS:
            for how in (self.break_it, self.kill_run, self.kill_guardian):
                with self.subTest(kind=kind, how=how.__name__):
                    if kind == "apart" and os.getuid() != 0:
                        self.skipTest("namespaces need root")
                    self.check(kind, how)


class Slow(HostileTest):
    lease = "500ms" # the margin is 50 ms

    def test_a_command_that_needs_longer_to_end_than_the_margin(self):
        command = slow_command(500)
        command[2] = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + command[2]
        run = self.start("run", "x", *command)
        self.assertEqual(run.stdout.readline(), "ready\n")
        heir = self.start("run", "x", "sh", "-c", "exec 9<inside; flock -sn 9 || exit 99")
        self.wait_for_waiters("x")
        self.break_it(run, None)
        self.assertEqual(heir.wait(PATIENCE), 0)
        self.assertEqual(run.wait(PATIENCE), 76)


class Many(HostileTest):
    lease = "3s" # the grace is 750 ms

    def test_while_the_guardian_is_stopped(self):
        """To end so many processes may take longer than the margin. So the node must keep the lock, and is told so before the grace is
        over."""
        run = self.start("run", "x", "sh", "-c", f"trap '' TERM; echo $$; exec {HOSTILE} wide 5000")
        command = int(run.stdout.readline())
        until("it is ready", lambda: run.stdout.readline() == "ready\n")
        os.kill(stat_of(command)[1], signal.SIGSTOP)
        self.break_it(run, command)
        until("the node knows", lambda: "cannot stop what it runs" in self.node.log())
        self.assertTrue(is_alive(command))
        self.assertEqual(self.run_baton("run", "x", "true")[0], 0)
        self.assertEqual(self.commands("x"), [])
        self.assertEqual(run.wait(PATIENCE), 76)


class WithoutMemory(HostileTest):
    lease, words = "40s", ("--grace", "500ms") # the node waits for 4.5 s

    @unittest.skipIf(SANITIZED, "a sanitizer needs memory of its own")
    def test_the_guardian(self):
        """Without memory the guardian cannot list so many processes. It goes on with those that it
        has."""
        def break_without_memory(run, command):
            resource.prlimit(stat_of(command)[1], resource.RLIMIT_AS, (1, 1))
            self.break_it(run, command)

        self.check("wide 3000", break_without_memory)


class Late(HostileTest):
    """`baton run` and its guardian are stopped until shortly before the next one is let in."""
    lease = "10s" # the grace is 2.5 s, and the node waits for 3.5 s

    def break_and_be_late(self, run, command, seconds=3.1):
        pids = (run.pid, stat_of(command)[1])
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
            until("it is stopped", lambda pid=pid: stat_of(pid)[0] == "T")
        begun = time.monotonic()
        self.break_it(run, command)
        select.select([], [], [], max(0, begun + seconds - time.monotonic()))
        for pid in pids:
            os.kill(pid, signal.SIGCONT)

    def test_a_run_within_it_keeps_its_lock_until_its_command_is_gone(self):
        """The guardians between the two must not end before the innermost command, although it is
        late."""
        slow = slow_command(256)
        within = ["within0", "within1", "within2"]
        for lock in within:
            slow = [BATON, "run", lock, *slow]
        run = self.start("run", "--grace", "0", "x", "sh", "-c", 'echo $$; exec "$@"', "sh", *slow)
        command = int(run.stdout.readline())
        self.assertEqual(run.stdout.readline(), "ready\n")
        heirs = [self.start("run", lock, "sh", "-c", "exec 9<inside; flock -sn 9 || exit 99") for lock in within]
        for lock in within:
            self.wait_for_waiters(lock)
        self.break_and_be_late(run, command, 0.6) # of a whole second
        self.assertEqual([heir.wait(PATIENCE) for heir in heirs], [0, 0, 0])

    def test_one_that_says_it_is_a_guardian_and_makes_others(self):
        """Here no time is left to wait for guardians."""
        self.check("breeder", self.break_and_be_late)


def channel_of(run, guardian):
    """Returns a copy of the socket that `baton run` has and its guardian has not: it stays open when `baton run` is killed."""
    def sockets(pid):
        links = {fd: os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
        return {link: int(fd) for fd, link in links.items() if link.startswith("socket:")}

    shared = sockets(guardian)
    (own,) = (fd for link, fd in sockets(run).items() if link not in shared)
    pidfd = os.pidfd_open(run)
    fd = ctypes.CDLL(None, use_errno=True).syscall(438, pidfd, own, 0) # pidfd_getfd
    os.close(pidfd)
    if fd < 0:
        raise unittest.SkipTest(f"pidfd_getfd: {os.strerror(ctypes.get_errno())}")
    return fd


class KilledTogether(ServiceTest):
    def test_a_guardian_that_sees_the_end_of_its_command_first(self):
        """`baton run` and its command are killed, as the guardian of a run around it does. That is no end by itself: what the command leaves is
        killed before the lock is free."""
        run = self.start("run", "x", "sh", "-c", "exec 9>inside; flock -n 9 || exit 99; setsid sleep 1000 & echo $$; wait")
        command = int(run.stdout.readline())
        heir = self.start("run", "x", "sh", "-c", "exec 9<inside; flock -sn 9 || exit 99")
        self.wait_for_waiters("x")
        channel = channel_of(run.pid, stat_of(command)[1])
        try:
            run.kill()
            run.wait(PATIENCE)
            os.kill(command, signal.SIGKILL)
            until("the guardian has seen the end of the command", lambda: not os.path.exists(f"/proc/{command}"))
        finally:
            os.close(channel)
        self.assertEqual(heir.wait(PATIENCE), 0)

    def test_a_run_that_is_killed_within_another(self):
        """The outer lock is not free before the command of the inner one is gone."""
        inner = ("sh", "-c", 'echo $$; exec "$@"', "sh", BATON, "run", "within", *slow_command(256))
        for command in (inner, ("sh", "-c", '"$@"; exit 1', "sh", *inner)):
            with self.subTest(command=command):
                run = self.start("run", "x", *command)
                killed = int(run.stdout.readline())
                self.assertEqual(run.stdout.readline(), "ready\n")
                heir = self.start("run", "x", "sh", "-c", "exec 9<inside; flock -sn 9 || exit 99")
                self.wait_for_waiters("x")
                os.kill(killed, signal.SIGKILL)
                self.assertEqual(heir.wait(PATIENCE), 0)
                self.assertIn(run.wait(PATIENCE), (1, -signal.SIGKILL))

    def test_a_run_that_is_killed_within_another_while_its_guardian_is_stopped(self):
        """The outer guardian continues the inner one, which then kills its command."""
        inner = (BATON, "run", "within", "sh", "-c", 'echo $$; exec "$@"', "sh", *slow_command(256))
        run = self.start("run", "x", "sh", "-c", '"$@"; exit 1', "sh", *inner)
        guardian = stat_of(int(run.stdout.readline()))[1]
        self.assertEqual(run.stdout.readline(), "ready\n")
        heir = self.start("run", "x", "sh", "-c", "exec 9<inside; flock -sn 9 || exit 99")
        self.wait_for_waiters("x")
        os.kill(guardian, signal.SIGSTOP)
        until("it is stopped", lambda: stat_of(guardian)[0] == "T")
        os.kill(stat_of(guardian)[1], signal.SIGKILL)
        self.assertEqual(heir.wait(PATIENCE), 0)
        self.assertEqual(run.wait(PATIENCE), 1)

    def test_a_run_that_is_killed_with_the_shell_around_it_and_ends_later(self):
        """The shell and the run are killed together, as `timeout -s KILL` does. The inner run has
        no priority, and its processor is busy, so that the shell nearly always ends first."""
        hog = ("import os, time; os.sched_setaffinity(0, {%d}); print(flush=True)\n"
               "end = time.monotonic() + 0.3\nwhile time.monotonic() < end: pass")
        inner = (BATON, "run", "within", "sh", "-c", "exec 9>inside; flock -n 9; echo $$; exec sleep 1000")
        for _ in range(4):
            run = self.start("run", "x", "sh", "-c", 'echo $$; "$@"; exit 1', "sh", *inner)
            shell, command = int(run.stdout.readline()), int(run.stdout.readline())
            heir = self.start("run", "x", "sh", "-c", "exec 9<inside; flock -sn 9 || exit 99")
            self.wait_for_waiters("x")
            processor, killed = min(os.sched_getaffinity(0)), stat_of(stat_of(command)[1])[1]
            os.sched_setscheduler(killed, os.SCHED_IDLE, os.sched_param(0))
            os.sched_setaffinity(killed, {processor})
            busy = subprocess.Popen(["python3", "-c", hog % processor], stdout=subprocess.PIPE)
            self.addCleanup(self.end, busy)
            busy.stdout.readline()
            os.killpg(shell, signal.SIGKILL)
            self.assertEqual(heir.wait(PATIENCE), 0)
            self.assertEqual(run.wait(PATIENCE), -signal.SIGKILL)

    def test_a_command_that_is_killed_while_run_is_stopped(self):
        """`baton run` cannot answer, but it was not killed: the lock is free."""
        run = self.start("run", "x", "sh", "-c", "echo $$; exec sleep 1000")
        command = int(run.stdout.readline())
        heir = self.start("run", "x", "true")
        self.wait_for_waiters("x")
        os.kill(run.pid, signal.SIGSTOP)
        until("it is stopped", lambda: stat_of(run.pid)[0] == "T")
        os.kill(command, signal.SIGKILL)
        self.assertEqual(heir.wait(PATIENCE), 0)
        os.kill(run.pid, signal.SIGCONT)
        self.assertEqual(run.wait(PATIENCE), -signal.SIGKILL)


class LeftBehind(ServiceTest):
    lease = "20s"

    def test_a_run_that_lives_within_another_delays_nothing(self):
        """The outer command ends by itself, and leaves the inner run behind."""
        script = 'setsid sh -c \'"$@"; true\' sh "$@" & "$@" & read line'
        inner = (BATON, "run", "within", "sh", "-c", "echo $$; exec sleep 1000")
        run = self.start("run", "x", "sh", "-c", script, "sh", *inner, stdin=subprocess.PIPE)
        command = int(run.stdout.readline())
        self.wait_for_waiters("within")
        run.stdin.close()
        self.assertEqual(self.run_baton("run", "-w", "10s", "x", "true")[0], 0) # half of the lease
        self.assertTrue(is_alive(command))
        self.assertEqual(run.wait(PATIENCE), 1)


if __name__ == "__main__":
    unittest.main()
