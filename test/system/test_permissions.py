"""Tests rules: every verb by every kind of client, what each client is shown, and how rules are read and read again."""
import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import tempfile
import unittest

import documents
from baton import BATON
from certificates import Certificates
from cluster import Cluster, free_port, until
from resp import Client, Wrong
from running import PATIENCE, Node

ROOT = os.geteuid() == 0
ME = os.geteuid()
VERBS = ("lock", "elect", "observe", "status", "break", "admin")


@contextlib.contextmanager
def user(uid, gids=()):
    """Connections that are made meanwhile belong to this user, who has these supplementary groups."""
    before = os.getgroups()
    os.setgroups(gids)
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(before)


def is_refused(reply):
    return isinstance(reply, Wrong) and reply.startswith("NOPERM ")


def attempt(client, verb, name):
    """Does something that needs the verb. Returns the reply."""
    if verb == "lock":
        reply = client.call("LOCK", name, "NOWAIT")
        client.call("UNLOCK", name)
        return reply
    if verb == "elect":
        reply = client.call("ELECT", name, "value")
        client.call("RESIGN", name)
        return reply
    return client.call(*{"observe": ("LEADER", name), "break": ("BREAK", name, 1), "status": ("STATUS", name),
                         "admin": ("MEMBER", "REMOVE", "nobody")}[verb])


class Nodes(unittest.TestCase):
    def node(self, *rules, config=None, more=()):
        words = [word for rule in rules for word in ("--allow", rule)]
        node = Node(*words, *(("--config", config) if config else ()), *more)
        os.chmod(node.folder, 0o755)
        return self.enterContext(node)

    def client(self, node, uid=None, gids=()):
        if uid in (None, ME):
            return self.enterContext(Client(node.socket))
        with user(uid, gids):
            return self.enterContext(Client(node.socket))

    def baton(self, node, *words):
        done = subprocess.run([BATON, *words], env=node.environment, capture_output=True, text=True, timeout=PATIENCE, check=False,
                              input="")
        return done.returncode, done.stdout, done.stderr


