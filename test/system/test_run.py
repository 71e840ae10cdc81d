"""Tests baton run: options, exit codes, environment, streams, signals, each way to lose the lock, and each process killed."""
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import unittest

from baton import BATON
from cluster import free_port, until
from fake_node import FakeNode
from proxy import Proxy
from running import PATIENCE
from service import ServiceTest, is_alive, program_of, stat_of

# Writes the name of each signal that it gets, and exits with 0 when it is told to end.
RECORDER = """
import os, signal, sys
log = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
def note(number, frame):
    os.write(log, b"%d\\n" % number)
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, note)
os.write(log, b"ready\\n")
while not os.path.exists(sys.argv[1] + ".end"):
    signal.sigtimedwait([], 0.01)
"""


class ExitCodes(ServiceTest):
    # the words after `baton run`, the exit code, and a text that stderr contains
    TABLE = [
        (["x", "true"], 0, ""),
        (["x", "false"], 1, ""),
        (["x", "sh", "-c", "exit 7"], 7, ""),
        (["x", "sh", "-c", "exit 255"], 255, ""),
        (["x", "-c", "exit 9"], 9, ""),
        (["x", "-c", "kill -TERM $$"], -signal.SIGTERM, ""),
        (["x", "-c", "kill -KILL $$"], -signal.SIGKILL, ""),
        (["x", "./nonesuch"], 127, "'./nonesuch' cannot be executed: No such file"),
        (["x", "nonesuch-command"], 127, "No such file"),
        (["x", "/etc/passwd"], 126, "Permission denied"),
        (["x", "/"], 126, "Permission denied"),
        (["x", ""], 127, "No such file"),
        ([], 64, "a lock and a command are needed"),
        (["x"], 64, "a command is needed"),
        (["x", "--"], 64, "a command is needed"),
        (["", "true"], 64, "1 to 255 bytes"),
        (["n" * 256, "true"], 64, "1 to 255 bytes, not 256"),
        (["n" * 255, "true"], 0, ""),
        (["-z", "l", "true"], 64, "unknown option '-z'"),
        (["--grase", "1s", "l", "true"], 64, "did you mean '--grace'?"),
        (["--gra", "1s", "l", "true"], 64, "unknown option '--gra'"),
        (["-w"], 64, "'-w' needs a value"),
        (["-w", "soon", "x", "true"], 64, "-w 'soon': a time such as"),
        (["-w", "-1", "x", "true"], 64, "-w '-1'"),
        (["-E", "256", "x", "true"], 64, "-E"),
        (["-E", "many", "x", "true"], 64, "-E"),
        (["-c", "true", "-c", "true", "x"], 64, "-c can be given once"),
        (["x", "-c", "true", "more"], 64, "unexpected 'more'"),
        (["-c", "true", "x", "more"], 64, "unexpected 'more'"),
        (["x", "-c"], 64, "'-c' needs a value"),
        (["--status-fd", "77", "x", "true"], 64, "--status-fd 77: this descriptor is not open"),
        (["--status-fd", "one", "x", "true"], 64, "--status-fd"),
        (["--grace", "1051ms", "x", "true"], 64,
         "--grace 1051 ms does not fit the lease of node 'alpha', 3000 ms: at most 0.35 of it, 1050 ms"),
        (["--grace", "3s", "x", "true"], 64, "--grace 3000 ms does not fit the lease of node 'alpha', 3000 ms"),
        (["--grace", "1h", "x", "true"], 64, "does not fit the lease"),
        (["--grace", "1050ms", "x", "true"], 0, ""),
        (["--grace", "0", "x", "true"], 0, ""),
        (["-S", "", "x", "true"], 64, "path of a socket"),
        (["-S", "host:port", "x", "true"], 64, "HOST:PORT"),
        (["-S", "/nowhere/baton.sock", "x", "true"], 69, "no node at /nowhere/baton.sock"),
        (["-S", "127.0.0.1:1", "x", "true"], 69, "no node at 127.0.0.1:1"),
        (["-n", "x", "true"], 0, ""),
        (["-nw60", "x", "true"], 0, ""),
        (["-w", "60s", "-E", "3", "x", "true"], 0, ""),
        (["--nonblock", "x", "true"], 0, ""),
        # flock's letters
        (["--nb", "x", "true"], 0, ""),
        (["--nonblocking", "x", "true"], 0, ""),
        (["-x", "x", "true"], 0, ""),
        (["-e", "x", "true"], 0, ""),
        (["-xn", "x", "true"], 0, ""),
        (["--exclusive", "x", "true"], 0, ""),
        (["-o", "x", "true"], 0, ""),
        (["--close", "x", "true"], 0, ""),
        (["-w", ".007", "x", "true"], 0, ""),
        (["-w", ".5s", "x", "true"], 0, ""),
        (["-w", "0.0", "x", "true"], 0, ""),
        (["--timeout", "60", "x", "true"], 0, ""),
        (["--timeout=60.5", "x", "true"], 0, ""),
        (["-w", ".", "x", "true"], 64, "-w '.'"),
        (["-w", "..5", "x", "true"], 64, "-w '..5'"),
        (["-w", ".5parsecs", "x", "true"], 64, "-w '.5parsecs': a time such as"),
        (["-s", "x", "true"], 64, "there are no shared locks"),
        (["--shared", "x", "true"], 64, "there are no shared locks"),
        (["-u", "x", "true"], 64, "'baton break' takes a lock"),
        (["--unlock", "x", "true"], 64, "'baton break' takes a lock"),
        (["-F", "x", "true"], 64, "does not become the command"),
        (["--no-fork", "x", "true"], 64, "does not become the command"),
        (["--wait=1s", "--conflict-exit-code=3", "x", "--command", "exit 4"], 4, ""),
        (["x", "-n", "true"], 0, ""),
        (["-c", "exit 5", "x"], 5, ""),
        (["x", "--", "sh", "-c", "exit 6"], 6, ""),
        (["--", "-lock", "sh", "-c", "exit 8"], 8, ""),
        (["--", "-lock", "--", "sh", "-c", "exit 8"], 8, ""),
    ]

    def test_every_row(self):
        for words, code, says in self.TABLE:
            with self.subTest(words=words):
                got, out, err = self.run_baton("run", *words)
                self.assertEqual((got, out), (code, ""), err)
                self.assertIn(says, err)
                if code == 64 or code == 69:
                    self.assertEqual(err.count("\n"), 1, err)

    def test_busy(self):
        """As with flock, only the exit code says that the lock is busy. Nothing is printed without
        --verbose."""
        holder = self.hold("x")
        for words, code, says in [(["-n"], 75, "is not free"), (["-w", "10ms"], 75, "was not free within 10 ms"),
                                  (["-w", ".007"], 75, "was not free within 7 ms"), (["--timeout", "0.01"], 75, "was not free within 10 ms"),
                                  (["-w", "0"], 75, "is not free"), (["-w", ".0"], 75, "is not free"),
                                  (["-n", "-E", "0"], 0, "is not free"), (["--nb", "-E", "9"], 9, "is not free"),
                                  (["-w", "0.01", "-E", "200"], 200, "was not free")]:
            with self.subTest(words=words):
                command = ["x", "touch", self.path("entered")]
                self.assertEqual(self.run_baton("run", *words, *command), (code, "", ""))
                got, _, err = self.run_baton("run", "--verbose", *words, *command)
                self.assertEqual(got, code)
                self.assertRegex(err, f"^baton run: 'x' {says}[^\n]*\n$")
                self.assertFalse(os.path.exists(self.path("entered")))
        self.assertEqual(self.run_baton("run", "-n", "y", "true")[0], 0)
        self.let_go(holder)
        code, _, err = self.run_baton("run", "-n", "--verbose", "x", "true")
        self.assertEqual(code, 0)
        self.assertRegex(err, r"^baton run: 'x' is held \(fence \d+\) after \d+\.\d+ s\n$")

    def test_the_time_that_was_given_is_told(self):
        """The message names the time that was given, not the time left after the node had answered."""
        self.hold("x")
        self.node.process.send_signal(signal.SIGSTOP)
        run = self.start("run", "--verbose", "-w", "1s", "x", "true")
        time.sleep(0.3) # longer than the time for connecting that does not count
        self.node.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.finish(run), (75, "", "baton run: 'x' was not free within 1000 ms\n"))

    def test_in_time(self):
        holder = self.hold("x")
        waiter = self.start("run", "-w", "1m", "x", "sh", "-c", "exit 7")
        self.wait_for_waiters("x")
        self.let_go(holder)
        self.assertEqual(self.finish(waiter)[0], 7)

    def test_not_permitted(self):
        os.chmod(self.node.socket, 0o600)
        os.chmod(self.folder, 0o755)
        if os.getuid() == 0:
            refused = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", BATON, "run", "x", "true"],
                                     env={**self.environment, "ASAN_OPTIONS": "detect_leaks=0"}, capture_output=True,
                                     text=True, check=False)
        else:
            os.chmod(self.node.socket, 0)
            refused = subprocess.run([BATON, "run", "x", "true"], env=self.environment, capture_output=True,
                                     text=True, check=False)
        self.assertEqual(refused.returncode, 77, refused.stderr)

    def test_no_node_while_waiting(self):
        self.hold("x")
        # Without a limit `baton run` would wait for another node.
        waiter = self.start("run", "-w", "10s", "x", "touch", self.path("entered"))
        self.wait_for_waiters("x")
        self.node.stop(signal.SIGKILL)
        self.assertEqual(self.finish(waiter)[0], 69)
        self.assertFalse(os.path.exists(self.path("entered")))

    def test_without_a_limit_it_says_that_the_node_is_gone(self):
        self.hold("x")
        waiter = self.start("run", "x", "echo", "entered")
        self.wait_for_waiters("x")
        self.node.stop(signal.SIGKILL)
        self.assertTrue(select.select([waiter.stderr], [], [], PATIENCE)[0], "nothing is said of it")
        self.node.start()
        self.assertEqual(self.finish(waiter), (0, "entered\n", f"baton run: waiting for the node at {self.node.socket} to come back\n"))

    def test_an_alarm_that_was_set_before_ends_the_wait(self):
        """A program may set an alarm and then execute `baton run`, as in perl -e 'alarm 1; exec
        @ARGV'."""
        self.hold("x")
        begin = lambda: signal.setitimer(signal.ITIMER_REAL, 1)
        self.assertEqual(self.start("run", "x", "true", preexec_fn=begin).wait(PATIENCE), -signal.SIGALRM)

    @staticmethod
    def has_socket(pid):
        try:
            return any("socket:" in os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            return False

    def test_a_node_that_is_stopped(self):
        """While the node is stopped, nobody knows whether the lock is free."""
        self.node.process.send_signal(signal.SIGSTOP)
        for words in (["-w", "50ms"], ["-n"], ["-n", "-E", "0"]):
            with self.subTest(words=words):
                code, line, err = self.with_status(*words, "x", "true")
                self.assertEqual((code, line["acquired"], line["reason"]), (69, False, "silent"))
                self.assertIn("the node does not answer", err)
        waiter = self.start("run", "x", "true")
        until("it has connected", lambda: self.has_socket(waiter.pid))
        waiter.terminate()
        self.assertEqual(self.finish(waiter)[0], -signal.SIGTERM)

    def test_a_member_that_is_silent(self):
        """The node's message about the silent member is printed, whatever -E is."""
        with FakeNode(self.path("fake"), {"LOCK": b"-SILENT n2 did not answer\r\n"}) as fake:
            for words in (["-n"], ["-n", "-E", "0"], ["-w", "1s"]):
                with self.subTest(words=words):
                    code, line, err = self.with_status("-S", fake.path, *words, "x", "true")
                    self.assertEqual((code, line["acquired"], line["lost"], line["reason"]), (69, False, False, "silent"))
                    self.assertIn("n2 did not answer", err)

    def test_grace_is_sent_without_a_margin(self):
        """The client sends the grace alone, because the node adds the margin."""
        for words, ms in [([], "3000"), (["--grace", "4200ms"], "4200"), (["--grace", "0"], "1")]:
            with self.subTest(words=words), FakeNode(self.path("fake"), {"LOCK": b":7\r\n"}, lease_ms=12000) as fake:
                self.assertEqual(self.run_baton("run", "-S", fake.path, *words, "x", "true")[0], 0)
                self.assertIn(["CLIENT", "GRACE", ms], fake.commands)
                os.unlink(fake.path)

    def test_the_connection_ends_while_it_waits(self):
        with FakeNode(self.path("fake"), {"LOCK": None}) as fake:
            code, line, _ = self.with_status("-S", fake.path, "-n", "x", "true")
            self.assertEqual((code, line["acquired"], line["reason"]), (69, False, "connection"))

    def test_the_lock_is_free_when_it_returns(self):
        for _ in range(20):
            self.assertEqual(self.run_baton("run", "-n", "x", "true")[0], 0)

    def test_what_the_command_leaves_behind_goes_on_without_the_lock(self):
        code, out, _ = self.run_baton("run", "x", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!")
        self.assertEqual(code, 0)
        self.assertTrue(is_alive(int(out)))
        self.assertEqual(self.run_baton("run", "-n", "x", "true")[0], 0)
        os.kill(int(out), signal.SIGKILL)


class Surroundings(ServiceTest):
    """Tests the environment of the command."""

    def test_environment(self):
        script = 'echo "$BATON_LOCK|$BATON_FENCE|$BATON_NODE|$BATON_SOCKET"'
        fences = []
        for words in (["-S", self.node.socket], ["-S", "socket"], ["-S", "./socket"], []):
            code, out, _ = self.run_baton("run", *words, "a lock", "-c", script)
            lock, fence, node, path = out.strip().split("|")
            self.assertEqual((code, lock, node), (0, "a lock", "alpha"))
            self.assertEqual(os.path.normpath(path), self.node.socket)
            self.assertTrue(path.startswith("/"))
            fences.append(int(fence))
        self.assertEqual(fences, sorted(set(fences)))

    def test_over_tcp(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.node.stop()
        self.node.words += ("--clients", f"127.0.0.1:{port}")
        self.node.start()
        code, out, err = self.run_baton("run", "-S", f"127.0.0.1:{port}", "x", "-c", "echo $BATON_SOCKET")
        self.assertEqual((code, out), (0, f"127.0.0.1:{port}\n"), err)

    def test_no_shell(self):
        self.assertEqual(self.run_baton("run", "x", "echo", "$HOME", "*", "a b")[1], "$HOME * a b\n")
        self.assertEqual(self.run_baton("run", "x", "-c", "echo a  b")[1], "a b\n")

    def test_parsing_stops_at_the_command(self):
        self.assertEqual(self.run_baton("run", "x", "echo", "-w", "--help", "--", "--nonesuch")[1],
                         "-w --help -- --nonesuch\n")
        self.assertEqual(self.run_baton("run", "x", "printf", "%s,", "--help", "-c", "--")[1], "--help,-c,--,")

    def test_streams(self):
        copy = self.start("run", "x", "sh", "-c", "cat; echo err >&2", stdin=subprocess.PIPE)
        self.assertEqual(self.finish(copy, "in\n" * 10000), (0, "in\n" * 10000, "err\n"))

    def test_closed_streams_stay_closed(self):
        script = f"{BATON} run x sh -c '[ -e /proc/$$/fd/0 ] || [ -e /proc/$$/fd/2 ]; echo $?' <&- 2>&-"
        done = subprocess.run(["sh", "-c", script], env=self.environment, stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"))

    def test_only_the_command_has_its_streams(self):
        """A reader of the command's output sees its end when the command closes it, not when the command ends."""
        run = self.start("run", "x", "sh", "-c", "echo out; exec >&-; read line", stdin=subprocess.PIPE)
        self.assertEqual(run.stdout.read(), "out\n")
        self.assertIsNone(run.poll())
        run.stdin.write("\n")
        run.stdin.close()
        self.assertEqual(run.wait(PATIENCE), 0)

    def test_nothing_else_is_inherited(self):
        out = self.run_baton("run", "--status-fd", "2", "x", "sh", "-c", "ls /proc/self/fd")[1]
        self.assertEqual(out.split(), ["0", "1", "2", "3"])  # descriptor 3 is the folder that ls reads

    def test_a_process_group_of_its_own(self):
        run = self.start("run", "x", "sh", "-c", "echo $$; read line", stdin=subprocess.PIPE)
        command = int(run.stdout.readline())
        guardian = stat_of(command)[1]
        self.assertEqual(stat_of(command)[2], command)
        self.assertEqual(stat_of(guardian)[1], run.pid)
        self.assertEqual(len({stat_of(pid)[2] for pid in (command, guardian, run.pid)}), 3)
        self.assertEqual(len({stat_of(pid)[3] for pid in (command, guardian, run.pid)}), 1)
        run.communicate("\n")

    def test_dispositions_and_mask_are_those_it_was_given(self):
        show = ["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"]
        for ignored, blocked in [((), ()), ((signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM), ()),
                                 ((), (signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1))]:
            def prepare(ignored=ignored, blocked=blocked):
                for number in ignored:
                    signal.signal(number, signal.SIG_IGN)
                signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
            plain = subprocess.run(show, preexec_fn=prepare, capture_output=True, text=True, check=False)
            for words in ([], ["-w", "10"]):
                with self.subTest(ignored=ignored, blocked=blocked, words=words):
                    got = self.run_baton("run", *words, "x", *show, preexec_fn=prepare)
                    self.assertEqual(got, (0, plain.stdout, ""))

    def test_status_line(self):
        holder = self.hold("busy")
        table = [
            (["x", "sh", "-c", "exit 3"], {"acquired": True, "lost": False, "child": 3}),
            (["x", "sh", "-c", "kill -9 $$"], {"acquired": True, "lost": False, "child": 137}),
            (["x", "./nonesuch"], {"acquired": True, "lost": False, "child": 127}),
            (["-n", "busy", "true"], {"acquired": False, "lost": False, "child": None, "fence": None, "held": None}),
            (["-w", "1ms", "busy", "true"], {"acquired": False, "lost": False, "child": None}),
            (["-S", "/nowhere", "x", "true"], {"acquired": False, "lost": False, "child": None}),
        ]
        for words, expected in table:
            with self.subTest(words=words):
                line = self.with_status(*words)[1]
                self.assertEqual(list(line), ["acquired", "fence", "waited", "held", "lost", "child", "reason"])
                self.assertEqual({key: line[key] for key in expected}, expected)
                self.assertIsNone(line["reason"])
                self.assertGreaterEqual(line["waited"], 0)
                if line["acquired"]:
                    self.assertGreater(line["fence"], holder.fence if words[0] == "busy" else 0)
                    self.assertGreater(line["held"], 0)

    def test_nobody_reads_the_status(self):
        """Neither the exit code nor the lock waits for a reader, nor does a signal."""
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        self.addCleanup(os.close, write)
        os.set_blocking(write, False)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(write, bytes(4096))
        os.set_blocking(write, True)
        words = ["run", "--status-fd", str(write), "x"]
        self.assertEqual(self.run_baton(*words, "sh", "-c", "exit 3", pass_fds=[write])[0], 3)
        killed = self.start(*words, "sh", "-c", "echo; exec sleep 1000", pass_fds=[write])
        killed.stdout.readline()
        with open(f"/proc/{killed.pid}/task/{killed.pid}/children", encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL) # `baton run` reports in the guardian's place
        self.assertEqual(killed.wait(PATIENCE), -signal.SIGKILL)
        holder = self.hold("x")
        self.assertEqual(self.run_baton("run", "-n", *words[1:], "true", pass_fds=[write])[0], 75)
        waiter = self.start(*words, "true", pass_fds=[write])
        self.wait_for_waiters("x")
        waiter.terminate()
        self.assertEqual(waiter.wait(PATIENCE), -signal.SIGTERM)
        self.let_go(holder)

    def test_status_on_a_standard_stream(self):
        _, out, err = self.run_baton("run", "--status-fd", "1", "x", "sh", "-c", "echo mine; exit 2")
        self.assertEqual((out.splitlines()[0], json.loads(out.splitlines()[1])["child"], err), ("mine", 2, ""))
        code, _, err = self.run_baton("run", "--status-fd", "0", "x", "true", stdin=subprocess.PIPE)
        self.assertEqual(code, 64)
        self.assertIn("only for reading", err)


class Signals(ServiceTest):
    def test_every_signal_is_forwarded(self):
        run = self.start("run", "x", sys.executable, "-c", RECORDER, self.path("signals"))
        self.text("signals")
        expected = ["ready"]
        for number in sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}):
            with self.subTest(signal=number):
                os.kill(run.pid, number)
                expected.append(str(int(number)))
                until(f"{number} has come", lambda: self.text("signals").split()[len(expected) - 1:])
                self.assertEqual(self.text("signals").split(), expected)
                self.assertIsNone(run.poll())
        with open(self.path("signals.end"), "w", encoding="utf-8"):
            self.assertEqual(self.finish(run)[0], 0)

    def test_the_whole_group_gets_it(self):
        run = self.start("run", "x", "sh", "-c", "trap 'exit 5' USR1; sleep 1000 & echo $!; wait")
        child = int(run.stdout.readline())
        until("the child is no shell any more", lambda: program_of(child) == "sleep")
        run.send_signal(signal.SIGUSR1)
        self.assertEqual(run.wait(PATIENCE), 5)
        until("the shell's child is gone", lambda: not is_alive(child))

    def test_while_waiting(self):
        holder = self.hold("x")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM):
            with self.subTest(signal=number):
                read, write = os.pipe()
                waiter = self.start("run", "--status-fd", str(write), "x", "touch", self.path("entered"), pass_fds=[write])
                os.close(write)
                self.wait_for_waiters("x")
                waiter.send_signal(number)
                self.assertEqual(waiter.wait(PATIENCE), -number)
                with open(read, encoding="utf-8") as file:
                    self.assertEqual(json.loads(file.read())["acquired"], False)
                until("it has withdrawn", lambda: not self.status("x")["locks"][0]["waiters"])
        self.let_go(holder)
        self.assertEqual(self.run_baton("run", "-n", "x", "true")[0], 0)
        self.assertFalse(os.path.exists(self.path("entered")))

    def test_what_is_ignored_does_not_end_the_wait(self):
        holder = self.hold("x")
        waiters = []
        for number in (signal.SIGHUP, signal.SIGALRM):
            waiters.append(self.start("run", "x", "sh", "-c", "exit 3",
                                      preexec_fn=lambda number=number: signal.signal(number, signal.SIG_IGN)))
            self.wait_for_waiters("x", len(waiters))
            waiters[-1].send_signal(number)
        self.let_go(holder)
        for waiter in waiters:
            self.assertEqual(waiter.wait(PATIENCE), 3)

    def test_stopped_and_continued(self):
        """Without a terminal, a signal that stops the command also stops `baton run`, and a signal that continues one continues
        both."""
        for stop in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGSTOP):
            with self.subTest(stop=stop):
                # `baton run` runs in a group of its own, as under a shell. An orphaned group would
                # ignore most of these signals.
                run = self.start("run", "x", "sh", "-c", "echo $$; read line; exit 6", stdin=subprocess.PIPE,
                                 preexec_fn=os.setpgrp)
                command = int(run.stdout.readline())
                os.kill(command if stop == signal.SIGSTOP else run.pid, stop)
                until("both are stopped", lambda: (stat_of(command)[0], stat_of(run.pid)[0]) == ("T", "T"))
                os.kill(command if stop == signal.SIGSTOP else run.pid, signal.SIGCONT)
                until("both go on", lambda: "T" not in (stat_of(command)[0], stat_of(run.pid)[0]))
                run.stdin.write("\n")
                run.stdin.close()
                self.assertEqual(run.wait(PATIENCE), 6)

    def test_a_stopped_wrapper_keeps_the_lock_and_gives_it_back(self):
        run = self.start("run", "x", "sh", "-c", "echo $$; read line", stdin=subprocess.PIPE)
        run.stdout.readline()
        run.send_signal(signal.SIGSTOP)
        until("it is stopped", lambda: stat_of(run.pid)[0] == "T")
        self.assertEqual(self.run_baton("run", "-n", "x", "true")[0], 75)
        run.stdin.write("\n")
        run.stdin.close()
        until("the lock is free", lambda: self.run_baton("run", "-n", "x", "true")[0] == 0)
        run.send_signal(signal.SIGCONT)
        self.assertEqual(run.wait(PATIENCE), 0)


