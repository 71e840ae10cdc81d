"""Tests every command of the protocol: its answers and its refusals, in both versions, across nodes."""
import json
import mmap
import os
import socket
import struct
import unittest

from cluster import Cluster, until
from resp import Closed, Push, Wrong, encode

FENCE_MAX = 1 << 53


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(3).start()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.end()

    def setUp(self):
        self.opened = []

    def tearDown(self):
        for client in self.opened:
            client.close()

    def client(self, node=0, version=2):
        client = self.cluster[node].client(version)
        self.opened.append(client)
        return client

    def refused(self, reply, *words):
        self.assertIsInstance(reply, Wrong)
        for word in words:
            self.assertIn(word, reply)

    def waits(self, lock, count=1):
        """Waits until this many clients wait for the lock."""
        until(f"{count} wait for {lock}", lambda: [len(found["waiters"]) for found in
                                                   self.cluster[0].status(lock)["locks"]] == [count])

    # --- LOCK, UNLOCK ---

    def test_lock_gives_fences_that_rise(self):
        last = 0
        for node in (0, 1, 2, 0):
            client = self.client(node)
            fence = client.call("LOCK", "rise")
            self.assertGreater(fence, last)
            self.assertLess(fence, FENCE_MAX)
            self.assertEqual(client.call("UNLOCK", "rise"), 1)
            last = fence

    def test_unlock_of_what_is_not_held_gives_0(self):
        first, second = self.client(), self.client(1)
        self.assertEqual(first.call("UNLOCK", "unheld"), 0)
        fence = first.call("LOCK", "unheld")
        self.assertEqual(second.call("UNLOCK", "unheld"), 0)
        self.assertEqual(first.call("UNLOCK", "unheld", fence + 1), 0)
        self.assertEqual(first.call("UNLOCK", "unheld", fence), 1)
        self.assertEqual(first.call("UNLOCK", "unheld"), 0)

    def test_lock_twice_is_an_error(self):
        client = self.client()
        client.call("LOCK", "twice")
        self.refused(client.call("LOCK", "twice"), "HELD", "holds the lock already")
        self.assertEqual(client.call("PING"), "PONG")

    def test_nowait_is_nil_when_another_is_inside(self):
        holder, other = self.client(0), self.client(1)
        holder.call("LOCK", "nowait")
        self.assertIsNone(other.call("LOCK", "nowait", "NOWAIT"))
        self.assertIsNone(self.client(0).call("lock", "nowait", "nowait"))
        holder.call("UNLOCK", "nowait")
        self.assertGreater(other.call("LOCK", "nowait", "NOWAIT"), 0)

    def test_timeout_is_nil_when_it_passes(self):
        holder, other = self.client(0), self.client(2)
        holder.call("LOCK", "timeout")
        self.assertIsNone(other.call("LOCK", "timeout", "TIMEOUT", 30))
        self.assertIsNone(other.call("LOCK", "timeout", "TIMEOUT", 0))
        other.send("LOCK", "timeout", "TIMEOUT", 50000)
        self.waits("timeout")
        holder.call("UNLOCK", "timeout")
        self.assertGreater(other.read(), 0)

    def test_what_is_wrong_with_lock_is_said(self):
        client = self.client()
        self.refused(client.call("LOCK"), "wrong number of arguments", "LOCK")
        self.refused(client.call("LOCK", "x", "SOON"), "syntax", "NOWAIT | TIMEOUT ms")
        self.refused(client.call("LOCK", "x", "TIMEOUT"), "syntax")
        self.refused(client.call("LOCK", "x", "NOWAIT", "5"), "syntax")
        for wrong in ("-1", "1.5", "", "x", "99999999999999999999"):
            self.refused(client.call("LOCK", "x", "TIMEOUT", wrong), "TIMEOUT needs a whole number")
        self.refused(client.call("LOCK", ""), "NAME", "1 to 255 bytes")
        self.refused(client.call("LOCK", "x" * 256), "NAME", "1 to 255 bytes")
        self.refused(client.call("LOCK", "x", "NOWAIT", "a", "b"), "wrong number of arguments")
        for wrong in ("0", "-5", "x", str(FENCE_MAX), str(FENCE_MAX * 10)):
            for command in ("UNLOCK", "RESIGN", "BREAK"):
                self.refused(client.call(command, "x", wrong), "FENCE a fence is a whole number")

    def test_a_name_may_be_any_bytes(self):
        client = self.client()
        for name in (bytes(range(256))[1:], b"\x00", b"x" * 255, "schlüssel".encode(), b"a\r\nb"):
            self.assertGreater(client.call("LOCK", name), 0)
            self.assertIsNone(self.client(1).call("LOCK", name, "NOWAIT"))
            json.loads(self.client(1).call("STATUS"))
            self.assertEqual(client.call("UNLOCK", name), 1)

    # --- a connection is a session ---

    def test_a_connection_that_closes_gives_back_at_once(self):
        for node in (0, 1):
            holder, other = self.client(0), self.client(node)
            holder.call("LOCK", "gone")
            other.send("LOCK", "gone")
            self.waits("gone")
            holder.close()
            self.assertGreater(other.read(), 0)
            other.call("UNLOCK", "gone")

    def test_a_wait_that_is_given_up_is_withdrawn(self):
        holder, quitter, other = self.client(0), self.client(1), self.client(2)
        holder.call("LOCK", "quit")
        quitter.send("LOCK", "quit")
        self.waits("quit")
        quitter.close()
        other.send("LOCK", "quit")
        holder.call("UNLOCK", "quit")
        self.assertGreater(other.read(), 0)

    def test_commands_behind_a_waiting_lock_wait_too(self):
        holder, other = self.client(0), self.client(1)
        holder.call("LOCK", "behind")
        other.send_bytes(encode("PING", "before") + encode("LOCK", "behind") + encode("PING", "after") +
                         encode("UNLOCK", "behind") + encode("UNLOCK", "behind"))
        self.assertEqual(other.read(), "before")
        self.waits("behind")
        self.assertTrue(other.quiet())
        holder.call("UNLOCK", "behind")
        self.assertGreater(other.read(), 0)
        self.assertEqual([other.read() for _ in range(3)], ["after", 1, 0])

    def test_a_pipeline_is_answered_in_order(self):
        client = self.client()
        count = 2000
        client.send_bytes(b"".join(encode("PING", number) for number in range(count)))
        self.assertEqual([client.read() for _ in range(count)], [str(number) for number in range(count)])

    def test_a_long_pipeline_of_locks_that_come_from_elsewhere(self):
        """Every LOCK waits for a moment, and far more commands follow it than the node keeps."""
        client, rival, count = self.client(0), self.client(1), 25000
        client.send_bytes(b"".join(encode("LOCK", f"elsewhere-{number % 7}") + encode("UNLOCK", f"elsewhere-{number % 7}")
                                   for number in range(count)))
        for number in range(50):
            rival.call("LOCK", f"elsewhere-{number % 7}")
            rival.call("UNLOCK", f"elsewhere-{number % 7}")
        replies = [client.read() for _ in range(2 * count)]
        self.assertEqual(set(replies[1::2]), {1})
        self.assertTrue(all(isinstance(fence, int) and fence > 1 for fence in replies[::2]))

    def test_clients_of_a_node_are_served_in_order(self):
        holder = self.client(0)
        holder.call("LOCK", "order")
        waiters = []
        for number in range(5):
            waiters.append(self.client(0))
            waiters[-1].send("LOCK", "order")
            self.waits("order", number + 1)
        holder.call("UNLOCK", "order")
        for number, waiter in enumerate(waiters):
            self.assertGreater(waiter.read(), 0)
            self.assertTrue(all(later.quiet(0.01) for later in waiters[number + 1:]))
            waiter.call("UNLOCK", "order")

    # --- elections ---

    def test_a_leader_is_known_everywhere(self):
        leader, next_leader = self.client(0), self.client(2)
        self.assertIsNone(self.client(1).call("LEADER", "boss"))
        fence = leader.call("ELECT", "boss", "10.0.0.1:80")
        for node in range(3):
            self.assertEqual(self.client(node).call("LEADER", "boss"), [fence, "n1", "10.0.0.1:80"])
        next_leader.send("ELECT", "boss", b"\xff\x00")
        self.waits("boss")
        self.assertEqual(leader.call("RESIGN", "boss", fence), 1)
        next_fence = next_leader.read()
        self.assertGreater(next_fence, fence)
        self.assertEqual(self.client(1).call("LEADER", "boss"), [next_fence, "n3", b"\xff\x00"])
        self.assertEqual(leader.call("RESIGN", "boss"), 0)

    def test_what_is_wrong_with_elect_is_said(self):
        client = self.client()
        self.refused(client.call("ELECT", "boss2"), "wrong number of arguments")
        self.refused(client.call("ELECT", "boss2", "x" * 4097), "VALUE", "4096 bytes")
        self.assertGreater(client.call("ELECT", "boss2", "x" * 4096), 0)
        self.refused(client.call("LEADER"), "wrong number of arguments")

    # --- events ---

    def test_events_of_the_whole_cluster_come_in_order(self):
        for version in (2, 3):
            with self.subTest(version=version):
                kind = list if version == 2 else Push
                listener, actor = self.client(1, version), self.client(0)
                name = f"events-{version}"
                self.assertEqual(listener.call("SUBSCRIBE", name), kind(["subscribe", name, 1]))
                self.assertEqual(listener.call("PSUBSCRIBE", "event?-*"), kind(["psubscribe", "event?-*", 2]))
                fences = []
                for _ in range(3):
                    fences.append(actor.call("LOCK", name))
                    actor.call("UNLOCK", name)
                fences.append(actor.call("ELECT", name, "me too"))
                actor.call("BREAK", name, fences[-1])
                told = [f"{what} {fence} n1" for fence in fences[:3] for what in ("granted", "released")]
                told += [f"granted {fences[3]} n1", f"leader {fences[3]} n1 me too", f"lost {fences[3]} n1"]
                heard = [listener.read() for _ in range(2 * len(told))]
                self.assertEqual({type(event) for event in heard}, {kind})
                self.assertEqual([event[2] for event in heard if event[0] == "message"], told)
                self.assertEqual([event[3] for event in heard if event[0] == "pmessage"], told)
                self.assertEqual({tuple(event[1:3]) for event in heard if event[0] == "pmessage"},
                                 {("event?-*", name)})

    def test_subscriptions_are_counted_and_undone(self):
        client = self.client()
        client.send("SUBSCRIBE", "a", "b", "a")
        self.assertEqual([client.read() for _ in range(3)],
                         [["subscribe", "a", 1], ["subscribe", "b", 2], ["subscribe", "a", 2]])
        self.assertEqual(client.call("PSUBSCRIBE", "c*"), ["psubscribe", "c*", 3])
        self.assertEqual(client.call("UNSUBSCRIBE", "b"), ["unsubscribe", "b", 2])
        self.assertEqual(client.call("UNSUBSCRIBE", "never"), ["unsubscribe", "never", 2])
        self.assertEqual(client.call("UNSUBSCRIBE"), ["unsubscribe", "a", 1])
        self.assertEqual(client.call("UNSUBSCRIBE"), ["unsubscribe", None, 1])
        self.assertEqual(client.call("PUNSUBSCRIBE"), ["punsubscribe", "c*", 0])
        self.assertEqual(client.call("PUNSUBSCRIBE"), ["punsubscribe", None, 0])
        self.assertEqual(client.call("PING"), "PONG")

    def test_who_listens_in_version_2_only_listens(self):
        client = self.client()
        client.call("SUBSCRIBE", "only")
        self.refused(client.call("LOCK", "only"), "only (P)SUBSCRIBE")
        self.assertEqual(client.call("PING"), ["pong", ""])
        self.assertEqual(client.call("PING", "hi"), ["pong", "hi"])
        client.call("UNSUBSCRIBE")
        self.assertGreater(client.call("LOCK", "only"), 0)

    def test_who_listens_in_version_3_may_do_all(self):
        client = self.client(version=3)
        client.call("SUBSCRIBE", "all")
        client.send("LOCK", "all")
        replies = [client.read(), client.read()]
        fence = next(reply for reply in replies if isinstance(reply, int))
        self.assertIn(Push(["message", "all", f"granted {fence} n1"]), replies)
        self.assertEqual(client.call("PING"), "PONG")

    def test_too_many_subscriptions_are_refused(self):
        client = self.client(version=3)
        client.send_bytes(b"".join(encode("SUBSCRIBE", f"s{number}") for number in range(1025)))
        replies = [client.read() for _ in range(1025)]
        self.assertEqual(replies[1023], Push(["subscribe", "s1023", 1024]))
        self.refused(replies[1024], "SUBSCRIPTIONS", "too many subscriptions")

    # --- STATUS, BREAK ---

    def test_status_tells_holders_and_waiters(self):
        holder, waiter = self.client(0), self.client(1)
        fence = holder.call("LOCK", "told-1")
        waiter.send("LOCK", "told-1")
        self.waits("told-1")
        for node in range(3):
            status = self.cluster[node].status("told-*")
            self.assertEqual(status["node"], f"n{node + 1}")
            self.assertEqual([member["name"] for member in status["members"]], ["n1", "n2", "n3"])
            self.assertEqual({member["state"] for member in status["members"]}, {"active"})
            self.assertEqual((status["silent"], status["waiting_for"]), ([], None))
            lock, = status["locks"]
            self.assertEqual((lock["name"], lock["fence"], lock["holder"]["node"]), ("told-1", fence, "n1"))
            self.assertEqual([found["node"] for found in lock["waiters"]], ["n2"])
            self.assertIn("python", lock["holder"]["command"])
            self.assertEqual(set(status["messages"]["by_type"]), {"REQUEST", "PRIVILEGE", "INITIALIZE"})
        self.assertEqual(self.cluster[0].status("other-*")["locks"], [])

    def test_what_is_wrong_with_status_is_said(self):
        client = self.client()
        self.refused(client.call("STATUS", "x", "COUNT"), "STATUS [pattern [COUNT n]]")
        self.refused(client.call("STATUS", "x", "LIMIT", 3), "STATUS [pattern [COUNT n]]")
        for wrong in ("0", "-1", "x", "4294967296"):
            self.refused(client.call("STATUS", "x", "COUNT", wrong), "COUNT needs a whole number")
        self.assertEqual(json.loads(client.call("STATUS", "x", "COUNT", 1))["locks"], [])

    def test_break_takes_a_lock_away(self):
        holder, waiter, operator = self.client(0, 3), self.client(1), self.client(2)
        fence = holder.call("LOCK", "break")
        waiter.send("LOCK", "break")
        self.waits("break")
        self.assertEqual(operator.call("BREAK", "break", fence + 1), 0)
        self.assertTrue(waiter.quiet())
        self.assertEqual(operator.call("BREAK", "break", fence), 1)
        self.assertGreater(waiter.read(), fence)
        self.assertEqual(holder.call("UNLOCK", "break"), 0)
        self.assertEqual(operator.call("BREAK", "break", fence), 0)
        self.refused(operator.call("BREAK", "break"), "wrong number of arguments")
        for wrong in ("0", "x", "-1"):
            self.refused(operator.call("BREAK", "break", wrong), "fence is a whole number")
        self.cluster[2].says(f"an operator asks to break 'break', fence {fence}")

    # --- commands that clients send when they connect ---

    def test_what_redis_clients_say_first(self):
        client = self.client()
        hello = dict(zip(*[iter(client.call("HELLO"))] * 2))
        self.assertEqual((hello["server"], hello["proto"], hello["modules"]), ("baton", 2, []))
        self.assertEqual(client.call("HELLO", 3)["proto"], 3)
        self.assertEqual(client.call("HELLO", 3, "SETNAME", "me")["proto"], 3)
        self.assertIsNone(client.call("LEADER", "nobody"))
        self.assertEqual(client.call("hello", 2)[5], 2)
        for wrong in ("1", "4", "x"):
            self.refused(client.call("HELLO", wrong), "NOPROTO")
        self.refused(client.call("HELLO", 2, "AUTH", "a", "b"), "no passwords")
        self.refused(client.call("HELLO", 2, "LOUD"), "syntax")
        self.assertEqual(client.call("CLIENT", "SETNAME", "me"), "OK")
        self.assertEqual(client.call("CLIENT", "SETINFO", "lib-name", "me"), "OK")
        self.assertEqual(client.call("CLIENT", "ID"), hello["id"])
        self.refused(client.call("CLIENT", "KILL", "1"), "CLIENT knows")
        self.assertEqual(client.call("PING", "x"), "x")
        self.refused(client.call("PING", "x", "y"), "wrong number of arguments")

    def test_grants_tell_of_the_lease_to_those_who_ask(self):
        client = self.client()
        clock, lease_ms = client.call("CLIENT", "LEASES", "ON")
        self.assertGreater(clock, 0)
        self.assertEqual(lease_ms, 3000)
        fence, lapses, left = client.call("LOCK", "leased")
        self.assertGreater(fence, 0)
        self.assertEqual(client.call("LEASE")[0], lapses)
        self.assertTrue(0 < left <= lease_ms, left)
        self.assertEqual(len(client.call("ELECT", "leased too", "me")), 3)
        self.assertEqual(client.call("CLIENT", "LEASES", "OFF"), "OK")
        self.assertIsInstance(client.call("LOCK", "not leased"), int)
        self.refused(client.call("CLIENT", "LEASES", "MAYBE"), "LEASES")

    def test_losses_have_a_time_for_those_who_ask(self):
        ear, holder = self.client(), self.client()
        self.assertEqual(ear.call("CLIENT", "REASONS", "TIMED"), "OK")
        ear.call("SUBSCRIBE", "timed")
        fence = holder.call("LOCK", "timed")
        before = holder.call("CLIENT", "LEASES", "ON")[0] // 10**6
        self.assertEqual(holder.call("BREAK", "timed", fence), 1)
        after = holder.call("CLIENT", "LEASES", "ON")[0] // 10**6
        self.assertEqual(ear.read()[2].split()[0], "granted")
        words = ear.read()[2].split()
        self.assertEqual((words[:2], words[4]), (["lost", str(fence)], "broken"))
        self.assertTrue(before <= int(words[3]) <= after, (before, words, after))
        self.refused(holder.call("CLIENT", "REASONS", "LATE"), "REASONS")

    def test_who_has_lost_a_lock_is_told_of_no_longer_lease(self):
        """If it were told of a longer lease, a client that did not notice the loss would go on."""
        holder, operator, waiter = self.client(), self.client(), self.client(1)
        self.assertGreater(holder.call("LEASE")[1], 0)
        fence = holder.call("LOCK", "unheard")
        waiter.send("LOCK", "unheard")
        self.waits("unheard")
        self.assertEqual(operator.call("BREAK", "unheard", fence), 1)
        self.assertEqual(holder.call("LEASE")[1], 0)
        self.assertTrue(waiter.quiet())
        self.assertEqual(holder.call("UNLOCK", "unheard"), 0)
        self.assertGreater(waiter.read(), fence)
        self.assertGreater(holder.call("LEASE")[1], 0)

    def test_the_lease_word_is_passed_and_nobody_else_can_write_it(self):
        client = self.client()
        client.send("CLIENT", "LEASES", "WORD")
        data, descriptors, _, _ = socket.recv_fds(client.socket, 1000, 4)
        self.assertTrue(data.startswith(b"*2\r\n:"), data)
        (descriptor,) = descriptors
        try:
            with mmap.mmap(descriptor, 8, prot=mmap.PROT_READ) as page:
                (word,) = struct.unpack("Q", page[:8])
            _, lapses, _ = client.call("LOCK", "by word")
            self.assertEqual(word & 0xffff, lapses)
            with self.assertRaises(PermissionError):
                mmap.mmap(descriptor, 8)
            with self.assertRaises(PermissionError):
                os.write(descriptor, bytes(8))
            with self.assertRaises(PermissionError):
                os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    def test_quit_says_ok_and_ends(self):
        client, other = self.client(), self.client(1)
        client.call("LOCK", "quitted")
        client.send_bytes(encode("QUIT") + encode("PING"))
        self.assertEqual(client.read(), "OK")
        self.assertRaises(Closed, client.read)
        self.assertGreater(other.call("LOCK", "quitted"), 0)

    def test_echo_and_auth(self):
        client = self.client()
        self.assertEqual(client.call("ECHO", b"\x00 any\r\n"), "\x00 any\r\n")
        self.refused(client.call("ECHO"), "wrong number of arguments")
        for words in (("AUTH", "secret"), ("AUTH", "me", "secret"), ("HELLO", 3, "AUTH", "me", "secret")):
            self.refused(client.call(*words), "there are no passwords", "connect without AUTH")
        self.assertEqual(client.call("PING"), "PONG")

    def test_commands_are_told(self):
        for version in (2, 3):
            client = self.client(version=version)
            names = client.call("COMMAND", "LIST")
            self.assertTrue({"lock", "unlock", "elect", "echo", "reset", "command"} <= set(names))
            self.assertEqual(client.call("COMMAND", "COUNT"), len(names))
            rows = client.call("COMMAND")
            self.assertEqual([row[0] for row in rows], names)
            self.assertEqual({len(row) for row in rows}, {10})
            self.assertEqual(client.call("COMMAND", "INFO", "LOCK", "nope", "elect"),
                             [["lock", -2, [], 0, 0, 0, [], [], [], []], None, ["elect", -3, [], 0, 0, 0, [], [], [], []]])
            docs = client.call("COMMAND", "DOCS")
            of_lock = client.call("COMMAND", "DOCS", "nope", "lock")
            if version == 2:
                docs = dict(zip(docs[::2], docs[1::2]))
                of_lock = {of_lock[0]: dict(zip(of_lock[1][::2], of_lock[1][1::2]))}
            self.assertEqual(list(docs), names)
            self.assertIn("name [NOWAIT | TIMEOUT ms]", of_lock["lock"]["summary"])
            self.refused(client.call("COMMAND", "HELP"), "COMMAND knows COUNT, DOCS")

    def test_a_name_is_kept(self):
        client = self.client()
        self.assertIsNone(client.call("CLIENT", "GETNAME"))
        self.assertEqual(client.call("CLIENT", "SETNAME", "me"), "OK")
        self.assertEqual(client.call("client", "getname"), "me")
        for wrong in ("a b", "a\n", "ä"):
            self.refused(client.call("CLIENT", "SETNAME", wrong), "name cannot contain spaces, newlines or special")
        self.refused(client.call("CLIENT", "SETNAME", "x" * 256), "at most 255 bytes")
        self.refused(client.call("HELLO", 3, "SETNAME", "a b"), "name cannot contain spaces")
        self.assertEqual(client.call("CLIENT", "GETNAME"), "me")
        self.assertEqual(client.call("HELLO", 3, "SETNAME", "x" * 255)["proto"], 3)
        self.assertEqual(client.call("CLIENT", "GETNAME"), "x" * 255)
        self.assertEqual(client.call("CLIENT", "SETNAME", ""), "OK")
        self.assertIsNone(client.call("CLIENT", "GETNAME"))
        self.refused(client.call("CLIENT", "GETNAME", "x"), "CLIENT knows GETNAME, GRACE ms, ID, INFO")
        self.refused(client.call("CLIENT", "MAINT_NOTIFICATIONS", "ON", "moving-endpoint-type", "none"), "ERR CLIENT knows")

    def test_client_info_has_the_fields_of_redis(self):
        client = self.client(version=3)
        client.call("CLIENT", "SETNAME", "me")
        self.assertEqual(client.call("CLIENT", "SETINFO", "lib-name", "go-redis(,go1.22)"), "OK")
        self.assertEqual(client.call("CLIENT", "SETINFO", "LIB-VER", "9"), "OK")
        self.refused(client.call("CLIENT", "SETINFO", "lib-name", "a b"), "lib-name cannot contain spaces")
        self.refused(client.call("CLIENT", "SETINFO", "colour", "red"), "CLIENT SETINFO knows LIB-NAME and LIB-VER")
        client.call("SUBSCRIBE", "info-1")
        client.call("SUBSCRIBE", "info-2")
        client.call("PSUBSCRIBE", "info-*")
        line = client.call("CLIENT", "INFO")
        self.assertTrue(line.endswith("\n"))
        info = dict(field.split("=") for field in line[:-1].split(" "))
        self.assertEqual(int(info["id"]), client.call("CLIENT", "ID"))
        self.assertEqual((info["name"], info["sub"], info["psub"], info["resp"]), ("me", "2", "1", "3"))
        self.assertEqual((info["lib-name"], info["lib-ver"]), ("go-redis(,go1.22)", "9"))
        self.assertEqual(info["addr"], self.cluster[0].socket + ":0")
        for number in ("age", "idle", "db", "multi", "qbuf", "qbuf-free", "obl", "argv-mem", "oll", "omem", "tot-mem"):
            int(info[number]) # as redis-py does

    # --- RESET ---

    def test_reset_begins_a_new_session(self):
        """RESET resets what Redis resets. It also releases the locks, because the next user of the connection does not know of
        them."""
        client, other = self.client(0, 3), self.client(1)
        first = client.call("CLIENT", "ID")
        client.call("CLIENT", "SETNAME", "me")
        fence = client.call("LOCK", "reset")
        client.call("ELECT", "reset-boss", "me")
        client.call("SUBSCRIBE", "reset")
        client.call("PSUBSCRIBE", "res*")
        other.send("LOCK", "reset")
        self.waits("reset")
        client.send_bytes(encode("MULTI") + encode("RESET"))
        self.refused(client.read(), "no transactions")
        self.assertEqual(client.read(), "RESET")
        self.assertGreater(other.read(), fence)
        self.assertIsNone(other.call("LEADER", "reset-boss"))
        self.assertIsNone(client.call("CLIENT", "GETNAME"))
        self.assertNotEqual(client.call("CLIENT", "ID"), first)
        self.assertEqual(client.call("HELLO")[5], 2)
        self.assertEqual(other.call("UNLOCK", "reset"), 1)
        self.assertTrue(client.quiet()) # the client gets no more events
        self.assertGreater(client.call("LOCK", "reset"), fence)
        self.assertEqual(client.call("SUBSCRIBE", "reset"), ["subscribe", "reset", 1])
        self.refused(client.call("LOCK", "x"), "QUIT / RESET are allowed")
        self.assertEqual(client.call("RESET"), "RESET") # RESET also works on a connection that has subscriptions
        self.assertEqual(client.call("UNLOCK", "reset"), 0)
        self.refused(client.call("RESET", "x"), "wrong number of arguments")
        self.assertEqual(self.cluster[0].status("reset*")["locks"], [])

    def test_reset_forgets_grace(self):
        """A client that has not asked for a grace since RESET loses a broken lock immediately."""
        client, other = self.client(0, 3), self.client(1)
        client.call("CLIENT", "GRACE", 1000)
        self.assertEqual(client.call("RESET"), "RESET")
        fence = client.call("LOCK", "grace")
        self.assertEqual(other.call("BREAK", "grace", fence), 1)
        self.assertGreater(other.call("LOCK", "grace", "NOWAIT"), fence)
        self.assertEqual(client.call("PING"), "PONG") # nobody has waited for this client to stop

    def test_many_resets(self):
        client = self.client()
        count = 2000
        client.send_bytes((encode("LOCK", "again") + encode("RESET")) * count)
        replies = [client.read() for _ in range(2 * count)]
        self.assertEqual(set(replies[1::2]), {"RESET"})
        self.assertEqual(replies[::2], sorted(set(replies[::2])))
        self.assertEqual(self.client(1).call("UNLOCK", "again"), 0)

    # --- MULTI ---

    def test_what_follows_a_refused_multi_does_nothing(self):
        client, other = self.client(), self.client(1)
        client.call("LOCK", "multi-held")
        client.send_bytes(b"".join(encode(*words) for words in (
            ("MULTI",), ("LOCK", "multi"), ("UNLOCK", "multi-held"), ("PING",), ("SET", "a", "b"), ("multi",), ("exec",),
            ("PING",))))
        self.refused(client.read(), "there are no transactions", "refused", "EXEC or DISCARD")
        for name in ("LOCK", "UNLOCK", "PING", "SET"):
            self.refused(client.read(), f"'{name}' is refused, because it follows a MULTI that was refused")
        self.refused(client.read(), "there are no transactions")
        self.refused(client.read(), "EXECABORT", "nothing was done")
        self.assertEqual(client.read(), "PONG") # the transaction is over
        self.assertGreater(other.call("LOCK", "multi", "NOWAIT"), 0)
        self.assertIsNone(other.call("LOCK", "multi-held", "NOWAIT"))

    def test_discard_and_reset_end_a_refused_multi(self):
        client = self.client()
        self.refused(client.call("EXEC"), "EXEC without MULTI")
        self.refused(client.call("DISCARD"), "DISCARD without MULTI")
        for end, reply in (("DISCARD", "OK"), ("RESET", "RESET")):
            self.refused(client.call("MULTI"), "no transactions")
            self.refused(client.call("HELLO", 3), "follows a MULTI")
            self.assertEqual(client.call(end), reply)
            self.assertEqual(client.call("PING"), "PONG")
            self.refused(client.call("EXEC"), "EXEC without MULTI")
        client.call("MULTI")
        self.assertEqual(client.call("QUIT"), "OK")

    def test_a_listener_cannot_do_half_a_transaction_either(self):
        client, other = self.client(), self.client(1)
        client.call("SUBSCRIBE", "multi-heard")
        self.refused(client.call("MULTI", "with", "more"), "no transactions")
        self.refused(client.call("UNSUBSCRIBE"), "follows a MULTI")
        self.refused(client.call("LOCK", "multi-lock"), "follows a MULTI")
        self.refused(client.call("EXEC"), "EXECABORT")
        self.assertEqual(client.call("UNSUBSCRIBE"), ["unsubscribe", "multi-heard", 0])
        self.assertGreater(other.call("LOCK", "multi-lock", "NOWAIT"), 0)

    def test_an_unknown_command_is_an_error_and_nothing_more(self):
        client = self.client()
        self.refused(client.call("SET", "a", "b"), "unknown command 'SET'")
        self.refused(client.call("\r\n\x1b[2J" + "x" * 1000), "unknown command")
        self.refused(client.call(""), "unknown command ''")
        self.assertEqual(client.call("PING"), "PONG")


if __name__ == "__main__":
    unittest.main()