class Table(Nodes):
    def test_every_verb_by_everybody(self):
        port = free_port()
        node = self.node(f"backup/* lock uid:{ME}", f"backup/* observe,status uid:{ME}", "web/* elect anyone", "web/a* observe anyone",
                         "backup/* lock,break uid:61001", "backup/db status uid:61001", "web/* lock,break gid:61500", "* admin uid:61002",
                         "* status gid:61501", more=("--clients", f"127.0.0.1:{port}"))
        allowed = {
            "me": {"backup/db": "lock observe status", "backup/x": "lock observe status", "web/a": "elect observe", "web/b": "elect",
                   "other": ""},
            "tcp": {"backup/db": "", "backup/x": "", "web/a": "elect observe", "web/b": "elect", "other": ""},
        }
        clients = {"me": self.client(node), "tcp": self.enterContext(Client(("127.0.0.1", port)))}
        if ROOT:
            clients |= {"alice": self.client(node, 61001), "carol": self.client(node, 61002, [61501]),
                        "group": self.client(node, 61003, [7, 61500]), "primary": self.client(node, 61500),
                        "stranger": self.client(node, 61004, [1, 2, 3])}
            group = {"backup/db": "", "backup/x": "", "web/a": "lock elect observe break", "web/b": "lock elect break", "other": ""}
            allowed |= {
                "alice": {"backup/db": "lock status break", "backup/x": "lock break", "web/a": "elect observe", "web/b": "elect",
                          "other": ""},
                "carol": {"backup/db": "status admin", "backup/x": "status admin", "web/a": "elect observe status admin",
                          "web/b": "elect status admin", "other": "status admin"},
                "group": group, "primary": group, "stranger": allowed["tcp"],
            }
        tried = 0
        for who, client in clients.items():
            everywhere = {verb for verbs in allowed[who].values() for verb in verbs.split()}
            for name, verbs in allowed[who].items():
                self.assertEqual(json.loads(client.call("CAN", name)), {"verbs": verbs.split(), "rules": True}, (who, name))
                for verb in VERBS:
                    with self.subTest(who=who, name=name, verb=verb):
                        reply = attempt(client, verb, name)
                        # A STATUS that lists no locks is for everybody who may see some lock.
                        may = verb in (everywhere if verb == "status" else verbs.split())
                        self.assertEqual(is_refused(reply), not may, reply)
                        tried += 1
        self.assertEqual(tried, len(clients) * 5 * 6)

    def test_a_refusal_names_the_rule_that_is_missing(self):
        node = self.node("x lock uid:61009")
        client = self.client(node)
        for words, rule in ((("LOCK", "a b*"), "a\\ b\\* lock"), (("ELECT", "x", "v"), "x elect"), (("LEADER", "x"), "x observe"),
                            (("SUBSCRIBE", "x"), "x observe"), (("PSUBSCRIBE", "x*"), "x* observe"), (("STATUS",), "* status"),
                            (("STATUS", "y*", "COUNT", "1"), "y* status"),
                            (("BREAK", "x", "1"), "x break"), (("MEMBER", "LIST"), "* status"), (("MEMBER", "REMOVE", "n1"), "* admin"),
                            (("MEMBER", "INVITE", "n1"), "* admin"), (("MEMBER", "PROMOTE", "n1"), "* admin"),
                            (("MEMBER", "DEMOTE", "n1"), "* admin"), (("DRAIN",), "* admin")):
            with self.subTest(words=words):
                self.assertEqual(client.call(*words), f"NOPERM not permitted: this rule is missing: allow {rule} uid:{ME}")
        # Commands that concern nobody else need no rule, and neither does giving a lock back.
        for words in (("PING",), ("HELLO", "2"), ("WHOAMI",), ("CAN", "x"), ("READY",), ("LEASE",), ("CLIENT", "ID"), ("INFO",), ("COMMAND",),
                      ("UNLOCK", "x"), ("RESIGN", "x"), ("UNSUBSCRIBE",), ("RESET",)):
            self.assertFalse(is_refused(client.call(*words)), words)
        self.assertIn("this rule is missing: allow a\\ b\\* lock", node.log())

    def test_a_refusal_without_a_rule_that_can_be_printed(self):
        client = self.client(self.node("x lock uid:61009"))
        for words in (("LOCK", "a\nb"), ("LOCK", "*" * 128), ("ELECT", "\x9b", "v"), ("STATUS", "[ -z]")):
            self.assertRegex(client.call(*words), r"^NOPERM not permitted: a rule for '(lock|elect|status)' is missing. It cannot be printed, because ")
        # For a text that cannot be a name, the refusal says so.
        for name in ("", "a" * 256):
            for words in (("LOCK", name), ("ELECT", name, "v"), ("LEADER", name), ("SUBSCRIBE", name), ("PSUBSCRIBE", name), ("BREAK", name, "1"),
                          ("STATUS", name), ("CAN", name)):
                with self.subTest(words=words):
                    self.assertEqual(client.call(*words), "NAME a name or pattern has 1 to 255 bytes")

    def test_info_has_what_was_counted_for_those_who_may_see_a_status(self):
        for rule, counted, all_locks in (("x lock anyone", False, False), ("x status anyone", True, False), ("* status anyone", True, True)):
            text = self.client(self.node(rule)).call("INFO")
            self.assertIn("redis_mode:standalone", text)
            self.assertEqual("connected_clients" in text, counted)
            for word in ("locks_held", "waiters", "grants_here", "messages_sent", "control_sent", "hold:"):
                self.assertEqual(word in text, all_locks, word)

    def test_commands_end_with_77(self):
        node = self.node(f"mine lock uid:{ME}")
        for words in (("run", "x", "true"), ("run", "-n", "x", "true"), ("run", "-w", "1s", "x", "true"), ("lock", "x"),
                      ("elect", "x", "v", "--", "true"), ("elect", "mine", "v"), ("observe", "mine"), ("status",), ("status", "--json"),
                      ("break", "mine", "--fence", "1"), ("drain",), ("member", "list"), ("member", "remove", "n1"), ("member", "remove", "n1", "--json"),
                      ("member", "invite", "n1", "--json"), ("member", "promote", "n1"), ("member", "demote", "n1")):
            with self.subTest(words=words):
                code, out, err = self.baton(node, *words)
                self.assertEqual((code, out), (77, ""), err)
                self.assertRegex(err, rf"^baton {words[0]}: .*this rule is missing: allow \S+ \w+ uid:{ME}\n$")
                if words[0] == "member":
                    self.assertIn(f"allow * {'status' if words[1] == 'list' else 'admin'} uid", err)
        for words, verb in ((("run", "x", "true"), "lock"), (("observe", "x"), "observe"), (("elect", "x", "v", "--", "true"), "elect")):
            self.assertIn(f"this rule is missing: allow x {verb} uid:{ME}\n", self.baton(node, *words)[2])
        self.assertEqual(self.baton(node, "run", "mine", "true"), (0, "", ""))
        # A health check may see nothing else.
        self.assertEqual(self.baton(node, "status", "--ready"), (0, "", ""))

    def test_can_and_whoami(self):
        node = self.node(f"mine lock,observe uid:{ME}")
        self.assertEqual(self.baton(node, "can", "mine"), (0, "lock\nobserve\n", ""))
        self.assertEqual(self.baton(node, "can", "x"), (77, "", "baton can: no rule allows you anything with 'x'\n"))
        code, out, _ = self.baton(node, "can", "x", "--json")
        self.assertEqual((code, json.loads(out)), (77, {"lock": "x", "verbs": [], "rules": True}))
        code, out, _ = self.baton(node, "whoami", "--json")
        self.assertEqual((code, json.loads(out)), (0, {"node": "n1", "transport": "unix", "uid": ME, "certificate": None, "rules": True,
                                                       "gids": [os.getegid(), *os.getgroups()]}))
        code, out, _ = self.baton(node, "whoami")
        self.assertEqual(code, 0)
        self.assertRegex(out, rf"^uid {ME} .*group.*\nn1 has rules: ")
        free = self.enterContext(Node("--clients", f"127.0.0.1:{(port := free_port())}"))
        self.assertEqual(self.baton(free, "can", "x"), (0, "".join(f"{verb}\n" for verb in VERBS), ""))
        code, out, _ = self.baton(free, "whoami", "-S", f"127.0.0.1:{port}")
        self.assertEqual((code, out), (0, "a client over TCP without a certificate\nn1 has no rules: everybody may do everything\n"))
        for words, text in ((("can",), "one lock is needed: baton can LOCK"), (("can", "a", "b"), "unexpected 'b'"),
                            (("whoami", "a"), "unexpected 'a'"), (("can", "x" * 256), "1 to 255 bytes")):
            code, out, err = self.baton(node, *words)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(text, err)


