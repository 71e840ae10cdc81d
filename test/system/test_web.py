"""Tests baton web with real nodes: it shows what the node says, it costs other members nothing, and it withstands bad
visitors."""
import collections
import contextlib
import json
import os
import pathlib
import re
import resource
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from baton import BATON
from cluster import LONG_LEASE, PATIENCE_S, Cluster, Node, environment, until
from web import PROGRAM, Stream, Web


def without_times(value):
    """Returns the status without values that change while nothing happens."""
    if isinstance(value, dict):
        return {name: without_times(part) for name, part in value.items()
                if name not in ("since_ms", "lease_ms", "control", "locks_total", "locks_more")}
    return [without_times(part) for part in value] if isinstance(value, list) else value


class PretendedNode:
    """A node that answers only when the test lets it, and notes what it is asked."""

    def __init__(self, path):
        self.asked = []
        self.may_answer = threading.Event()
        self.piece_s = 0 # if it is not 0, replies come in five pieces, with so much time between them
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as file, contextlib.suppress(OSError):
            while head := file.readline():
                words = []
                for _ in range(int(head[1:])):
                    words.append(file.read(int(file.readline()[1:]) + 2)[:-2].decode())
                self.asked.append(words)
                self.may_answer.wait(PATIENCE_S)
                text = "node:n1\r\n" if words[0] == "INFO" else json.dumps({"locks": [], "asked": words[1]})
                reply = f"${len(text)}\r\n{text}\r\n".encode()
                for i in range(5):
                    connection.sendall(reply[len(reply) * i // 5:len(reply) * (i + 1) // 5])
                    time.sleep(self.piece_s)

    def count(self, command):
        return sum(words[0] == command for words in self.asked)


@unittest.skipUnless(os.path.exists(PROGRAM), "built without the page")
class WebTest(unittest.TestCase):
    def single(self):
        """Returns a cluster of one node, in memory."""
        folder = tempfile.mkdtemp(prefix="baton-test-")
        self.addCleanup(shutil.rmtree, folder)
        node = Node(folder, "n1", [])
        self.addCleanup(lambda: node.process is not None and node.end())
        return node

    def serving(self):
        node = self.single().start()
        until("the node serves", lambda: node.answers() and node.serves())
        return node

    def web(self, node, *words):
        return self.enterContext(Web("-S", node.socket, *words))


class Cluster3(WebTest):
    def test_status_equals_that_of_the_node_at_rest(self):
        with Cluster(3, *LONG_LEASE) as cluster:
            with cluster[0].client() as holder, cluster[1].client() as waiter:
                holder.call("LOCK", "a")
                holder.call("LOCK", "b")
                waiter.send("LOCK", "a")
                until("it waits", lambda: cluster[0].status()["locks"][0]["waiters"])
                web = self.web(cluster[2])
                told = json.loads(subprocess.run([BATON, "status", "--json", "-S", cluster[2].socket], check=True,
                                                 capture_output=True, text=True).stdout)
                self.assertEqual(without_times(web.json("/api/status")), without_times(told))
                with Stream(web) as stream:
                    kind, state = stream.next()
                    self.assertEqual(kind, "status")
                    self.assertEqual(without_times(state["status"]), without_times(told))
                    self.assertEqual(state["locks_total"], 2)
                    self.assertEqual(state["waiters_total"], 1)
                    self.assertEqual(state["info"]["node"], "n3")
                    self.assertEqual(state["info"]["members"], 3)
                    self.assertLess(state["at_ms"], stream.next("status")["at_ms"])
                page = web.json("/api/status?pattern=b*&count=1")
                self.assertEqual([lock["name"] for lock in page["locks"]], ["b"])
                page = web.json("/api/status?count=1&skip=1")
                self.assertEqual(([lock["name"] for lock in page["locks"]], page["locks_total"]), (["b"], 2))

    def test_a_scrape_sends_nothing_to_other_members(self):
        with Cluster(3, *LONG_LEASE) as cluster:
            web = self.web(cluster[0])
            first = web.metrics()
            self.assertEqual(first['baton_member_up{member="n2"}'], 1)
            self.assertGreater(first['baton_link_sent_bytes_total{peer="n2"}'], 0)
            self.assertGreater(first['baton_member_lease_seconds{member="n1"}'], 1)
            for _ in range(20):
                last = web.metrics()
            sent = [name for name in first if "messages_sent" in name or "control_sent" in name]
            self.assertEqual([first[name] for name in sent], [last[name] for name in sent])
            self.assertEqual(len(sent), 4)
            # A STATUS does ask the other members, so the counters above would have noticed it.
            web.json("/api/status")
            self.assertGreater(web.metrics()["baton_control_sent_total"], last["baton_control_sent_total"])

    def test_a_token_that_came_is_told_from_one_that_was_here(self):
        with Cluster(3, *LONG_LEASE) as cluster:
            with cluster[0].client() as one, cluster[1].client() as two:
                for client in (one, two, two, two, one):
                    client.call("LOCK", "x")
                    client.call("UNLOCK", "x")
            def grants(node):
                with Web("-S", node.socket) as web:
                    samples = web.metrics()
                return [int(samples[f'baton_{name}{{token="{token}"}}'])
                        for name in ("grants_total", "acquire_seconds_count") for token in ("here", "came")]
            # The home of the lock decides only about the first grant.
            here, came, here_timed, came_timed = grants(cluster[1])
            self.assertEqual((here, came), (2, 1))
            self.assertEqual((here, came), (here_timed, came_timed))
            here, came, *_ = grants(cluster[0])
            self.assertEqual(here + came, 2)
            self.assertGreaterEqual(came, 1)


class Single(WebTest):
    def test_metrics_count_grants_refusals_and_losses(self):
        node = self.serving()
        web = self.web(node)
        before = web.metrics()
        with node.client() as client:
            for _ in range(1000):
                client.send("LOCK", "x")
                client.send("UNLOCK", "x")
            for _ in range(2000):
                client.read()
            fence = client.call("LOCK", "x")
            with node.client() as other:
                self.assertIsNone(other.call("LOCK", "x", "NOWAIT"))
                self.assertIsNone(other.call("LOCK", "x", "TIMEOUT", "1"))
                other.send("LOCK", "x")
                until("it waits", lambda: web.metrics()["baton_waiters"] == 1)
                samples = web.metrics()
                self.assertEqual([samples[f'baton_locks{{state="{state}"}}'] for state in ("held", "waited", "idle")], [1, 0, 0])
                self.assertEqual(client.call("BREAK", "x", fence), 1)
                other.read()
        until("they are gone", lambda: web.metrics()["baton_sessions"] == before["baton_sessions"])
        after = web.metrics()
        def rise(name):
            return after[name] - before[name]
        self.assertEqual(rise('baton_grants_total{token="here"}'), 1002)
        self.assertEqual(rise('baton_acquire_seconds_count{token="here"}'), 1002)
        self.assertEqual(rise("baton_hold_seconds_count"), 1002)
        self.assertEqual(rise('baton_refusals_total{reason="busy"}'), 1)
        self.assertEqual(rise('baton_refusals_total{reason="timeout"}'), 1)
        self.assertEqual(rise('baton_losses_total{reason="broken"}'), 1)
        self.assertEqual(after["baton_waiters"], 0)
        self.assertEqual(after['baton_locks{state="held"}'], 0)

    def test_metrics_are_well_formed(self):
        node = self.serving()
        web = self.web(node)
        code, headers, text = web.request("/metrics")
        self.assertEqual((code, headers["content-type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        types, seen = {}, set()
        for line in text.decode().splitlines():
            if found := re.fullmatch(r"# TYPE (\w+) (counter|gauge|histogram)", line):
                self.assertNotIn(found[1], types)
                types[found[1]] = found[2]
            elif not re.fullmatch(r"# HELP \w+ .+\.", line):
                found = re.fullmatch(r'(\w+?)(_bucket|_sum|_count)?(\{(\w+="[^"]*",?)+\})? [0-9.e+-]+', line)
                self.assertIsNotNone(found, line)
                family = found[1] if types.get(found[1]) == "histogram" else found[1] + (found[2] or "")
                self.assertIn(family, types)
                self.assertEqual(family.endswith("_total"), types[family] == "counter", line)
                self.assertNotIn(line.rsplit(" ", 1)[0], seen)
                seen.add(line.rsplit(" ", 1)[0])
        self.assertGreater(len(seen), 80)
        if shutil.which("promtool"):
            subprocess.run(["promtool", "check", "metrics"], input=text, check=True)

    def test_alerts_and_dashboard_use_metrics_that_there_are(self):
        root = pathlib.Path(__file__).parents[2]
        with Cluster(2, *LONG_LEASE) as cluster:
            text = self.web(cluster[0]).request("/metrics")[2].decode()
        families = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
        known = {name + end for name, kind in families.items()
                 for end in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))}
        for file in ("alerts.yml", "grafana.json"):
            used = set(re.findall(r"\b(?:baton|process)_[a-z_]+\b", (root / "share/baton" / file).read_text()))
            self.assertGreater(len(used), 8)
            self.assertEqual(used - known, set(), file)
        told = set(re.findall(r"`((?:baton|process)_[a-z_]+)", (root / "doc/operating.md").read_text()))
        self.assertEqual(set(families) - told, set(), "are not in doc/operating.md")
        if shutil.which("promtool"):
            subprocess.run(["promtool", "check", "rules", root / "share/baton/alerts.yml"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["promtool", "test", "rules", root / "test/system/alerts_test.yml"], check=True, stdout=subprocess.DEVNULL)

    def test_it_may_be_started_before_its_node_and_says_when_it_is_gone(self):
        node = self.single()
        web = self.web(node)
        self.assertEqual(web.json("/api/session")["node"], False)
        self.assertEqual(web.metrics(), {"baton_up": 0})
        self.assertEqual(web.code("/api/status"), 503)
        with Stream(web) as stream:
            kind, state = stream.next()
            self.assertEqual(kind, "gone")
            self.assertIn(node.socket, state["why"])
            node.start()
            self.assertEqual(stream.next("status")["status"]["node"], "n1")
            self.assertEqual(web.metrics()["baton_up"], 1)
            self.assertEqual(web.json("/api/session")["node"], True)
            node.signal(signal.SIGKILL)
            node.process = None
            self.assertIn("closed the connection", stream.next("gone")["why"])
            node.start()
            stream.next("status")
            # A node that is stopped has not closed any connection.
            node.signal(signal.SIGSTOP)
            self.assertEqual(stream.next("gone")["why"], "the node does not answer")
            node.signal(signal.SIGCONT)
            stream.next("status")

    def pretended(self):
        folder = tempfile.mkdtemp(prefix="baton-test-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "n1.sock")
        node = PretendedNode(path)
        self.addCleanup(node.listener.close)
        return node, self.enterContext(Web("-S", path))

    def together(self, *calls):
        """Runs the calls in threads. Returns a function that waits for them and returns their results."""
        results = [None] * len(calls)
        def run(i):
            results[i] = calls[i]()
        threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
        for thread in threads:
            thread.start()
        def join():
            for thread in threads:
                thread.join(PATIENCE_S)
            return results
        return join

    def test_many_requests_at_a_time_share_what_the_node_is_asked(self):
        node, web = self.pretended()
        idle = web.fds()
        until("it has asked for INFO", lambda: node.asked)
        joins = [self.together(*[lambda: web.json("/api/status?pattern=a")] * 40),
                 self.together(*[lambda: web.json("/api/status?pattern=b")] * 40),
                 self.together(*[web.metrics] * 40)]
        until("all requests are there", lambda: web.fds() >= idle + 120)
        node.may_answer.set()
        self.assertEqual([status["asked"] for status in joins[0]()], ["a"] * 40)
        self.assertEqual([status["asked"] for status in joins[1]()], ["b"] * 40)
        # Metrics must not say that the node is down only because baton web has much to do.
        self.assertEqual([metrics["baton_up"] for metrics in joins[2]()], [1] * 40)
        # baton web may not have read every request when the node answers, so some cause another
        # question. Without sharing there would be 80 and 40 questions.
        self.assertLess(node.count("STATUS"), 20)
        self.assertLess(node.count("INFO"), 10)

    def test_a_node_is_given_up_for_silence_and_not_for_a_long_answer(self):
        node, web = self.pretended()
        node.may_answer.set()
        until("it knows the node", lambda: web.json("/api/session")["node"])
        node.piece_s = 1
        self.assertEqual(web.json("/api/status?pattern=long")["asked"], "long")
        # If the node is silent, all requests that wait fail together, not one after the other.
        node.piece_s = 0
        node.may_answer.clear()
        begun = time.monotonic()
        join = self.together(*[lambda i=i: web.json(f"/api/status?pattern={i}") for i in range(8)])
        self.assertEqual([status["error"] for status in join()], ["the node does not answer"] * 8)
        self.assertLess(time.monotonic() - begun, 8 * 3)
        node.may_answer.set()
        until("it is found again", lambda: web.json("/api/status?pattern=again").get("asked") == "again")

    def test_many_waiters_are_not_said_to_be_fewer(self):
        node = self.serving()
        web = self.web(node)
        with contextlib.ExitStack() as clients:
            holder = clients.enter_context(node.client())
            holder.call("LOCK", "a")
            holder.call("LOCK", "b")
            clients.enter_context(node.client()).send("LOCK", "b")
            until("one waits longer than the others will", lambda: any(
                waiter["since_ms"] > 10 for lock in node.status()["locks"] for waiter in lock["waiters"]))
            for _ in range(250):
                clients.enter_context(node.client()).send("LOCK", "a")
            until("they wait", lambda: sum(len(lock["waiters"]) for lock in node.status()["locks"]) == 251)
            with Stream(web) as stream:
                state = stream.next("status")
            self.assertEqual((state["waiters_total"], state["waiters_more"]), (201, True))
            self.assertEqual(state["waiters_by_member"], {"n1": 201})
            self.assertEqual([(lock["name"], len(lock["waiters"]), lock.get("waiters_total"), lock.get("waiters_more"))
                              for lock in state["status"]["locks"]], [("a", 20, 200, True), ("b", 1, None, None)])
            self.assertEqual((state["waits_longest"]["name"], state["waits_longest"]["node"]), ("b", "n1"))
            self.assertEqual(len(web.json("/api/status")["locks"][0]["waiters"]), 250)

    def test_changes_are_told_and_bounded(self):
        node = self.serving()
        web = self.web(node)
        with Stream(web) as stream, node.client() as client:
            stream.next("status")
            until("it is subscribed", lambda: web.metrics()["baton_sessions"] == 3)
            fence = client.call("LOCK", "a \u00e9")
            client.call("BREAK", "a \u00e9", fence)
            client.call("ELECT", "e", "me: 1")
            client.call("RESIGN", "e")
            events = []
            while len(events) < 5:
                events += stream.next("changes")["events"]
            self.assertEqual([(event["name"], event["what"], event.get("value")) for event in events],
                             [("a \u00e9", "granted", None), ("a \u00e9", "lost", events[1]["value"]), ("e", "granted", None),
                              ("e", "leader", "me: 1"), ("e", "released", None)])
            self.assertTrue(events[1]["value"].startswith("broken"))
            self.assertEqual((events[0]["fence"], events[0]["node"]), (fence, "n1"))
            for _ in range(500):
                client.send("LOCK", "x")
                client.send("UNLOCK", "x")
            for _ in range(1000):
                client.read()
            told, more = [], 0
            while len(told) + more < 1000:
                bundle = stream.next("changes")
                told += bundle["events"]
                more += bundle["more"]
            self.assertEqual(len(told) + more, 1000)
            times = [event["at_ms"] for event in told]
            for at in times:
                self.assertLessEqual(sum(at <= other < at + 1000 for other in times), 50)

    def test_a_busy_node_is_not_listened_to_and_viewers_are_told(self):
        node = self.serving()
        web = self.web(node)
        with Stream(web) as stream, node.client() as client:
            stream.next("status")
            until("it is subscribed", lambda: web.metrics()["baton_sessions"] == 3)
            def grants(state):
                return state["status"]["by_member"]["n1"]["grants"]
            def busy():
                """Does more than is listened to in a second, and returns the next status."""
                for _ in range(2000):
                    client.send("LOCK", "x")
                    client.send("UNLOCK", "x")
                for _ in range(4000):
                    client.read()
                return stream.next("status")
            before = grants(stream.next("status"))
            # A slow machine may need more than a second for one round.
            until("viewers are told", lambda: "too many changes" in busy().get("unheard", ""))
            # The subscription has ended: the only other client is the one that asks.
            until("it is not subscribed", lambda: (busy(), web.metrics()["baton_sessions"] == 2)[1])
            # The figures still agree with those of the node.
            done = node.status()["grants"]
            until("they are right", lambda: grants(stream.next("status")) == done)
            self.assertGreater(done, before)
            # Few changes happen from now on.
            until("nothing is left out any more", lambda: "unheard" not in stream.next("status"))
            self.assertEqual(web.metrics()["baton_sessions"], 3)
            fence = client.call("LOCK", "y")
            until("changes are told again", lambda: any(
                (event["name"], event["fence"]) == ("y", fence) for event in stream.next("changes")["events"]))

    def test_a_viewer_that_does_not_read_skips_and_is_told(self):
        node = self.serving()
        web = self.web(node)
        with Stream(web) as slow, node.client() as client:
            slow.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            for i in range(180):
                client.call("LOCK", f"{i:0240}")
            end = time.monotonic() + 14
            while time.monotonic() < end: # the kernel keeps some seconds of this for it, and the ring six more
                client.call("LOCK", "x" * 240)
                client.call("UNLOCK", "x" * 240)
                time.sleep(0.02)
            self.assertGreater(slow.next("skipped")["events"], 0)
            self.assertEqual(len(slow.next("status")["status"]["locks"]), 180)

    def test_break_needs_leave(self):
        node = self.serving()
        web = self.web(node, "--control")
        own = {"Origin": "http://" + web.host, "Baton_Control": "1"}
        until("it knows the node", lambda: web.json("/api/session")["node"])
        self.assertEqual(web.json("/api/session").keys(), {"control", "node", "version"})
        self.assertIs(web.json("/api/session")["control"], True)
        with node.client() as client:
            fence = client.call("LOCK", "x")
            body = json.dumps({"name": "x", "fence": fence}).encode()
            for headers in ({**own, "Origin": "http://evil.example"}, {**own, "Origin": "https://" + web.host},
                            {"Baton_Control": "1"}, {"Origin": own["Origin"]}, {**own, "Baton_Control": "0"}):
                self.assertEqual(web.code("/api/break", "POST", body, **headers), 403, headers)
            self.assertEqual(web.code("/api/break", "POST", body, **{**own, "Host": "evil.example"}), 421)
            for bad in (b"", b"{", b"[]", b'{"name":"x"}', b'{"name":"","fence":1}', b'{"name":"x","fence":"1"}',
                        b'{"name":"x","fence":9007199254740992}', b'{"name":"x","fence":1,"fence":2}'):
                self.assertEqual(web.code("/api/break", "POST", bad, **own), 400, bad)
            self.assertEqual(web.code("/api/break", "POST", b" " * 5000, **own), 413)
            self.assertEqual(web.code("/api/break", "GET"), 404)
            self.assertEqual(web.code("/api/status", "POST", body, **own), 405)
            wrong = json.dumps({"name": "x", "fence": fence + 1}).encode()
            self.assertEqual(web.request("/api/break", "POST", wrong, **own)[2], b'{"broken":false}')
            self.assertEqual(client.call("PING"), "PONG")
            self.assertEqual(web.request("/api/break", "POST", body, **own)[2], b'{"broken":true}')
            self.assertEqual(node.status()["locks"], [])
        plain = self.web(node)
        self.assertEqual(plain.code("/api/break", "POST", body, Origin="http://" + plain.host, Baton_Control="1"), 405)
        self.assertEqual(plain.json("/api/session")["control"], False)

    def test_bad_requests_are_refused(self):
        node = self.serving()
        web = self.web(node)
        for path in ("/", "/api/status", "/api/events", "/api/session", "/metrics"):
            self.assertEqual(web.code(path, Host="evil.example"), 421, path)
            self.assertEqual(web.code(path, Host=f"127.0.0.1:{web.port + 1}"), 421, path)
            code, headers, body = web.request(path, "HEAD")
            self.assertEqual((code, body), (200, b""), path)
            self.assertEqual((headers["x-content-type-options"], headers["x-frame-options"]), ("nosniff", "deny"))
            self.assertIn("frame-ancestors 'none'", headers["content-security-policy"])
            self.assertEqual(headers["cache-control"], "no-cache" if path == "/" else "no-store")
            for method in ("POST", "PUT", "DELETE", "OPTIONS"):
                self.assertEqual(web.code(path, method), 405, (path, method))
        for path in ("/../etc/passwd", "/%2e%2e/etc/passwd", "/..", "//", "/api", "/api/", "/metrics/", "/index.html/.."):
            self.assertEqual(web.code(path), 404, path)
        for query in ("count=0", "count=1001", "count=-1", "count=1x", "skip=x", "skip=99999999999999999999", "pattern=" + "x" * 256):
            self.assertEqual(web.code("/api/status?" + query), 400, query)
        self.assertEqual(web.exchange(b"GET / HTTP/1.1\r\n\r\n").split()[1], b"421") # without any Host header
        self.assertIn(web.code("/", Cookie="x" * 20000), (413, 431))
        self.assertEqual(web.json("/api/status?pattern=%00%ff")["locks"], [])
        self.assertEqual(web.json("/api/status?skip=30000")["locks"], []) # several members together may have so many locks
        self.assertEqual(web.code("/"), 200)

    def test_a_lock_that_it_cannot_name_exactly_is_not_broken(self):
        node = self.serving()
        web = self.web(node, "--control")
        with node.client() as one, node.client() as other:
            fence = one.call("LOCK", b"\x80")
            other.call("LOCK", "\\x80")
            self.assertEqual([lock["name"] for lock in web.json("/api/status")["locks"]], ["\\x80"] * 2)
            code, _, body = web.request("/api/break", "POST", json.dumps({"name": "\\x80", "fence": fence}).encode(),
                                        Origin="http://" + web.host, Baton_Control="1")
            self.assertEqual(code, 400)
            self.assertIn(b"may stand for another byte", body)
            self.assertEqual(len(node.status()["locks"]), 2)

    def test_it_says_that_it_may_not_observe(self):
        node = self.single()
        node.options += ["--allow", f"* status,lock uid:{os.getuid()}"]
        node.start()
        with Stream(self.web(node)) as stream:
            until("it is told", lambda: "NOPERM" in stream.next("status").get("unheard", ""))
        node.end()
        node.options[-1] = f"* status,lock,observe uid:{os.getuid()}"
        node.start()
        until("the node serves", node.serves)
        with Stream(self.web(node)) as stream, node.client() as client:
            client.call("LOCK", "x")
            self.assertNotIn("unheard", stream.next("status"))

    def test_who_finds_no_room_takes_none(self):
        web = self.web(self.single())
        with web.connect() as connection:
            connection.sendall(f"GET /api/status HTTP/1.1\r\nHost: {web.host}\r\n\r\n".encode())
            answer = b""
            since = time.monotonic()
            while part := connection.recv(4096): # until it is closed
                answer += part
            self.assertEqual(answer.split()[1], b"503")
            self.assertLess(time.monotonic() - since, 4) # an idle connection could have stayed longer

    def test_a_request_that_does_not_arrive_is_dropped(self):
        node = self.serving()
        web = self.web(node, "--control")
        head = f"POST /api/break HTTP/1.1\r\nHost: {web.host}\r\nOrigin: http://{web.host}\r\nBaton-Control: 1\r\n"
        with web.connect() as idle, web.connect() as slow, web.connect() as body:
            slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
            body.sendall(head.encode() + b"Content-Length: 1000\r\n\r\n{")
            since, ended = time.monotonic(), set()
            while len(ended) < 3:
                self.assertLess(time.monotonic() - since, PATIENCE_S)
                for connection in {idle, slow, body} - ended:
                    try:
                        connection.settimeout(0.2)
                        if connection is not idle:
                            connection.sendall(b"x")
                        if not connection.recv(4096):
                            ended.add(connection)
                    except TimeoutError:
                        pass
                    except OSError:
                        ended.add(connection)
            self.assertGreater(time.monotonic() - since, 5)

    def test_many_that_do_not_arrive_keep_nobody_out(self):
        """The oldest of these connections are closed. The others still have their time."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        web = self.web(self.serving())
        halves = []
        for _ in range(1200):
            halves.append(self.enterContext(web.connect()))
            halves[-1].sendall(b"GET / HTTP/1.1\r\nHost: ")
        self.assertEqual(web.metrics()["baton_up"], 1)
        halves[600].sendall(f"{web.host}\r\nConnection: close\r\n\r\n".encode()) # this request still has more than half of its time
        self.assertEqual(halves[600].recv(4096).split()[1], b"200")

    def test_dev_starts_it_for_its_cluster(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="baton-test-"))
        for words in ([], ["--no-web"]):
            with subprocess.Popen([BATON, "dev", "--nodes", "1", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env=environment(XDG_RUNTIME_DIR="", TMPDIR=folder)) as dev:
                lines = []
                while "redis-cli" not in "".join(lines):
                    lines.append(dev.stdout.readline())
                self.assertIn(f" {folder}/baton-dev.", "".join(lines))
                found = re.search(r"In a browser: http://127.0.0.1:(\d+)/#cluster", "".join(lines))
                self.assertEqual(found is None, bool(words))
                if found:
                    def answers():
                        try:
                            socket.create_connection(("127.0.0.1", int(found[1]))).close()
                            return True
                        except OSError:
                            return False
                    until("it listens", answers)
                    # The lock is still passed around for those who open the page later.
                    path = re.search(r"n1 +(\S+)", "".join(lines))[1]
                    def grants(path=path):
                        return json.loads(subprocess.run([BATON, "status", "--json", "-S", path], check=True,
                                                         capture_output=True).stdout)["grants"]
                    first = grants()
                    until("'demo' goes on", lambda first=first: grants() >= first + 2)
                dev.terminate()
                dev.stdout.read()
                self.assertEqual(dev.wait(PATIENCE_S), 0)
                if found:
                    self.assertFalse(answers())


class Tally:
    """Counts the events of a stream, because the events of minutes would be too many to keep."""

    def __init__(self, stream):
        self.stream = stream
        self.kinds = collections.Counter()
        self.changes = 0

    def read(self):
        """Reads what has arrived."""
        with contextlib.suppress(BlockingIOError):
            self.stream.feed(self.stream.connection.recv(1 << 16))
        for kind, data in self.stream.events:
            self.kinds[kind] += 1
            if kind == "changes":
                self.changes += len(data["events"]) + data["more"]
        self.stream.events.clear()


class Many(WebTest):
    # The full test is STREAMS=500 STREAM_SECONDS=300.
    STREAMS, SECONDS = int(os.environ.get("STREAMS", "60")), int(os.environ.get("STREAM_SECONDS", "4"))

    def test_streams_miss_nothing_and_one_that_does_not_read_harms_nobody(self):
        node = self.serving()
        web = self.web(node)
        with web.connect() as warm:
            self.assertTrue(warm)
        web.metrics()
        until("no connection is left", lambda: web.fds() <= 16)
        fds = web.fds()
        deaf = [web.connect() for _ in range(3)]
        for connection in deaf:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: {web.host}\r\n\r\n".encode())
        selector = selectors.DefaultSelector()
        tallies = [Tally(Stream(web)) for _ in range(self.STREAMS)]
        for tally in tallies:
            tally.stream.next("status")
            tally.stream.connection.setblocking(False)
            selector.register(tally.stream.connection, selectors.EVENT_READ, tally)
        until("it is subscribed", lambda: web.metrics()["baton_sessions"] == 2)
        wanted, start, rss = 0, time.monotonic(), [web.rss_kb()]
        def listen(seconds):
            until_ = time.monotonic() + seconds
            while (left := until_ - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    key.data.read()
        with node.client() as client:
            while time.monotonic() < start + self.SECONDS:
                for _ in range(2): # four events, ten times a second: fewer than the limit from which events are left out
                    client.call("LOCK", "x")
                    client.call("UNLOCK", "x")
                wanted += 4
                listen(0.1)
                if time.monotonic() > start + self.SECONDS / 2 and len(rss) == 1:
                    rss.append(web.rss_kb())
        rss.append(web.rss_kb())
        until(lambda: f"all have all {wanted}: {sorted(tally.changes for tally in tallies)}",
              lambda: (listen(0.1), all(tally.changes >= wanted for tally in tallies))[1])
        self.assertEqual({tally.changes for tally in tallies}, {wanted})
        self.assertEqual({kind for tally in tallies for kind in tally.kinds}, {"changes", "status"})
        took = time.monotonic() - start
        self.assertLessEqual(max(tally.kinds["changes"] for tally in tallies), 10 * took + 20)
        self.assertLess(rss[1] - rss[0], 20000) # memory for viewers that do not read
        self.assertLess(rss[2] - rss[1], 2000, "the memory grows")
        if self.SECONDS > 60:
            print(f"{self.STREAMS} streams, {took:.0f} s: {wanted} changes each; memory {rss} kB", file=sys.stderr)
        selector.close()
        for tally in tallies:
            tally.stream.close()
        for connection in deaf:
            connection.close()
        until(lambda: f"{web.fds()} descriptors, {fds} before", lambda: web.fds() <= fds)
        # Without viewers, baton web asks the node nothing, and the node has no subscriber.
        until("it is not subscribed any more", lambda: web.metrics()["baton_sessions"] == 1)


if __name__ == "__main__":
    unittest.main()
