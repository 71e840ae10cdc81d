"""Tests `baton run` as a job of a shell on a terminal: ^C, ^Z, fg, bg, and reading what is typed."""
import os
import pty
import re
import select
import signal
import time
import unittest

from baton import BATON
from cluster import until
from running import PATIENCE
from service import ServiceTest, is_alive, program_of, stat_of


class Terminal(ServiceTest):
    def setUp(self):
        super().setUp()
        self.seen = ""
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"],
                       {**self.environment, "PS1": "$ ", "TERM": "dumb", "BATON": BATON, "HISTFILE": ""})
        self.shell = pid
        self.addCleanup(self.end_shell)
        self.type("bind 'set enable-bracketed-paste off'; stty -echo; PS1=; echo rea''dy\n")
        self.see("ready")

    def end_shell(self):
        os.close(self.terminal)
        os.kill(self.shell, signal.SIGKILL)
        os.waitpid(self.shell, 0)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def see(self, pattern):
        """Waits until the text appears. Text after it is left for the next call."""
        until = time.monotonic() + PATIENCE
        while True:
            match = re.search(pattern, self.seen)
            if match:
                self.seen = self.seen[match.end():]
                return match
            self.assertLess(time.monotonic(), until, f"{pattern!r} does not come, but: {self.seen!r}")
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.seen += os.read(self.terminal, 4096).decode(errors="replace")

    def foreground(self):
        return os.tcgetpgrp(self.terminal)

    def test_typing_and_the_end(self):
        self.type("$BATON run x sh -c 'echo go; read line; echo \"<$line>\"; exit 3'; echo \"code $?\"\n")
        self.see("go")
        self.type("hello\n")
        self.see("<hello>")
        self.see("code 3")
        until("the shell has the terminal", lambda: self.foreground() == self.shell)

    def test_interrupt(self):
        self.type("$BATON run x sh -c 'echo pid $$ go; exec sleep 1000'\n")
        command = int(self.see(r"pid (\d+) go")[1])
        # Wait for the exec: an interrupt that comes just before it could be lost by the inner
        # shell.
        until("the command is there", lambda: program_of(command) == "sleep")
        self.type("\x03")
        self.type("echo \"code $?\"\n")
        self.see("code 130")

    def script(self, wrapper, kind):
        """Writes a script with a line that is interrupted, and a line after it that must not be reached."""
        with open(self.path("script"), "w", encoding="utf-8") as file:
            file.write({"line": f"{wrapper} sh -c 'echo pid $$ go; exec sleep 1000'\n",
                        "loop": f"while :; do {wrapper} sh -c 'echo pid $$ go; exec sleep 1000'; done\n",
                        "pipe": f"{wrapper} sh -c 'echo pid $$ go; exec sleep 1000' </dev/null | cat\n"}[kind])
            file.write("echo rea''ched\n")

    def test_an_interrupt_ends_the_script_around_it(self):
        """The interrupt has the same effect as with flock, whether or not the command has the
        terminal."""
        for wrapper in ("flock file", "$BATON run x"):
            for kind in ("line", "loop", "pipe"):
                for shell in ("bash", "sh"):
                    with self.subTest(wrapper=wrapper, kind=kind, shell=shell):
                        self.script(wrapper, kind)
                        self.seen = ""
                        self.type(f"{shell} script\n")
                        command = int(self.see(r"pid (\d+) go")[1])
                        until("the command is there", lambda: program_of(command) == "sleep")
                        self.type("\x03")
                        until("the command is gone", lambda: not is_alive(command))
                        self.type("echo \"code $?\"\n")
                        end = self.see(r"code (\d+)")
                        self.assertEqual(end[1], "130")
                        self.assertNotIn("reached", end.string[:end.start()])

    def test_an_interrupt_ends_the_script_while_it_waits(self):
        self.hold("x")
        with open(self.path("script"), "w", encoding="utf-8") as file:
            file.write("$BATON run x true\necho rea''ched\n")
        self.type("bash script\n")
        self.wait_for_waiters("x")
        self.type("\x03")
        until("it has withdrawn", lambda: not self.status("x")["locks"][0]["waiters"])
        self.type("echo \"code $?\"\n")
        end = self.see(r"code (\d+)")
        self.assertEqual(end[1], "130")
        self.assertNotIn("reached", end.string[:end.start()])

    def test_a_signal_from_elsewhere_is_the_commands_alone(self):
        """The script around the command goes on, because it got no signal."""
        with open(self.path("script"), "w", encoding="utf-8") as file:
            file.write("$BATON run x sh -c 'echo pid $$ $PPID go; exec sleep 1000'\necho rea''ched $?\n")
        self.type("bash script\n")
        found = self.see(r"pid (\d+) (\d+) go")
        command, guardian = int(found[1]), int(found[2])
        until("the command is there", lambda: program_of(command) == "sleep")
        os.kill(stat_of(guardian)[1], signal.SIGINT)
        self.see("reached 130")

    def test_an_interrupt_comes_once(self):
        """Either the command has the terminal, which sends it the signal, or `baton run` forwards the signal."""
        script = "trap \"echo int >> ints\" INT; echo go; while [ ! -s ints ]; do sleep 0.01; done; sleep 0.2; echo end >> ints"
        for behind in ("", " | cat"):
            with self.subTest(behind=behind):
                self.type(f"rm -f ints; trap : INT; $BATON run x sh -c '{script}'{behind}\n")
                self.see("go")
                self.type("\x03")
                until("the command has ended", lambda: "end" in self.text("ints"))
                self.assertEqual(self.text("ints"), "int\nend\n")

    def test_stop_and_go_on(self):
        self.type("$BATON run x sh -c 'echo pid $$ go; read line; echo \"<$line>\"; exit 4'\n")
        command = int(self.see(r"pid (\d+) go")[1])
        until("the command has the terminal", lambda: self.foreground() == command)
        for _ in range(2):
            self.type("\x1a")
            self.see("Stopped")
            self.assertEqual(stat_of(command)[0], "T")
            self.assertEqual(self.foreground(), self.shell)
            # The stopped job still has the lock.
            self.type("$BATON run -n x true; echo \"code $?\"\n")
            self.see("code 75")
            self.type("fg\n")
            until("it goes on in the foreground", lambda: stat_of(command)[0] != "T" and self.foreground() == command)
        self.type("hello\n")
        self.see("<hello>")
        self.type("echo \"code $?\"\n")
        self.see("code 4")

    def test_in_the_background(self):
        self.type("$BATON run x sh -c 'echo go; read line; echo \"<$line>\"' &\n")
        self.see("go")
        # The command reads from a terminal that it does not have, so it is stopped like any job.
        self.type("wait -f; jobs\n")
        self.see("Stopped")
        self.type("fg\n")
        self.type("hello\n")
        self.see("<hello>")
        self.type("$BATON run -n x true; echo \"code $?\"\n")
        self.see("code 0")

    def test_in_a_pipeline(self):
        """The terminal is lent when the command needs it, although another process of the job is there too."""
        self.type("$BATON run x sh -c 'echo go; read line </dev/tty; echo \"<$line>\"' </dev/null | cat; echo \"code $?\"\n")
        self.see("go")
        self.type("hello\n")
        self.see("<hello>")
        self.see("code 0")

    def test_killed(self):
        self.type("$BATON run x sh -c 'echo pid $PPID go; read line'\n")
        guardian = int(self.see(r"pid (\d+) go")[1])
        os.kill(stat_of(guardian)[1], signal.SIGKILL)
        self.see("Killed")
        until("the guardian is gone", lambda: stat_of(guardian) is None)
        self.assertEqual(self.foreground(), self.shell)
        self.type("echo fi''ne\n")
        self.see("fine")


if __name__ == "__main__":
    unittest.main()