class Certified(Nodes):
    """Clients over TCP with TLS are known by the names in their certificates."""

    def test_every_verb_by_certificate(self):
        with tempfile.TemporaryDirectory(prefix="baton-test-") as folder:
            certificates = Certificates(os.path.join(folder, "pki"))
            port = free_port()
            node = self.node("backup/* lock,observe cert:ci-*", "backup/* break cert:ci-7", "web/* elect,status cert:deploy", "* admin cert:ops",
                             "web/a observe anyone", more=("--name", "n1", "--clients", f"127.0.0.1:{port}", *certificates.options("n1")))
            allowed = {
                "ci-7": {"backup/db": "lock observe break", "web/a": "observe", "other": ""},
                "ci-8": {"backup/db": "lock observe", "web/a": "observe", "other": ""},
                "ci": {"backup/db": "", "web/a": "observe", "other": ""},
                "deploy": {"backup/db": "", "web/a": "elect observe status", "other": ""},
                "ops": {"backup/db": "admin", "web/a": "observe admin", "other": "admin"},
            }
            clients = {}
            for who, names in allowed.items():
                clients[who] = client = self.enterContext(self.secure(certificates, port, who))
                self.assertEqual(json.loads(client.call("WHOAMI"))["certificate"], who)
                everywhere = {verb for verbs in names.values() for verb in verbs.split()}
                for name, verbs in names.items():
                    for verb in VERBS:
                        with self.subTest(who=who, name=name, verb=verb):
                            reply = attempt(client, verb, name)
                            may = verb in (everywhere if verb == "status" else verbs.split())
                            self.assertEqual(is_refused(reply), not may, reply)
            self.assertEqual(clients["ci-8"].call("BREAK", "backup/db", 1),
                             "NOPERM not permitted: this rule is missing: allow backup/db break cert:ci-8")
            # The rule that is missing names this certificate and no other.
            for name, pattern in (("*", "\\*"), ("c[i]-?", "c\\[i\\]-\\?"), ("c" * 200, "c" * 200)):
                pair = certificates.odd(f"odd-{len(name)}", name[:64], uri=f"baton:client:{name[64:]}", usage="clientAuth")
                odd = self.enterContext(Client(("127.0.0.1", port), wrap=certificates.context(pair).wrap_socket))
                self.assertEqual(odd.call("LOCK", "other"), f"NOPERM not permitted: this rule is missing: allow other lock cert:{pattern}")
            # A node's certificate does not serve a client. A new name counts from the next connection on.
            with self.secure(certificates, port, "n2", role="node") as peer:
                self.assertIsInstance(peer.read(), Wrong)
            self.assertTrue(is_refused(clients["ci"].call("LOCK", "backup/db", "NOWAIT")))
            with self.secure(certificates, port, "ci-9") as renamed:
                self.assertFalse(is_refused(renamed.call("LOCK", "backup/db", "NOWAIT")))

    def test_the_log_says_who_gave_an_order(self):
        with tempfile.TemporaryDirectory(prefix="baton-test-") as folder:
            certificates = Certificates(os.path.join(folder, "pki"))
            port = free_port()
            node = self.node("* lock,break,admin anyone", more=("--name", "n1", "--clients", f"127.0.0.1:{port}", *certificates.options("n1"),
                                                                "--listen", f"127.0.0.1:{free_port()}", "--data", os.path.join(folder, "data")))
            local, remote = self.client(node), self.enterContext(self.secure(certificates, port, "ops"))
            fences = [local.call("LOCK", name) for name in ("x", "x2", "held")]
            for client, who, name, fence in ((local, f"uid {ME}, pid {os.getpid()}, ", "x", fences[0]),
                                             (remote, "certificate 'ops', tcp 127.0.0.1:", "x2", fences[1])):
                self.assertEqual(client.call("BREAK", name, fence), 1)
                client.call("MEMBER", "REMOVE", "ghost")
                client.call("MEMBER", "INVITE")
                client.call("DRAIN", 60000)
                for order in (f"asks to break '{name}', fence {fence}: {who}", f"a client ({who}", ") removes ghost", ") makes an invitation",
                              ") drains this node"):
                    self.assertIn(order, node.log())
                self.assertEqual(node.log().count(f"a client ({who}"), 3)
            self.assertNotIn("4294967295", node.log())

    def secure(self, certificates, port, name, role="client"):
        return Client(("127.0.0.1", port), wrap=certificates.context(certificates.make(role, name)).wrap_socket)


