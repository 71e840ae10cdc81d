"""Tests the operation of a node: its file, its log, its readiness, its end, and its refusals."""
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from baton import BATON, baton
from cluster import Cluster, Node, environment, free_port, takes_clients, until
from resp import Client, encode


def may_trace():
    """Tells whether strace is installed and allowed to trace. The leak sanitizer does not work under strace."""
    return shutil.which("strace") is not None and os.environ.get("SANITIZE", "none") == "none" and \
        subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def policy_of(node):
    return os.sched_getscheduler(node.process.pid)


class Yielding(unittest.TestCase):
    """The node yields the processor to its clients, unless something else keeps it busy."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="baton-test-")
        self.addCleanup(self.folder.cleanup)

    def start(self, prefix=()):
        node = Node(self.folder.name, "n1", ["--log", "debug"], prefix).start()
        self.addCleanup(lambda: node.process is not None and node.end())
        until("it serves", node.serves)
        return node

    def test_a_policy_that_was_set_is_left_as_it_is(self):
        for option, policy in (("--batch", os.SCHED_BATCH), ("--idle", os.SCHED_IDLE)):
            node = self.start(["chrt", option, "0"])
            self.assertEqual(policy_of(node), policy)
            with node.client() as client:
                for _ in range(200):
                    client.call("LOCK", "x")
                    client.call("UNLOCK", "x")
            self.assertEqual(policy_of(node), policy)
            self.assertEqual(node.end(), 0)

    def test_one_that_is_set_later_is_too(self):
        node = self.start()
        os.sched_setaffinity(node.process.pid, {min(os.sched_getaffinity(0))})
        os.sched_setscheduler(node.process.pid, os.SCHED_IDLE, os.sched_param(0))
        with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as loop, node.client() as client:
            os.sched_setaffinity(loop.pid, {min(os.sched_getaffinity(0))})
            try:
                def is_noticed():
                    client.call("LOCK", "x")
                    client.call("UNLOCK", "x")
                    return "a scheduling policy was set from outside: it is kept" in node.log()

                until("it is noticed", is_noticed)
            finally:
                loop.kill()
        self.assertEqual(policy_of(node), os.SCHED_IDLE)

    def test_where_the_processor_is_busy_it_does_not_yield(self):
        node = self.start()
        processor = {min(os.sched_getaffinity(0))}
        os.sched_setaffinity(node.process.pid, processor)
        with node.client() as client:
            def turns():
                client.call("LOCK", "x")
                client.call("UNLOCK", "x")

            def has(policy):
                turns()
                return policy_of(node) == policy

            until("it yields", lambda: has(os.SCHED_BATCH))
            with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as loop:
                os.sched_setaffinity(loop.pid, processor)
                try:
                    until("it does not yield", lambda: has(os.SCHED_OTHER))
                finally:
                    loop.kill()
            until("it yields again", lambda: has(os.SCHED_BATCH))
        node.says("something else keeps the processor busy: this node does not yield it for ")
        node.says("this node yields the processor to its clients")


class Starting(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="baton-test-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, text):
        with open(self.path("config"), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path("config")

    def refused(self, *words, code=2, says=()):
        done = subprocess.run([BATON, "node", *words], capture_output=True, text=True, timeout=60, check=False,
                              env=environment())
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)

    # --- the file ---

    def test_a_file_has_the_names_of_the_options(self):
        port = free_port()
        config = self.write(f"# a comment\n\nname = n7\nsocket={self.path('of-file.sock')}\r\n"
                            f"  clients = 127.0.0.1:{port}\nlog = debug\nmax-clients = 5\ninsecure = yes\n")
        node = Node(self.folder.name, "n7", ["--config", config])
        node.start()
        until("it serves", node.serves)
        with socket.create_connection(("127.0.0.1", port)):
            pass
        self.assertFalse(os.path.exists(self.path("of-file.sock"))) # the command line wins
        self.assertEqual(node.end(), 0)

    def test_what_is_wrong_in_a_file_is_said_with_its_line(self):
        for text, says in (("nam = x", "unknown name 'nam': did you mean 'name'?"),
                           ("quux = x", "unknown name 'quux'"),
                           ("name", "'name' needs a value"),
                           ("name =", "'name' needs a value"),
                           ("insecure = no", "'insecure' takes no value but 'yes'"),
                           ("lease = soon", "--lease 'soon': a time such as 250ms"),
                           ("lease = 25h", "--lease '25h': a time from 500ms to 24h is needed"),
                           ("turns = 0", "--turns"),
                           ("algorithm = neilson", "unknown algorithm 'neilson': did you mean 'neilsen'?"),
                           ("algorithm = bully", "--algorithm bully: this is an election"),
                           ("peers = a", "--peers 'a': NAME=HOST:PORT is needed"),
                           ("peers = a b=127.0.0.1:1", "--peers 'a b': printable ASCII"),
                           ("name = a b", "--name 'a b': printable ASCII"),
                           ("cluster = a", "unknown name 'cluster'"), # files of the first version had this name
                           ("listen = 7440", "--listen '7440': HOST:PORT is needed"),
                           ("clients = 7440", "--clients '7440': HOST:PORT is needed"),
                           ("epoch-floor = 5", "unknown name 'epoch-floor'"),
                           ("data = /nonexistent/folder", "--data '/nonexistent/folder' cannot be made"),
                           ("data = /dev/null", "--data '/dev/null' is not a folder"),
                           ("witness = yes", "--witness: --data DIR is needed"),
                           ("topology = grid:2x2", "--topology grid:2x2: it fixes the number of members"),
                           ("links = a-b", "--links: neilsen does not run on every connected graph"),
                           ("topology = lin", "topology 'lin': did you mean 'line'?"),
                           ("param = foo=1", "parameter 'foo=1': neilsen has init, given as NAME=VALUE"),
                           ("clients = 0.0.0.0:7001", "--clients 0.0.0.0: not loopback"),
                           ("log = loud", "--log 'loud': error, warning, info or debug"),
                           ("config = other", "unknown name 'config'"),
                           ("name = a\0 b", "there is a 0 byte in this line"),
                           ("join = h", "--join 'h': HOST:PORT is needed"),
                           ("tls-ca = x", "--tls-ca: --tls-key is needed too")):
            with self.subTest(text=text):
                config = self.write(f"# first\n\n{text}\n")
                self.refused("--config", config, says=[f"{config}:3: {says}"])
        self.refused("--config", self.path("none"), says=["--config", "none", "No such file"])
        self.refused("--config", self.folder.name, says=["--config", "is not a regular file"])

    # --- options ---

    def test_wrong_options_are_refused_with_what_would_be_right(self):
        for words, says in ((["--listne", "x"], "--listen"),
                            (["--peers", "n1"], "NAME=HOST:PORT is needed"),
                            (["--peers", "a=127.0.0.1:1,a=127.0.0.1:2", "--name", "a"], "'a' occurs twice"),
                            (["--peers", "a=127.0.0.1:1", "--name", "b", "--data", self.folder.name],
                             "this node, 'b', is not among them"),
                            (["--peers", "a=127.0.0.1:1", "--name", "a"], "--peers: --data DIR is needed"),
                            (["--peers", "a=127.0.0.1:1", "--join", "127.0.0.1:1", "--name", "a"], "--peers and --join"),
                            (["--witness", "--data", self.folder.name], "--witness: a witness votes in a cluster"),
                            (["--witness", "--join", "127.0.0.1:1"], "--witness: --data DIR is needed"),
                            (["--join", "10.0.0.1:7440"], "cannot reach this node at 127.0.0.1:7440; give --listen"),
                            (["--join", "127.0.0.1:1", "--listen", "0.0.0.0:9", "--insecure"], "other nodes cannot connect to this address"),
                            (["--peers", "a=127.0.0.1:99999", "--name", "a"], "a number from 1 to 65535"),
                            (["--peers", "a=::1:7440", "--name", "a"], "in brackets"),
                            (["--name", "a b"], "printable ASCII without spaces"),
                            (["--name", "ä"], "printable ASCII"),
                            (["--name", ""], "1 to 255 bytes"),
                            (["--algorithm", "neilson"], "neilsen"),
                            (["--algorithm", "bully"], "this is an election"),
                            (["--param", "text=printed"], "parameter 'text=printed': neilsen has init"),
                            (["--algorithm", "maekawa", "--param", "text=printed"], "--param text: other values"),
                            (["--algorithm", "maekawa", "--param", "committees=1.2/2.3/3.1"], "fixes the number of members"),
                            (["--algorithm", "misra", "--param", "tokens=3"], "--param tokens: other values"),
                            (["--algorithm", "suzuki-kasami-b", "--param", "replies=off"], "--param replies: other values"),
                            (["--topology", "moebius"], "moebius"),
                            (["--log", "loud"], "error, warning, info or debug"),
                            (["--data", "/nonexistent/folder"], "'/nonexistent/folder' cannot be made"),
                            (["--client-timeout", "0"], "--client-timeout"),
                            (["--max-clients", "0"], "--max-clients"), (["--max-user-locks", "0"], "--max-user-locks"),
                            (["--tls-ca", "x"], "--tls-ca: --tls-key is needed too"),
                            (["extra"], "unexpected 'extra'")):
            with self.subTest(words=words):
                self.refused(*words, says=[says])

    def test_what_is_not_loopback_needs_insecure(self):
        for host in ("0.0.0.0", "[::]", "10.0.0.1"):
            self.refused("--name", "a", "--peers", "a=127.0.0.1:7440,b=127.0.0.1:7441", "--listen", f"{host}:7440",
                         "--data", self.folder.name, says=["--listen", "not loopback", "--insecure allows it"])
            self.refused("--clients", f"{host}:7440", says=["--clients", "not loopback", "--insecure allows it"])
            self.refused("--listen", f"{host}:7440", says=["--listen", "not loopback", "--insecure allows it"])
        node = Node(self.folder.name, "n1", ["--clients", f"0.0.0.0:{free_port()}", "--insecure"]).start()
        until("it serves", node.serves)
        self.assertEqual(node.end(), 0)

    def test_bad_usage_is_told_in_one_line_and_makes_no_folder(self):
        """The folder may be misspelt too, so it is made when nothing else is wrong."""
        data = self.path("new")
        for words in (["--listen", "10.0.0.1:7440"], ["--algorithm", "neilson"], ["--lease", "1ms"], ["--witness"],
                      ["--name", "c", "--peers", "a=127.0.0.1:7440"], ["--tls-ca", "x"], ["--links", "a-b"]):
            with self.subTest(words=words):
                self.refused(*words, "--data", data, says=["baton node: "])
                self.assertFalse(os.path.exists(data))

    # --- sockets that are taken ---

    def test_a_second_node_on_the_same_socket_leaves_the_first_alone(self):
        with Cluster(1) as cluster:
            first = cluster[0]
            with first.client() as holder:
                holder.call("LOCK", "x")
                self.refused("--socket", first.socket, code=1, says=["another node serves", first.socket])
                self.assertEqual(holder.call("UNLOCK", "x"), 1)
            self.assertEqual(first.status()["waiting_for"], None)

    @unittest.skipUnless(may_trace(), "needs strace, and no sanitizer")
    def test_of_two_that_find_the_socket_of_a_killed_node_one_serves(self):
        """Each node is made to wait half a second before it removes that socket, so that the other has time to make its own."""
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(self.path("n1.sock"))
        slowly = ["strace", "-D", "-qq", "-o", "/dev/null", "-e", "trace=unlink", "-e", "inject=unlink:delay_enter=500000"]
        nodes = [Node(self.folder.name, name, ["--socket", self.path("n1.sock")], prefix=slowly).start() for name in ("n1", "n2")]
        for node in nodes:
            self.addCleanup(node.process.wait)
            self.addCleanup(node.process.kill)
        until("one is refused", lambda: any(node.process.poll() is not None for node in nodes))
        refused = next(node for node in nodes if node.process.poll() is not None)
        serves = next(node for node in nodes if node is not refused)
        self.assertEqual(refused.process.wait(), 1)
        self.assertIn("another node serves", refused.log())
        until("the other takes clients", lambda: takes_clients(self.path("n1.sock")))
        self.assertIsNone(serves.process.poll())
        serves.signal(signal.SIGTERM)
        self.assertEqual(serves.wait(), 0)

    def test_a_second_node_on_the_same_port_leaves_the_first_alone(self):
        with Cluster(2, each=lambda index: ["--clients", f"127.0.0.1:{free_port()}"]) as cluster:
            listen = f"127.0.0.1:{cluster.ports[0]}"
            self.refused("--socket", self.path("b.sock"), "--name", "n1", "--peers", cluster.peers(), "--data",
                         self.folder.name, code=1, says=[f"--listen: cannot listen on {listen}", "Address already in use"])
            clients = cluster[0].options[-1]
            self.refused("--socket", self.path("b.sock"), "--clients", clients, code=1,
                         says=[f"--clients: cannot listen on {clients}", "Address already in use"])
            self.assertFalse(os.path.exists(self.path("b.sock")))
            self.assertEqual(cluster[0].status()["silent"], [])

    def test_a_socket_that_nobody_serves_is_replaced(self):
        node = Node(self.folder.name, "n1", []).start()
        until("it serves", node.serves)
        node.signal(signal.SIGKILL)
        self.assertTrue(os.path.exists(node.socket))
        node.start()
        until("it serves again", node.serves)
        self.assertEqual(node.end(), 0)
        self.assertFalse(os.path.exists(node.socket))

    def test_what_is_no_socket_is_not_touched(self):
        with open(self.path("file"), "w", encoding="ascii") as file:
            file.write("precious")
        self.refused("--socket", self.path("file"), code=1, says=["exists and is not a socket"])
        with open(self.path("file"), encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")
        self.refused("--socket", self.path("none/x.sock"), code=1, says=["none/x.sock", "No such file or directory"])
        self.refused("--socket", self.path("x" * 200), says=["a path has 1 to 107 bytes"])
        self.refused("--socket", "", says=["a path has 1 to 107 bytes"])

    def test_what_cannot_be_meant_is_refused(self):
        self.refused("--name", "", says=["--name: 1 to 255 bytes are needed"])
        self.refused("--listen", "0.0.0.0:9", "--data", self.folder.name, says=["--listen 0.0.0.0:9: other nodes cannot connect to this address"])
        self.refused("--name", "a", "--data", self.folder.name, "--peers", "a=127.0.0.1:9,b=127.0.0.1:9", says=["'a' and 'b' have the same address"])

    def test_a_host_that_does_not_exist(self):
        self.refused("--insecure", "--socket", self.path("b.sock"), "--clients", "no.such.host.invalid:7440", code=1,
                     says=["--clients: cannot listen on no.such.host.invalid:7440"])
        node = Node(self.folder.name, "a", ["--listen", f"127.0.0.1:{free_port()}", "--data", self.path("data"), "--peers",
                                           "a=127.0.0.1:7440,b=no.such.host.invalid:7440"]).start()
        node.says("host 'no.such.host.invalid' is not found")
        self.assertEqual(node.end(), 0)


class Alone(unittest.TestCase):
    """A node without peers says that it is a cluster of one, so that an operator who forgot them notices."""

    def start(self, *options, config=None):
        folder = tempfile.TemporaryDirectory(prefix="baton-test-")
        self.addCleanup(folder.cleanup)
        if config is not None:
            with open(os.path.join(folder.name, "baton.conf"), "w", encoding="utf-8") as file:
                file.write(config)
            options = ("--config", file.name, *options)
        node = Node(folder.name, "n1", options).start()
        self.addCleanup(lambda: node.process is not None and node.end())
        until("it serves", node.serves)
        return node

    def line(self, node):
        lines = [line for line in node.log().splitlines() if "a cluster of one" in line]
        self.assertEqual(len(lines), 1, node.log())
        self.assertIn("No other node keeps its clients out of locks that are held here.", lines[0])
        self.assertIn("give this one --data DIR and --join HOST:PORT, the address of any of them", lines[0])
        return lines[0]

    def test_without_anything_it_is_a_warning(self):
        self.assertIn(" n1 warning: a cluster of one in memory: no --data, --join or --peers.", self.line(self.start()))

    def test_a_file_without_the_line_is_an_error_in_the_log(self):
        node = self.start("--log", "error", config="lease = 3s\n")
        self.assertRegex(self.line(node), r" n1 error: a cluster of one in memory: \S+/baton.conf has no line 'data = ...'")

    def test_an_address_where_nobody_is_let_in(self):
        port, other = free_port(), free_port()
        node = self.start("--listen", f"127.0.0.1:{port}")
        self.assertIn(f" n1 error: a cluster of one in memory: no --data, --join or --peers; no other node is let in "
                      f"at --listen 127.0.0.1:{port}.", self.line(node))
        node = self.start(config=f"listen = 127.0.0.1:{other}\n")
        self.assertRegex(self.line(node), rf"baton.conf has no line .*; no other node is let in at --listen 127.0.0.1:{other}\.")

    def test_who_has_peers_says_nothing_of_the_kind(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            self.assertNotIn("cluster of one", self.start("--peers", f"n1=127.0.0.1:{free_port()}", "--data", first).log())
            config = f"peers = n1=127.0.0.1:{free_port()}\ndata = {second}\n"
            self.assertNotIn("cluster of one", self.start(config=config).log())

    def test_systemd_is_told_too(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(f"{folder}/notify")
            manager.settimeout(60)
            node = Node(folder, "n1", [], env={"NOTIFY_SOCKET": f"{folder}/notify"}).start()
            self.assertEqual(manager.recv(4096), b"READY=1\nSTATUS=serving, a cluster of one")
            self.assertEqual(node.end(), 0)


class Readiness(unittest.TestCase):
    def test_systemd_is_told_when_it_serves_and_when_it_leaves(self):
        for abstract in (False, True):
            with self.subTest(abstract=abstract), tempfile.TemporaryDirectory() as folder, \
                    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                address = f"\0baton-test-{os.getpid()}" if abstract else f"{folder}/notify"
                manager.bind(address)
                manager.settimeout(60)
                cluster = Cluster(2)
                for node in cluster:
                    node.env = {"NOTIFY_SOCKET": address.replace("\0", "@")}
                cluster[0].start()
                until("n1 listens", cluster[0].answers)
                self.assertIsNotNone(cluster[0].status()["waiting_for"])
                manager.setblocking(False)
                self.assertRaises(BlockingIOError, manager.recv, 4096) # the node serves nobody yet
                manager.settimeout(60)
                cluster[1].start()
                self.assertEqual({manager.recv(4096), manager.recv(4096)}, {b"READY=1\nSTATUS=serving"})
                cluster.ready()
                cluster.end()
                self.assertEqual({manager.recv(4096), manager.recv(4096)}, {b"STOPPING=1"})

    def test_who_is_told_again_and_again_to_end_ends_well(self):
        for _ in range(10):
            with Cluster(1) as cluster:
                while cluster[0].process.poll() is None:
                    cluster[0].signal(signal.SIGTERM)
                    time.sleep(0.0002)
                self.assertEqual(cluster[0].wait(), 0)

    def test_the_log_has_its_levels(self):
        with Cluster(1, "--log", "error") as cluster:
            self.assertEqual(cluster[0].log(), "")
        with Cluster(1, "--log", "info") as cluster:
            cluster[0].says("serving on")
            self.assertRegex(cluster[0].log().splitlines()[-1],
                             r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z n1 info: serving on ")

    def test_the_journal_has_its_own_form(self):
        with tempfile.TemporaryDirectory() as folder:
            node = Node(folder, "n1", [])
            with open(node.log_path, "wb") as log:
                found = os.fstat(log.fileno())
            node.env = {"JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}
            node.start()
            node.says("<6>n1: serving on")
            self.assertEqual(node.end(), 0)
            node.env = {"JOURNAL_STREAM": "1:2"} # these numbers are those of another file
            node.start()
            node.says("Z n1 info: serving on")
            self.assertEqual(node.end(), 0)

    def test_names_cannot_forge_the_log(self):
        with Cluster(1) as cluster, cluster[0].client() as client:
            name = "x\n2026-01-01T00:00:00.000Z n1 error: forged\x1b[2J\u0085"
            client.call("BREAK", name, client.call("LOCK", name))
            cluster[0].says("an operator asks to break 'x?2026-01-01T00:00:00.000Z n1 error: forged?[2J??'")
            cluster[0].says("the holder of 'x?")

    def test_many_losses_take_few_lines(self):
        with Cluster(1, "--lease", "1s") as cluster, cluster[0].client() as client:
            client.send_bytes(b"".join(encode("LOCK", f"x{number}") for number in range(200)))
            self.assertTrue(all(isinstance(client.read(), int) for _ in range(200)))
            cluster[0].signal(signal.SIGSTOP)
            time.sleep(1.1) # the lease ends
            cluster[0].signal(signal.SIGCONT)
            cluster[0].says("136 more locks were lost within a second")
            self.assertEqual(cluster[0].log().count("has lost it"), 64)

    def test_help_names_every_option(self):
        text = baton("node --help").out
        for option in ("name", "peers", "join", "listen", "witness", "algorithm", "topology", "links", "param", "turns",
                       "idle-hop", "socket", "clients", "client-timeout", "lease", "data", "max-clients", "max-user-clients", "max-locks",
                       "max-user-locks", "insecure", "log", "config"):
            self.assertIn(f"--{option} ", text)


class Undisturbed(unittest.TestCase):
    """Tests events that do not stop a node."""

    def test_a_log_that_nobody_reads(self):
        """Lines that do not fit into the pipe are counted, and nothing waits for them."""
        read, write = os.pipe()
        os.set_blocking(write, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(write, b"\n")
        os.set_blocking(write, True)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "socket")
            node = subprocess.Popen([BATON, "node", "--name", "n", "--socket", path, "--lease", "1h"], stderr=write,
                                    stdin=subprocess.DEVNULL, env=environment())
            os.close(write)
            try:
                until("it answers", lambda: takes_clients(path))
                with Client(path) as holder, Client(path) as operator:
                    holder.call("CLIENT", "GRACE", 1000)
                    for _ in range(10): # each makes two lines
                        fence = holder.call("LOCK", "x")
                        self.assertEqual(operator.call("BREAK", "x", fence), 1)
                        holder.call("UNLOCK", "x")
                    with open(read, "rb", buffering=0) as pipe:
                        pipe.read(1 << 20)
                        fence = holder.call("LOCK", "x")
                        operator.call("BREAK", "x", fence)
                        until("it is told how many lines are missing", lambda: b"lines are missing here" in pipe.read(1 << 20))
            finally:
                node.terminate()
                self.assertEqual(node.wait(60), 0)

    def test_closed_descriptors(self):
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            with self.subTest(closed=closed), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "socket")
                words = " ".join(f"{fd}{'<' if fd == 0 else '>'}&-" for fd in closed)
                node = subprocess.Popen(["sh", "-c", f"exec {BATON} node --name n --socket {path} --log debug {words}"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
                try:
                    until("it answers", lambda: takes_clients(path) or node.poll() is not None)
                    with Client(path) as client:
                        fence = client.call("LOCK", "x")
                        with Client(path) as operator: # a break is logged
                            self.assertEqual(operator.call("BREAK", "x", fence), 1)
                            self.assertEqual(operator.call("PING"), "PONG")
                        self.assertEqual(client.call("PING"), "PONG")
                finally:
                    node.terminate()
                    self.assertEqual(node.wait(60), 0)

    def test_a_hangup(self):
        with Cluster(1) as cluster, cluster[0].client() as client:
            fence = client.call("LOCK", "x")
            cluster[0].signal(signal.SIGHUP)
            cluster[0].says("SIGHUP")
            self.assertEqual(client.call("UNLOCK", "x", fence), 1)


class Breaking(unittest.TestCase):
    def break_it(self, cluster, fence, *words):
        return subprocess.run([BATON, "break", "-S", cluster[0].socket, "x*[", "--fence", str(fence), *words],
                              capture_output=True, text=True, check=False, env=environment(), timeout=60)

    def test_it_waits_for_the_holder_to_stop(self):
        with Cluster(1) as cluster, cluster[0].client() as holder, cluster[0].client() as other:
            holder.call("CLIENT", "GRACE", 1000)
            fence = holder.call("LOCK", "x*[")
            other.call("LOCK", "xy[") # if the other lock's name were taken for a pattern, it would match this one
            done = self.break_it(cluster, fence, "--json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(json.loads(done.stdout), {"name": "x*[", "fence": fence, "broken": True, "gone": True})
            self.assertGreater(other.call("LOCK", "x*[", "NOWAIT"), fence)

    def test_or_says_that_it_goes_on(self):
        with Cluster(1, "--lease", "1s") as cluster, cluster[0].client() as holder:
            fence = holder.call("LOCK", "x*[")
            self.assertEqual(holder.call("CLIENT", "STAY"), "OK")
            done = self.break_it(cluster, fence)
            self.assertEqual(done.returncode, 0)
            self.assertIn("has not stopped yet", done.stderr)


if __name__ == "__main__":
    unittest.main()