class Losing(ServiceTest):
    """The group of the command gets SIGTERM, then SIGKILL. The exit code is 76. The lease is so long that even a busy machine sees the
    end of the connection before the end of the lease."""

    lease = "2s"

    def lose(self, how, run):
        if how == "broken":
            fence = self.status("x")["locks"][0]["fence"]
            self.assertEqual(self.run_baton("break", "x", "--fence", str(fence))[0], 0)
        else:
            self.node.stop(signal.SIGKILL if how == "killed" else signal.SIGTERM)

    def test_each_way(self):
        for how in ("broken", "terminated", "killed"):
            for script, dies_of in [("trap 'echo term; exit 4' TERM; {}", "term"), ("trap 'echo term' TERM; {}", "kill"),
                                    ("trap '' TERM; {}", "kill")]:
                with self.subTest(how=how, script=script):
                    if self.node.process is None:
                        self.node.start()
                    read, write = os.pipe()
                    script_here = script.format("sleep 1000 & echo $$ $!; while :; do wait; done")
                    run = self.start("run", "--status-fd", str(write), "x", "sh", "-c", script_here, pass_fds=[write])
                    os.close(write)
                    pids = [int(pid) for pid in run.stdout.readline().split()]
                    self.lose(how, run)
                    code, out, err = self.finish(run)
                    self.assertEqual(code, 76, err)
                    self.assertIn("'x' was lost", err)
                    self.assertFalse([pid for pid in pids if is_alive(pid)])
                    self.assertEqual("term" in out, "echo" in script.split(";")[0] or "echo term'" in script)
                    with open(read, encoding="utf-8") as file:
                        line = json.loads(file.read())
                    self.assertEqual((line["acquired"], line["lost"], line["child"]),
                                     (True, True, 4 if dies_of == "term" else 137))
                    if how == "killed":
                        self.assertEqual(line["reason"], "connection")

    def test_broken_nobody_comes_in_before_the_command_is_gone(self):
        for script in ("trap '' TERM; echo $$; while :; do sleep 0.01; done", "echo $$; sleep 1000"):
            with self.subTest(script=script):
                run = self.start("run", "x", "sh", "-c", script)
                command = int(run.stdout.readline())
                waiter = self.start("run", "x", "sh", "-c", f"kill -0 {command} 2>/dev/null && echo both || echo alone")
                self.wait_for_waiters("x")
                self.lose("broken", run)
                self.assertEqual(run.wait(PATIENCE), 76)
                self.assertEqual(self.finish(waiter)[:2], (0, "alone\n"))

    def test_started_again_nobody_comes_in_before_the_command_is_gone(self):
        for how in ("killed", "terminated"):
            with self.subTest(how=how):
                run = self.start("run", "x", "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.01; done")
                command = int(run.stdout.readline())
                self.lose(how, run)
                self.node.start()
                script = f"kill -0 {command} 2>/dev/null && echo both || echo alone"
                self.assertEqual(self.run_baton("run", "x", "sh", "-c", script)[:2], (0, "alone\n"))
                self.assertEqual(run.wait(PATIENCE), 76)

    def test_nor_if_the_next_node_has_a_shorter_lease(self):
        self.node.stop(signal.SIGTERM)
        first = self.start("node", "--lease", "8s")
        until("it serves", lambda: self.run_baton("status", "--ready")[0] == 0)
        run = self.start("run", "--grace", "2s", "x", "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.01; done")
        command = int(run.stdout.readline())
        first.kill()
        first.wait(PATIENCE)
        self.node.start()  # this node's lease is shorter than that grace
        script = f"kill -0 {command} 2>/dev/null && echo both || echo alone"
        self.assertEqual(self.run_baton("run", "-w", "60s", "x", "sh", "-c", script)[:2], (0, "alone\n"))
        self.assertEqual(run.wait(PATIENCE), 76)

    def test_nor_if_somebody_has_removed_the_socket_of_the_killed_node(self):
        """As a script may do that starts a daemon."""
        run = self.start("run", "x", "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.01; done")
        command = int(run.stdout.readline())
        self.lose("killed", run)
        os.unlink(self.node.socket)
        self.node.start()
        script = f"kill -0 {command} 2>/dev/null && echo both || echo alone"
        self.assertEqual(self.run_baton("run", "x", "sh", "-c", script)[:2], (0, "alone\n"))
        self.assertEqual(run.wait(PATIENCE), 76)

    def test_nor_if_one_that_was_started_between_has_ended_early(self):
        def fail():
            with socket.socket() as taken:
                taken.bind(("127.0.0.1", 0))
                taken.listen()
                code, _, err = self.run_baton("node", "--lease", self.lease, "--clients", f"127.0.0.1:{taken.getsockname()[1]}")
                self.assertEqual(code, 1, err)

        def leave():
            node = self.start("node", "--lease", self.lease)
            while "nothing is granted for" not in node.stderr.readline():
                self.assertIsNone(node.poll())
            node.terminate()
            self.assertEqual(node.wait(PATIENCE), 0)

        for between in (fail, leave):
            with self.subTest(between=between.__name__):
                run = self.start("run", "x", "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.01; done")
                command = int(run.stdout.readline())
                self.lose("killed", run)
                between()
                self.node.start()
                script = f"kill -0 {command} 2>/dev/null && echo both || echo alone"
                self.assertEqual(self.run_baton("run", "x", "sh", "-c", script)[:2], (0, "alone\n"))
                self.assertEqual(run.wait(PATIENCE), 76)

    def test_while_a_node_leaves_another_cannot_take_its_place(self):
        run = self.start("run", "x", "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.01; done")
        run.stdout.readline()
        os.kill(run.pid, signal.SIGSTOP) # the session stays open meanwhile, so the node waits for as long as it may
        self.node.process.send_signal(signal.SIGTERM)
        until("the node leaves", lambda: "has lost it" in self.node.log())
        code, _, err = self.run_baton("node", "--name", "alpha", "--socket", self.node.socket)
        self.assertEqual(code, 1)
        self.assertIn("another node serves", err)
        os.kill(run.pid, signal.SIGCONT)
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertEqual(self.node.stop(), 0)

    def test_cut_off_nobody_comes_in_before_the_command_is_gone(self):
        port, road = free_port(), free_port()
        self.node.stop()
        self.node.words += ("--clients", f"127.0.0.1:{port}")
        self.node.start()
        with Proxy([(road, port)], 3600, seed=1):
            run = self.start("run", "-S", f"127.0.0.1:{road}", "x",
                             "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.01; done")
            command = int(run.stdout.readline())
        script = f"kill -0 {command} 2>/dev/null && echo both || echo alone"
        self.assertEqual(self.run_baton("run", "x", "sh", "-c", script)[:2], (0, "alone\n"))
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertIn("is gone: its locks are free in", self.node.log())

    def test_broken_and_stopped_it_is_waited_for_no_longer_than_its_grace(self):
        run = self.start("run", "--grace", "100ms", "x", "sh", "-c", "echo $$; sleep 1000")
        run.stdout.readline()
        with open(f"/proc/{run.pid}/task/{run.pid}/children", encoding="ascii") as file:
            guardian = int(file.read())
        os.kill(run.pid, signal.SIGSTOP)
        os.kill(guardian, signal.SIGSTOP)
        self.lose("broken", run)
        self.assertEqual(self.run_baton("run", "-w", "20s", "x", "true")[0], 0)
        os.kill(guardian, signal.SIGCONT)
        os.kill(run.pid, signal.SIGCONT)
        self.assertEqual(run.wait(PATIENCE), 76)

    def test_those_that_went_away_are_killed_too(self):
        run = self.start("run", "--grace", "10ms", "x", "sh", "-c",
                         "setsid sh -c 'trap \"\" TERM; echo $$; sleep 1000' & trap '' TERM; wait")
        away = int(run.stdout.readline())
        self.lose("broken", run)
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertFalse(is_alive(away))

    def test_a_stopped_command(self):
        run = self.start("run", "x", "sh", "-c", "trap 'exit 4' TERM; echo $$; while :; do read line; done",
                         stdin=subprocess.PIPE)
        command = int(run.stdout.readline())
        os.kill(command, signal.SIGSTOP)
        until("both are stopped", lambda: stat_of(run.pid)[0] == "T")
        self.lose("killed", run)
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertFalse(is_alive(command))

    def test_a_stopped_wrapper(self):
        """The guardian does not need `baton run`."""
        run = self.start("run", "x", "sh", "-c", "echo $$; sleep 1000")
        command = int(run.stdout.readline())
        run.send_signal(signal.SIGSTOP)
        self.lose("killed", run)
        until("the command is gone", lambda: not is_alive(command))
        run.send_signal(signal.SIGCONT)
        self.assertEqual(run.wait(PATIENCE), 76)

    def test_grace_zero(self):
        run = self.start("run", "--grace", "0", "x", "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 1000; done")
        run.stdout.readline()
        self.lose("broken", run)
        self.assertEqual(run.wait(PATIENCE), 76)