class Shown(Nodes):
    """STATUS and events contain only what the client may see."""

    def test_status_shows_the_locks_that_it_may_see(self):
        node = self.node("* lock anyone", f"a/* status uid:{ME}")
        client = self.client(node)
        for name in ("b/1", "a/1", "c", "a/2", "d"):
            client.call("LOCK", name)
        status = json.loads(client.call("STATUS"))
        self.assertEqual(sorted(lock["name"] for lock in status["locks"]), ["a/1", "a/2"])
        self.assertEqual(json.loads(client.call("STATUS", "[b-z]*"))["locks"], [])

    def test_status_of_locks_of_other_members(self):
        cluster = self.enterContext(Cluster(2, each=lambda index: [] if index else ["--allow", f"open/* status uid:{ME}"]))
        first, second = cluster.nodes
        holder = self.enterContext(second.client())
        for name in ("secret/1", "open/1"):
            self.assertIsInstance(holder.call("LOCK", name), int)
        self.assertEqual(len(second.status()["locks"]), 2)
        self.assertEqual([lock["name"] for lock in first.status()["locks"]], ["open/1"])

    def test_nothing_depends_on_locks_that_it_may_not_see(self):
        def rules(index):
            return [] if index else ["--allow", f"a/* status uid:{ME}"]

        cluster = self.enterContext(Cluster(2, each=rules))
        first, second = cluster.nodes
        holder, asker = self.enterContext(second.client()), self.enterContext(first.client())
        self.assertIsInstance(holder.call("LOCK", "a/own"), int)

        def told():
            questions = (("STATUS",), ("STATUS", "*"), ("STATUS", "*", "COUNT", "1"), ("STATUS", "[ab]*", "COUNT", "1"), ("STATUS", "b*"))
            replies = [json.loads(asker.call(*words)) for words in questions]
            for reply in replies:
                for timed in (*reply["members"], *(lock["holder"] for lock in reply["locks"])):
                    timed.pop("lease_ms", None)
                    timed.pop("since_ms", None)
            info = asker.call("INFO").split("\r\n")
            changing = ("used_", "lease_left", "member0", "uptime", "sessions", "connected")
            refusals = [asker.call(*words) for words in (("BREAK", "b/1", "1"), ("LOCK", "b/1", "NOWAIT"), ("LEADER", "b/1"),
                                                         ("SUBSCRIBE", "b/1"), ("UNLOCK", "b/1"))]
            return replies, [line for line in info if not line.startswith(changing)], refusals

        before = told()
        self.assertEqual([[lock["name"] for lock in reply["locks"]] for reply in before[0]], [["a/own"]] * 4 + [[]])
        hidden = [self.enterContext(node.client()) for node in (second, second)]
        for index, client in enumerate(hidden):
            self.assertIsInstance(client.call("ELECT", f"b/{index}", "value"), int)
        self.assertEqual(len(second.status()["locks"]), 3)
        hidden[0].send("LOCK", "b/1")
        until("it waits", lambda: any(lock["waiters"] for lock in second.status()["locks"]))
        self.assertEqual(told(), before)

    def test_one_s_own_locks_are_shown_however_many_others_there_are(self):
        node = self.node("* lock anyone", f"own status uid:{ME}")
        client = self.client(node)
        for index in range(1001):
            client.send("LOCK", f"other/{index}")
        self.assertTrue(all(isinstance(client.read(), int) for _ in range(1001)))
        client.call("LOCK", "own")
        self.assertEqual([lock["name"] for lock in json.loads(client.call("STATUS"))["locks"]], ["own"])

    def test_events_are_those_of_locks_that_it_may_observe(self):
        node = self.node(f"* lock,elect uid:{ME}", f"a/* observe uid:{ME}")
        listener, other = self.client(node), self.client(node)
        listener.call("PSUBSCRIBE", "*")
        for name in ("b/1", "a/1"):
            other.call("ELECT", name, "value")
            other.call("RESIGN", name)
        heard = [listener.read() for _ in range(3)]
        self.assertEqual({event[2] for event in heard}, {"a/1"}, heard)
        self.assertEqual([event[3].split()[0] for event in heard], ["granted", "leader", "released"])

    def test_nobody_subscribes_to_what_it_may_neither_take_nor_observe(self):
        """libbaton asks for reasons before it takes a lock. That gives no right to subscribe."""
        node = self.node(f"a lock uid:{ME}", f"b elect uid:{ME}", f"c observe uid:{ME}", f"d status,break uid:{ME}")
        for words in ((), ("CLIENT", "REASONS", "ON"), ("CLIENT", "REASONS", "TIMED")):
            client = self.client(node)
            if words:
                self.assertEqual(client.call(*words), "OK")
            client.send("SUBSCRIBE", "a", "b", "c", "d", "e")
            answers = [client.read() for _ in range(5)]
            self.assertEqual([answer[1] for answer in answers[:3]], ["a", "b", "c"])
            self.assertEqual([is_refused(answer) for answer in answers], [False] * 3 + [True] * 2, answers)

    def test_who_may_take_a_lock_learns_when_it_is_lost(self):
        node = self.node(f"x lock,elect,break uid:{ME}")
        listener, other = self.client(node), self.client(node)
        self.assertEqual(listener.call("SUBSCRIBE", "x"), ["subscribe", "x", 1])
        fence = other.call("ELECT", "x", "secret")
        self.assertEqual(other.call("BREAK", "x", fence), 1)
        heard = [listener.read()[2].split()[0] for _ in range(2)]
        self.assertEqual(heard, ["granted", "lost"])  # the listener does not get what the leader published


