"""Tests baton lock, elect, observe and break."""
import json
import os
import signal
import subprocess
import unittest

from baton import BATON
from cluster import until
from resp import Client
from running import PATIENCE
from service import ServiceTest, is_alive


class Lock(ServiceTest):
    def open_input(self):
        """Returns a standard input that stays open until the test ends."""
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        self.addCleanup(os.close, write)
        return read

    def lock_and_leave(self, *words):
        """Acts like a program that reads the fence and then ends the input. Returns (exit code, stdout, stderr)."""
        holder = self.start("lock", *words, stdin=subprocess.PIPE)
        first = holder.stdout.readline()
        code, rest, err = self.finish(holder)
        return code, first + rest, err

    def test_exit_codes(self):
        for words, code, says in [
                (["x"], 0, ""), (["-n", "x"], 0, ""), (["x", "-w", "60s"], 0, ""), (["--json", "x"], 0, ""),
                (["-x", "-w", "60.5", "x"], 0, ""), (["-e", "--timeout", "60", "--exclusive", "x"], 0, ""),
                (["--verbose", "x"], 0, "'x' is held (fence"),
                (["-s", "x"], 64, "there are no shared locks"), (["-u", "x"], 64, "'baton break' takes a lock"),
                (["-o", "x"], 64, "unknown option '-o'"), (["-F", "x"], 64, "unknown option '-F'"),
                ([], 64, "a lock is needed"), (["x", "y"], 64, "unexpected 'y'"), ([""], 64, "1 to 255 bytes"),
                (["--fence", "x"], 64, "unknown option '--fence'"), (["-E", "x", "x"], 64, "-E"),
                (["-S", "/nowhere", "x"], 69, "no node at /nowhere")]:
            with self.subTest(words=words):
                got, out, err = self.lock_and_leave(*words)
                self.assertEqual(got, code, err)
                self.assertEqual(out != "", code == 0)
                self.assertIn(says, err)

    def test_holds_until_its_input_ends(self):
        holder = self.hold("x")
        for words, code in [(["-n"], 75), (["-w", "1ms"], 75), (["-n", "-E", "0"], 0), (["-n", "-E", "4"], 4)]:
            self.assertEqual(self.run_baton("lock", *words, "x", stdin=self.open_input()), (code, "", ""))
        self.assertIn("'x' is not free", self.run_baton("lock", "-n", "--verbose", "x", stdin=self.open_input())[2])
        holder.stdin.write("this does not matter\n")
        holder.stdin.flush()
        self.assertEqual(self.run_baton("lock", "-n", "x", stdin=self.open_input())[0], 75)
        self.let_go(holder)
        code, out, _ = self.lock_and_leave("-n", "x", "--json")
        answer = json.loads(out)
        self.assertEqual((code, list(answer), answer["name"], answer["node"]), (0, ["name", "fence", "node"], "x", "alpha"))
        self.assertGreater(answer["fence"], holder.fence)

    def test_input_that_cannot_stay_open_is_refused(self):
        """The lock would be released at once, and a script would believe that it holds it. The
        command does not even ask for the lock, so it does not wait."""
        self.hold("x")
        with open(self.path("file"), "w+", encoding="utf-8") as file:
            file.write("line\n" * 10000)
            file.seek(0)
            folder = os.open("/", os.O_RDONLY)
            self.addCleanup(os.close, folder)
            for name, options, says in [("null", {"stdin": subprocess.DEVNULL}, "is /dev/null"), ("file", {"stdin": file}, "is a file"),
                                        ("folder", {"stdin": folder}, "is a directory"),
                                        ("closed", {"stdin": None, "preexec_fn": lambda: os.close(0)}, "is closed")]:
                for lock in ("x", "free"):
                    with self.subTest(name=name, lock=lock):
                        code, out, err = self.run_baton("lock", lock, **options)
                        self.assertEqual((code, out), (64, ""))
                        self.assertIn(f"standard input {says}", err)
                        self.assertIn("the lock would be released at once: give it a pipe or a terminal, or use 'baton run", err)

    def test_input_that_has_ended_before_it_is_held(self):
        """The input ended at the start, or while the command waited. Then the command holds nothing, says so, and prints no
        fence."""
        for written in ("", "something\n"):
            with self.subTest(written=written):
                holder = self.hold("x")
                waiter = self.start("lock", "x", stdin=subprocess.PIPE)
                self.wait_for_waiters("x")
                waiter.stdin.write(written)
                waiter.stdin.close()
                waiter.stdin = None
                self.let_go(holder)
                code, out, err = self.finish(waiter)
                self.assertEqual((code, out), (74, ""))
                self.assertIn("standard input ended before 'x' was held: nothing is held", err)
                self.assertEqual(self.run_baton("run", "-n", "x", "true")[0], 0)

    def test_holds_until_it_is_signalled(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            holder = self.hold("x")
            holder.send_signal(number)
            self.assertEqual(holder.wait(PATIENCE), 0)
            self.assertEqual(self.run_baton("run", "-n", "x", "true")[0], 0)

    def test_withdraws(self):
        self.hold("x")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            waiter = self.start("lock", "x", stdin=subprocess.PIPE)
            self.wait_for_waiters("x")
            waiter.send_signal(number)
            self.assertEqual(waiter.wait(PATIENCE), -number)

    def test_is_free_when_it_is_killed(self):
        holder = self.hold("x")
        waiter = self.start("lock", "x", stdin=subprocess.PIPE)
        self.wait_for_waiters("x")
        holder.kill()
        self.assertGreater(int(waiter.stdout.readline()), holder.fence)

    def test_loses(self):
        for how in ("broken", "killed"):
            holder = self.hold("x")
            if how == "broken":
                self.assertEqual(self.run_baton("break", "x", "--fence", str(holder.fence))[0], 0)
            else:
                self.node.stop(signal.SIGKILL)
            self.assertEqual(holder.wait(PATIENCE), 76)
            self.assertIn("'x' was lost", holder.stderr.read())

    def test_output_that_nobody_can_take(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            code, _, err = self.run_baton("lock", "x", stdin=self.open_input(), stdout=full)
        self.assertEqual(code, 74)
        self.assertIn("No space left", err)


class Break(ServiceTest):
    def test_table(self):
        holder = self.hold("x")
        for words, code, says in [
                (["x", "--fence", "1"], 1, "nobody holds 'x' with fence 1"),
                (["y", "--fence", str(holder.fence)], 1, "nobody holds 'y'"),
                (["x"], 2, "--fence is needed"), (["--fence", "1"], 2, "one lock is needed"), ([], 2, "one lock is needed"),
                (["x", "--fence", "0"], 2, "--fence"), (["x", "--fence", str(2 ** 53)], 2, "--fence"),
                (["x", "--fence", "-1"], 2, "--fence"), (["", "--fence", "1"], 2, "1 to 255 bytes"),
                (["x", "--fence", "1", "-S", "/nowhere"], 69, "no node")]:
            with self.subTest(words=words):
                got, out, err = self.run_baton("break", *words)
                self.assertEqual((got, out), (code, ""), err)
                self.assertIn(says, err)
        self.assertIsNone(holder.poll())
        code, out, _ = self.run_baton("break", "--json", "--fence", str(holder.fence), "x")
        self.assertEqual((code, json.loads(out)), (0, {"name": "x", "fence": holder.fence, "broken": True, "gone": True}))
        self.assertEqual(holder.wait(PATIENCE), 76)
        self.assertEqual(self.run_baton("break", "--fence", str(holder.fence), "x")[0], 1)

    def test_the_next_gets_it(self):
        holder = self.hold("x")
        waiter = self.start("lock", "x", stdin=subprocess.PIPE)
        self.wait_for_waiters("x")
        self.run_baton("break", "--fence", str(holder.fence), "x")
        self.assertGreater(int(waiter.stdout.readline()), holder.fence)


class Elections(ServiceTest):
    def lead(self, value, **options):
        leader = self.start("elect", "job", value, stdin=subprocess.PIPE, **options)
        leader.fence = int(leader.stdout.readline())
        return leader

    def test_exit_codes(self):
        for words, code, says in [
                (["job", "v", "--", "sh", "-c", "exit 7"], 7, ""), (["job", "", "--", "true"], 0, ""),
                (["job", "v", "--", "./nonesuch"], 127, "No such file"), (["-w", "60s", "job", "v", "--", "false"], 1, ""),
                (["--grace", "0", "job", "v", "--", "echo", "--", "-x"], 0, ""),
                (["--timeout", "60", "job", "v", "--", "sh", "-c", "kill -INT $$"], -signal.SIGINT, ""),
                ([], 64, "a name and a value are needed"), (["job"], 64, "a name and a value are needed"),
                (["job", "v", "w"], 64, "unexpected 'w': '--' goes before a command"),
                (["job", "v", "--"], 64, "a command is needed after '--'"),
                (["job", "--", "true"], 64, "a name and a value are needed"),
                (["--json", "job", "v", "--", "true"], 64, "--json"), (["-n", "job", "v"], 64, "unknown option '-n'"),
                (["-w", "0", "job", "v"], 64, "-w 0"), (["job", "v" * 4097], 64, "at most 4096 bytes"),
                (["--grace", "1h", "job", "v", "--", "true"], 64, "does not fit the lease"),
                (["-S", "/nowhere", "job", "v"], 69, "no node")]:
            with self.subTest(words=words):
                got, _, err = self.run_baton("elect", *words)
                self.assertEqual(got, code, err)
                self.assertIn(says, err)

    def test_a_command_that_leads(self):
        os.mkfifo(self.path("seen"))
        script = f'echo "$BATON_LOCK $BATON_NODE"; {BATON} observe job >"$0" & read -r line <"$0"; echo "$line"; kill $!'
        code, out, _ = self.run_baton("elect", "job", "here", "--", "sh", "-c", script, self.path("seen"))
        name, leader = out.splitlines()
        self.assertEqual((code, name), (0, "job alpha"))
        self.assertRegex(leader, r"^\d+ alpha here$")

    def test_not_elected_in_time(self):
        self.lead("first")
        for words, says in [([], ""), (["--verbose"], "baton elect: 'job' was not free within 10 ms\n")]:
            self.assertEqual(self.run_baton("elect", "-w", ".01", "-E", "5", *words, "job", "second", "--", "true"), (5, "", says))

    def test_a_node_that_hangs_cannot_say_who_leads(self):
        self.lead("first")
        campaign = self.start("elect", "-w", "5s", "-E", "5", "job", "second") # long enough to stop the node meanwhile
        self.wait_for_waiters("job")
        self.node.process.send_signal(signal.SIGSTOP)
        try:
            code, out, err = self.finish(campaign)
        finally:
            self.node.process.send_signal(signal.SIGCONT)
        self.assertEqual((code, out), (69, ""), err)
        self.assertIn("the node does not answer", err)

    def test_who_was_not_elected_in_time_may_campaign_again(self):
        leader = self.lead("first")
        with Client(self.node.socket) as client:
            self.assertIsNone(client.call("ELECT", "job", "second", "TIMEOUT", 1))
            self.assertIsNone(client.call("ELECT", "job", "second", "NOWAIT"))
            self.assertIn("syntax error: ELECT name value [NOWAIT | TIMEOUT ms]", str(client.call("ELECT", "job", "second", "SOON")))
            leader.stdin.close()
            self.assertEqual(leader.wait(PATIENCE), 0)
            fence = client.call("ELECT", "job", "third", "TIMEOUT", 60000)
            self.assertGreater(fence, leader.fence)
            self.assertEqual(client.call("LEADER", "job"), [fence, "alpha", "third"])

    def test_observers_see_every_leader_in_order(self):
        """The leader resigns, is killed, is terminated or is broken. The next one leads at once."""
        observers = [self.start("observe", "job"), self.start("observe", "--json", "job"), self.start("observe", "-a", "job")]
        ways = [lambda leader: leader.stdin.close(), lambda leader: leader.kill(), lambda leader: leader.terminate(),
                lambda leader: self.run_baton("break", "job", "--fence", str(leader.fence)), lambda leader: leader.kill()]
        codes = [0, -9, 0, 76, -9]
        leader, seen = self.lead("value 0"), []
        first = [observer.stdout.readline() for observer in observers] # all observers are watching from now on
        for number, (way, code) in enumerate(zip(ways, codes), 1):
            value = f"value {number}"
            heir = self.start("elect", "job", value, stdin=subprocess.PIPE)
            self.wait_for_waiters("job")
            seen.append((leader.fence, f"value {number - 1}"))
            way(leader)
            self.assertEqual(leader.wait(PATIENCE), code)
            heir.fence = int(heir.stdout.readline())
            self.assertGreater(heir.fence, leader.fence)
            leader = heir
        lines = [first[0], *(observers[0].stdout.readline() for _ in seen[1:])]
        self.assertEqual(lines, [f"{fence} alpha {value}\n" for fence, value in seen])
        lines = [json.loads(line) for line in (first[1], *(observers[1].stdout.readline() for _ in seen[1:]))]
        self.assertEqual(lines, [{"fence": fence, "node": "alpha", "value": value, "silent": False} for fence, value in seen])
        lines = [first[2], *(observers[2].stdout.readline() for _ in range(2 * len(seen) - 1))]
        self.assertEqual(lines, [f"{what} {fence} alpha {value}\n" for fence, value in seen for what in ("leads", "ended")])

    def test_who_leads_already_is_told_first(self):
        leader = self.lead("tab\there, line\nthere")
        observer = self.start("observe", "job")
        self.assertEqual(observer.stdout.readline(), f"{leader.fence} alpha tab\\x09here, line\\x0athere\n")
        observer = self.start("observe", "job", "--json")
        self.assertEqual(json.loads(observer.stdout.readline())["value"], "tab\there, line\nthere")

    def test_observe_ends_with_the_node(self):
        observer = self.start("observe", "job")
        leader = self.lead("here")
        self.assertEqual(observer.stdout.readline(), f"{leader.fence} alpha here\n")
        self.node.stop()
        self.assertEqual(observer.wait(PATIENCE), 69)
        self.assertEqual(leader.wait(PATIENCE), 76)

    def test_observe_exit_codes(self):
        for words, code, says in [([], 2, "one name is needed"), (["a", "b"], 2, "one name"), ([""], 2, "1 to 255 bytes"),
                                  (["-x", "a"], 2, "unknown option '-x'"), (["-S", "/nowhere", "a"], 69, "no node")]:
            with self.subTest(words=words):
                got, out, err = self.run_baton("observe", *words)
                self.assertEqual((got, out), (code, ""), err)
                self.assertIn(says, err)

    def test_input_that_cannot_end_is_no_reason_to_resign(self):
        leader = self.start("elect", "job", "v", stdin=subprocess.DEVNULL)
        fence = int(leader.stdout.readline())
        self.assertEqual(self.status("job")["locks"][0]["fence"], fence)
        leader.terminate()
        self.assertEqual(leader.wait(PATIENCE), 0)

    def test_the_guardian_of_a_leader(self):
        leader = self.start("elect", "job", "v", "--", "sh", "-c", "echo $$; sleep 1000")
        command = int(leader.stdout.readline())
        leader.kill()
        until("the command is gone", lambda: not is_alive(command))
        self.assertEqual(self.run_baton("elect", "-w", "1m", "job", "w", "--", "true")[0], 0)


class Help(unittest.TestCase):
    def test_within_80_columns_with_an_example(self):
        for command in ("run", "lock", "elect", "observe", "break", "help"):
            for words in ([command, "--help"], [command, "-h"], ["help", command]):
                done = subprocess.run([BATON, *words], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("example", done.stdout)
                self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 80)


if __name__ == "__main__":
    unittest.main()