class Killed(ServiceTest):
    """One process is killed with -9. No process of the command is left when the lock is free."""

    # A command with descendants of every kind, all of which have descriptor 9 open.
    FAMILY = ("exec 9>inside; flock -n 9 || exit 99;"
              "setsid sh -c 'sleep 1000 & sleep 1000' & "                     # a process with a session of its own
              "(setsid sleep 1000 &) & "                                     # a daemon, without a parent
              "sh -c 'trap \"\" TERM INT HUP; while :; do sleep 0.01; done' & "  # a process that forks all the time
              "sh -c 'kill -STOP $$' & "                                     # a process that is stopped
              "echo $$ > pid; wait")

    def family(self):
        run = self.start("run", "x", "sh", "-c", self.FAMILY)
        command = int(self.text("pid"))
        until("the family is there", lambda: len(self.commands("x")) >= 7)
        os.unlink(self.path("pid"))
        return run, command

    def heir(self):
        """Becomes the next holder, and checks that no process of the command exists."""
        return self.start("run", "x", "sh", "-c", "exec 9>inside; flock -n 9 || exit 99")

    def test_the_wrapper(self):
        run, _ = self.family()
        heir = self.heir()
        self.wait_for_waiters("x")
        run.kill()
        self.assertEqual(heir.wait(PATIENCE), 0)
        self.assertEqual(self.commands("x"), [])

    def test_the_wrapper_while_it_is_stopped(self):
        run, _ = self.family()
        heir = self.heir()
        self.wait_for_waiters("x")
        run.send_signal(signal.SIGSTOP)
        run.kill()
        self.assertEqual(heir.wait(PATIENCE), 0)

    def test_the_group_of_the_wrapper(self):
        """The whole group of `baton run` is killed, as a shell's `kill -9 %1` does."""
        run = self.start("run", "x", "sh", "-c", self.FAMILY, start_new_session=True)
        self.text("pid")
        heir = self.heir()
        self.wait_for_waiters("x")
        os.killpg(run.pid, signal.SIGKILL)
        self.assertEqual(heir.wait(PATIENCE), 0)

    def test_the_guardian(self):
        run, command = self.family()
        heir = self.heir()
        self.wait_for_waiters("x")
        os.kill(stat_of(command)[1], signal.SIGKILL)
        self.assertEqual(heir.wait(PATIENCE), 0)
        code, _, err = self.finish(run)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertIn("the guardian was killed", err)
        self.assertEqual(self.commands("x"), [])

    def test_the_guardian_and_not_the_children_that_were_there_before(self):
        script = f"sleep 1000 & echo $! > before; exec {BATON} run x sh -c 'echo $$; sleep 1000'"
        run = subprocess.Popen(["sh", "-c", script], env=self.environment, cwd=self.folder, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.end, run)
        command, before = int(run.stdout.readline()), int(self.text("before"))
        os.kill(stat_of(command)[1], signal.SIGKILL)
        self.assertEqual(run.wait(PATIENCE), -signal.SIGKILL)
        self.assertTrue(is_alive(before))
        self.assertFalse(is_alive(command))
        os.kill(before, signal.SIGKILL)

    def test_the_guardian_and_not_what_a_child_that_was_there_before_leaves_behind(self):
        """The process had a child before it became `baton run`. When that child ends, its own child
        becomes a child of `baton run`. If the guardian is killed, only the age of this process
        tells that it does not belong to the command."""
        def wait_for(name):
            return f"until test -e {name}; do sleep 0.01; done"

        before = f"sh -c '{wait_for('make')}; sleep 1000 & echo $! > left; {wait_for('leave')}'"
        for early, number in ((True, signal.SIGKILL), (True, signal.SIGSTOP), (False, signal.SIGSTOP)):
            with self.subTest(early=early, number=number):
                for name in ("make", "left", "leave"):
                    if os.path.exists(self.path(name)):
                        os.unlink(self.path(name))
                pause = f"touch make; {wait_for('left')}; sleep 0.05;" if early else "" # some ticks of the kernel's clock
                run = subprocess.Popen(["sh", "-c", f"{before} & {pause} exec {BATON} run x sh -c 'echo $$; exec sleep 1000'"],
                                       env=self.environment, cwd=self.folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
                self.addCleanup(self.end, run)
                command = int(run.stdout.readline())
                self.touch("make")
                left = int(self.text("left"))
                self.touch("leave")
                until("it is a child of baton run", lambda pid=left, run=run: stat_of(pid)[1] == run.pid)
                os.kill(stat_of(command)[1], number)
                if number == signal.SIGSTOP:
                    fence = self.status("x")["locks"][0]["fence"]
                    self.assertEqual(self.run_baton("break", "x", "--fence", str(fence))[0], 0)
                self.assertEqual(run.wait(PATIENCE), 76 if number == signal.SIGSTOP else -signal.SIGKILL)
                self.assertFalse(is_alive(command))
                self.assertTrue(is_alive(left))
                os.kill(left, signal.SIGKILL)

    def touch(self, name):
        with open(self.path(name), "w", encoding="ascii"):
            pass

    def test_both(self):
        """If both are killed, only the command itself is sure to end: the kernel kills it."""
        run = self.start("run", "x", "sh", "-c", "echo $$; exec sleep 1000")
        command = int(run.stdout.readline())
        guardian = stat_of(command)[1]
        os.kill(guardian, signal.SIGSTOP)
        run.kill()
        os.kill(guardian, signal.SIGKILL)
        until("the command is gone", lambda: not is_alive(command))

    def test_the_command(self):
        run, command = self.family()
        os.kill(command, signal.SIGKILL)
        self.assertEqual(run.wait(PATIENCE), -signal.SIGKILL)

    def test_a_run_within_a_run(self):
        """Both locks, the inner one too, are held until the inner command has ended."""
        inner = f"{BATON} run inner sh -c 'exec 9>inside; flock -n 9 || exit 99; echo $$ > pid; sleep 1000'"
        for lock in ("x", "inner"):
            run = self.start("run", "x", "sh", "-c", f"{inner}; exit 1")
            self.text("pid")
            os.unlink(self.path("pid"))
            heir = self.start("run", lock, "sh", "-c", "exec 9>inside; flock -n 9 || exit 99")
            self.wait_for_waiters(lock)
            run.kill()
            self.assertEqual(heir.wait(PATIENCE), 0, lock)


if __name__ == "__main__":
    unittest.main()