class Reading(Nodes):
    def write(self, path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_wrong_rules_are_refused_with_line_and_word(self):
        path = self.enterContext(tempfile.TemporaryDirectory()) + "/conf"
        for text, says in (("allow = x lok uid:1", ":2: --allow 'x lok uid:1': 'lok' is not a verb: did you mean 'lock'?"),
                           ("allow x lok uid:1", ":2: --allow 'allow x lok uid:1': 'lok' is not a verb: did you mean 'lock'?"),
                           ("allow", ":2: 'allow' needs a value: allow = ..."),
                           ("alow = x lock uid:1", ":2: unknown name 'alow': did you mean 'allow'?"),
                           ("allow = x lock group:no-such-group", ":2: --allow 'x lock group:no-such-group': 'group:no-such-group': this "
                                                                  "host has no such group; write a number as gid:NUMBER")):
            self.write(path, f"# rules\n{text}\n")
            done = subprocess.run([BATON, "node", "--config", path], capture_output=True, text=True, timeout=PATIENCE, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"baton node: {path}{says}\n"))
        done = subprocess.run([BATON, "node", "--allow", "x lock"], capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--allow 'x lock': nobody is named", done.stderr)

    def test_what_a_refusal_prints_can_be_pasted(self):
        path = self.enterContext(tempfile.TemporaryDirectory()) + "/conf"
        self.write(path, "allow = nothing lock uid:61009\n")
        node = self.node(config=path)
        client = self.client(node)
        wanted = [("LOCK", name, "NOWAIT") for name in ("backup/db", "a b", "=x", "x = y", "*", "allow", "#x", "\\", "a\\ b", "'\"", "\u00fc", "^[x]")]
        wanted += [("STATUS", "a b*"), ("PSUBSCRIBE", "= *")]
        rules = [client.call(*words).split(": ", 2)[2] for words in wanted]
        self.write(path, "\n".join(rules) + "\n")
        node.process.send_signal(signal.SIGHUP)
        until("the rules are read", lambda: "SIGHUP: the rules were read again" in node.log())
        flagged = self.client(self.node(*rules))
        for words in wanted:
            for other in (client, flagged):
                self.assertFalse(is_refused(other.call(*words)), words)
        other = self.client(node)
        for name in ("a_b", "y", "allowed", "ab", "x"):
            self.assertTrue(is_refused(other.call("LOCK", name, "NOWAIT")), name)

    def test_names_of_users_and_groups(self):
        node = self.node("a lock user:root", "b lock group:root")
        if ROOT:
            client = self.client(node, 61001, [0])
            self.assertTrue(is_refused(client.call("LOCK", "a")))
            self.assertIsInstance(client.call("LOCK", "b"), int)
        mine = json.loads(self.client(node).call("CAN", "a"))["verbs"]
        self.assertEqual(mine, ["lock"] if ROOT else [])

    def test_sighup_reads_them_again(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = folder + "/conf"
        self.write(path, f"allow = old lock,observe uid:{ME}\n")
        node = self.node(f"flag lock uid:{ME}", config=path)
        client, waiter, listener = self.client(node), self.client(node), self.client(node)
        fence = client.call("LOCK", "old")
        listener.call("PSUBSCRIBE", "*")
        waiter.send("LOCK", "old")
        self.assertTrue(is_refused(client.call("LOCK", "new")))

        def reload(text, says):
            self.write(path, text)
            before = node.log().count(says)
            node.process.send_signal(signal.SIGHUP)
            until(says, lambda: node.log().count(says) > before)

        reload(f"allow = new lock uid:{ME}\n", "SIGHUP: the rules were read again")
        self.assertIsInstance(client.call("LOCK", "new"), int)
        self.assertTrue(is_refused(client.call("LOCK", "old")))
        self.assertIsInstance(client.call("LOCK", "flag"), int)
        # Locks that were granted or asked for before are not affected.
        self.assertEqual(client.call("UNLOCK", "old", fence), 1)
        self.assertGreater(waiter.read(), fence)
        # Wrong rules change nothing.
        reload("allow = new lok\n", f"SIGHUP: the rules stay as they were: {path}:1: --allow 'new lok': 'lok' is not a verb")
        self.assertTrue(is_refused(client.call("LOCK", "old")))
        os.unlink(path)
        node.process.send_signal(signal.SIGHUP)
        until("an error", lambda: "SIGHUP: the rules stay as they were: --config" in node.log())
        self.assertTrue(is_refused(client.call("LOCK", "old")))

    def test_the_socket_is_for_everybody_only_while_there_are_rules(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = folder + "/conf"
        self.write(path, "lease = 3s\n")
        node = self.node(config=path)

        def mode():
            return stat.S_IMODE(os.stat(node.socket).st_mode)

        self.assertEqual(mode(), 0o660)
        self.write(path, "allow = x lock uid:61001\n")
        node.process.send_signal(signal.SIGHUP)
        until("it is open", lambda: mode() == 0o666)
        if ROOT:
            self.assertIsInstance(self.client(node, 61001).call("LOCK", "x"), int)
        self.write(path, "")
        node.process.send_signal(signal.SIGHUP)
        until("it is closed", lambda: mode() == 0o660)
        self.assertIn("there are none, everybody who can connect may do everything", node.log())
        if ROOT:
            self.assertRaises(PermissionError, self.client, node, 61001)
        self.assertEqual(stat.S_IMODE(os.stat(self.node("x lock uid:1").socket).st_mode), 0o666)

    @unittest.skipUnless(ROOT, "needs several users")
    def test_who_could_not_connect_now_has_no_rights_from_before(self):
        path = self.enterContext(tempfile.TemporaryDirectory()) + "/conf"
        rules = "allow = [xy] lock anyone\nallow = * observe anyone\n"
        self.write(path, rules)
        node = self.node(config=path, more=("--clients", f"127.0.0.1:{(port := free_port())}"))
        said = 0

        def reload(text):
            nonlocal said
            self.write(path, text)
            node.process.send_signal(signal.SIGHUP)
            said += 1
            until("it is read", lambda: node.log().count("SIGHUP: the rules were read again") == said)

        group = os.stat(node.socket).st_gid
        stranger, member, root = self.client(node, 61001), self.client(node, 61002, [7, group]), self.client(node)
        tcp = self.enterContext(Client(("127.0.0.1", port)))
        listener = self.client(node, 61001)
        fence = stranger.call("LOCK", "x")
        listener.call("PSUBSCRIBE", "*")
        reload("")
        for words in (("LOCK", "y"), ("LOCK", "z"), ("ELECT", "y", "v"), ("STATUS",), ("BREAK", "x", fence), ("MEMBER", "LIST"), ("DRAIN",),
                      ("LEADER", "x"), ("PSUBSCRIBE", "*")):
            self.assertEqual(stranger.call(*words), "NOPERM not permitted: this node has no rules any more, and so only root, "
                                                    f"uid {os.stat(node.socket).st_uid} and gid {group} may use its socket")
        self.assertEqual(json.loads(stranger.call("CAN", "x"))["verbs"], [])
        self.assertNotIn("epoch", stranger.call("INFO"))
        # For other clients it is as without rules, and the stranger may give back what it had.
        for client in (member, root, tcp):
            self.assertEqual(json.loads(client.call("CAN", "z")), {"verbs": list(VERBS), "rules": False})
        self.assertEqual(stranger.call("UNLOCK", "x", fence), 1)
        self.assertIsInstance(root.call("LOCK", "z"), int)
        # When there are rules again, they count for everybody.
        reload(rules)
        self.assertIsInstance(stranger.call("LOCK", "y"), int)
        self.assertTrue(is_refused(root.call("LOCK", "other")))
        self.assertEqual(listener.read()[2], "y")  # the listener was told nothing in between


class Files(unittest.TestCase):
    """Files that other users could change or replace are refused, or do no harm."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="baton-test-"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def refused(self, *words, stdin=subprocess.DEVNULL):
        done = subprocess.run([BATON, "node", "--name", "n1", "--socket", self.path("socket"), *words], capture_output=True, text=True,
                              stdin=stdin, timeout=PATIENCE, check=False)
        self.assertIn(done.returncode, (1, 2), done.stderr)
        return done.stderr

    def works(self, *words):
        with Node(*words) as node, Client(node.socket) as client:
            self.assertIsInstance(client.call("LOCK", "x"), int)

    def test_a_data_folder_that_others_can_write(self):
        data = self.path("data")
        os.mkdir(data)
        for mode in (0o777, 0o775, 0o1777, 0o702):
            os.chmod(data, mode)
            self.assertIn(f"--data '{data}' can be written by others (mode {mode:04o}): chmod go-w it", self.refused("--data", data))
        os.symlink(data, self.path("link"))
        self.assertIn("can be written by others", self.refused("--data", self.path("link")))
        self.assertEqual(os.listdir(data), [])
        os.chmod(data, 0o755)
        self.works("--data", self.path("link"), "--listen", f"127.0.0.1:{free_port()}")
        if ROOT:
            other = self.path("other")
            os.mkdir(other)
            os.chown(other, 61001, 0)
            self.assertIn("belongs to uid 61001", self.refused("--data", other))

    def test_a_link_in_the_place_of_the_socket(self):
        victim = self.path("victim")
        with open(victim, "w", encoding="utf-8") as file:
            file.write("mine")
        for target in (victim, self.path("nowhere")):
            os.symlink(target, self.path("socket"))
            self.assertIn("exists and is not a socket", self.refused())
            self.assertTrue(os.path.islink(self.path("socket")))
            os.unlink(self.path("socket"))
        # A link next to the file does not make the node write elsewhere either.
        os.symlink(victim, self.path("socket.lease"))
        os.symlink(victim, self.path("socket.lease.new"))
        process = subprocess.Popen([BATON, "node", "--name", "n1", "--socket", self.path("socket")], stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        until("it serves", lambda: subprocess.run([BATON, "status", "--ready", "-S", self.path("socket")], check=False).returncode == 0)
        with open(victim, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")

    def test_a_lease_note_of_somebody_else(self):
        """The note that a killed node leaves beside its socket says how long the next node waits. Others cannot make it wait
        for longer than its own lease, or for ever."""
        note = self.path("socket.lease")

        def write(text, owner=ME, mode=0o644):
            with open(note, "w", encoding="ascii") as file:
                file.write(text)
            os.chown(note, owner, -1)
            os.chmod(note, mode)

        ignored = [(lambda: os.mkfifo(note), "is not a regular file"), (lambda: os.symlink("/dev/zero", note), "is not a regular file"),
                   (lambda: write("86400001"), "is not a number of milliseconds up to 86400000"),
                   (lambda: write("soon"), "is not a number"), (lambda: write("60000", mode=0o666), "can be written by others (mode 0666)")]
        if ROOT:
            ignored.append((lambda: write("60000", owner=61001), "belongs to uid 61001"))
        for make, why in [*ignored, (lambda: write("60000"), None)]:
            with self.subTest(why=why), socket.socket(socket.AF_UNIX) as killed:
                make()
                killed.bind(self.path("socket"))
                killed.close()
                process = subprocess.Popen([BATON, "node", "--name", "n1", "--socket", self.path("socket"), "--lease", "5s"],
                                           stderr=subprocess.PIPE, text=True)
                log = ""
                while "nothing is granted for " not in log:
                    log += process.stderr.readline()
                process.kill()
                process.communicate()
                self.assertRegex(log, "granted for [45][0-9]{3} ms" if why else "granted for [56][0-9]{4} ms")
                self.assertEqual("is ignored" in log, why is not None, log)
                self.assertIn(why or "", log)
                os.unlink(self.path("socket"))
                os.unlink(note)

    def conf(self, name="conf"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write("allow = x lock anyone\n")
        os.chmod(self.path(name), 0o644)
        return self.path(name)

    def test_a_file_that_others_can_write(self):
        conf = self.conf()
        os.symlink("conf", self.path("link"))
        for name in ("conf", "link"):
            for mode in (0o666, 0o664, 0o646):
                os.chmod(conf, mode)
                self.assertIn(f"--config '{self.path(name)}' can be written by others (mode {mode:04o}): chmod go-w it",
                              self.refused("--config", self.path(name)))
            os.chmod(conf, 0o644)
            self.works("--config", self.path(name))
        if ROOT:
            os.chown(conf, 61001, 0)
            self.assertIn(f"the file '{conf}' belongs to uid 61001: its owner must be root or the node's user, uid 0",
                          self.refused("--config", conf))

    def test_a_volume_that_a_group_can_write(self):
        """As fsGroup of Kubernetes makes it. doc/operating.md quotes the refusals."""
        conf, volume, told = self.conf(), self.path("volume"), (documents.ROOT / "doc/operating.md").read_text(encoding="utf-8")
        os.chmod(conf, 0o664)
        os.mkdir(volume)
        os.chmod(volume, 0o2775)
        for words, quoted in ((("--config", conf), "/etc/baton.conf"), (("--data", volume), "/data")):
            self.assertIn("    " + self.refused(*words).replace(words[1], quoted), told)
        data = os.path.join(volume, "baton")
        before = os.umask(0o002)
        try:
            for _ in range(2): # the node makes it, and comes back to it
                self.works("--name", "n1", "--data", data)
        finally:
            os.umask(before)
        for name in (".", *os.listdir(data)): # without OnRootMismatch
            path = os.path.join(data, name)
            os.chmod(path, os.stat(path).st_mode | 0o060)
        self.assertIn(f"--data '{data}' can be written by others (mode 2760): chmod go-w it", self.refused("--data", data))

    def test_what_is_no_file(self):
        os.mkfifo(self.path("pipe"), 0o600)
        for path in (self.path("pipe"), "/dev/null", self.folder):
            self.assertIn(f"--config '{path}' is not a regular file", self.refused("--config", path))
        self.assertIn("--config 'nowhere': No such file or directory", self.refused("--config", "nowhere"))
        os.symlink("loop", self.path("loop"))
        self.assertIn("Too many levels of symbolic links", self.refused("--config", self.path("loop")))

    def test_what_is_open_and_has_no_path(self):
        for option in ("--config", "--tls-ca"):
            words = (option, "/dev/stdin") if option == "--config" else (option, "/dev/stdin", "--tls-cert", "x", "--tls-key", "x")
            self.assertIn(f"{option} '/dev/stdin' is not a regular file but a pipe: give a file that only its owner can write\n",
                          self.refused(*words, stdin=subprocess.PIPE))
            with tempfile.TemporaryFile() as removed:
                self.assertIn(f"{option} '/dev/stdin' was removed", self.refused(*words, stdin=removed))
        with open(self.conf(), encoding="ascii") as conf:
            os.chmod(conf.name, 0o666)
            self.assertIn("--config '/dev/stdin' can be written by others (mode 0666)", self.refused("--config", "/dev/stdin", stdin=conf))

    def test_a_folder_on_the_way_that_others_can_write(self):
        """Users who can write to a folder can replace what is in it, unless the folder is
        sticky."""
        way, below = self.path("way"), self.path("way/below")
        os.makedirs(below)
        conf = self.conf("way/below/conf")
        os.symlink(f"{below}/../below/conf", self.path("link"))
        os.symlink("way/below", self.path("folder"))
        for path in (conf, self.path("link"), self.path("folder/conf")):
            for open_folder in (way, below):
                os.chmod(open_folder, 0o777)
                self.assertIn(f"--config '{path}': the folder '{open_folder}' can be written by others (mode 0777): chmod o-w it",
                              self.refused("--config", path))
                os.chmod(open_folder, 0o1777)
                self.works("--config", path)
                os.chmod(open_folder, 0o755)
        os.chmod(way, 0o777)
        self.assertIn(f"the folder '{way}' can be written by others", self.refused("--data", self.path("way/data")))
        self.assertEqual(os.listdir(way), ["below"])

    @unittest.skipUnless(ROOT, "only root makes links of others")
    def test_a_link_or_a_folder_of_another_user(self):
        self.conf()
        os.mkdir(self.path("data"))
        for name in ("conf", "data"):
            os.symlink(name, self.path(f"{name}-link"))
            os.chown(self.path(f"{name}-link"), 61001, 0, follow_symlinks=False)
        os.mkdir(self.path("theirs"))
        self.conf("theirs/conf")
        os.chown(self.path("theirs"), 61001, 0)
        for word, path, kind in (("--config", "conf-link", "link"), ("--data", "data-link", "link"), ("--config", "theirs/conf", "folder")):
            theirs = self.path(path.split("/", maxsplit=1)[0])
            self.assertIn(f"{word} '{self.path(path)}': the {kind} '{theirs}' belongs to uid 61001", self.refused(word, self.path(path)))

    def test_keys_that_others_can_write(self):
        certificates = Certificates(self.path("pki"))
        words = [*certificates.options("n1"), "--tls-ca-key", certificates.path("ca.key")]
        for word in ("--tls-ca", "--tls-cert", "--tls-key", "--tls-ca-key"):
            path = words[words.index(word) + 1]
            os.chmod(path, 0o620)
            self.assertIn(f"{word} '{path}' can be written by others (mode 0620): chmod go-w it", self.refused(*words))
            os.chmod(path, 0o600)
        self.works(*words)


if __name__ == "__main__":
    unittest.main()
