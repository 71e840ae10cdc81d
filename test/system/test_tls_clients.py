"""Tests our own clients with TLS: every command, libbaton, and their messages if there is no TLS with the node."""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import unittest

from baton import BATON, baton
from certificates import Certificates
from cluster import Cluster, environment, free_port, until
from resp import Client


def listens(port):
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


class TlsClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="baton-test-tls-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.certificates = Certificates(os.path.join(cls.folder, "pki"))
        cls.others = Certificates(os.path.join(cls.folder, "other"))
        cls.address = f"127.0.0.1:{free_port()}"
        cls.cluster = Cluster(1, "--clients", cls.address, *cls.certificates.options("n1"))
        cls.cluster.start()
        cls.addClassCleanup(cls.cluster.end)
        cls.files = cls.of(cls.certificates.make("client", "backup"))

    @classmethod
    def of(cls, pair, pki=None):
        return ["--tls-ca", (pki or cls.certificates).path("ca.crt"), "--tls-cert", pair[0], "--tls-key", pair[1]]

    def fails(self, text, code, address, files, *words):
        result = baton(*(words or ["status"]), "-S", address, *files)
        self.assertEqual((result.code, result.out), (code, ""), result)
        self.assertEqual(result.err.count("\n"), 1, result)
        self.assertIn(text, result.err)

    def test_every_command(self):
        at = ["-S", self.address, *self.files]
        for words, text in ((["status"], "n1: a cluster of one"), (["whoami"], "certificate backup"), (["can", "x"], "lock"),
                            (["member", "list"], "n1"), (["run", "x", "echo", "inside"], "inside")):
            result = baton(*words[:1], *at, *words[1:])
            self.assertEqual(result.code, 0, result)
            self.assertIn(text, result.out)
        with subprocess.Popen([BATON, "lock", *at, "x"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as lock:
            self.assertGreater(int(lock.stdout.readline()), 0)
            lock.stdin.close()
            self.assertEqual(lock.wait(30), 0)
        with subprocess.Popen([BATON, "observe", *at, "chief"], stdout=subprocess.PIPE, text=True) as observer, \
                subprocess.Popen([BATON, "elect", *at, "chief", "me"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as chief:
            self.assertIn("me", observer.stdout.readline())
            fence = chief.stdout.readline().split()[0]
            result = baton("break", *at, "--fence", fence, "chief")
            self.assertEqual(result.code, 0, result)
            self.assertEqual(chief.wait(30), 76)
            observer.terminate()

    def test_commands_before_the_end_of_tls_are_carried_out(self):
        """The node needs more than one turn of this client to serve all these commands."""
        context = ssl.create_default_context(cafile=self.files[1])
        context.check_hostname = False
        context.load_cert_chain(self.files[3], self.files[5])
        host, port = self.address.split(":")
        pairs = 3000
        with Client((host, int(port)), wrap=context.wrap_socket) as client, self.cluster[0].client() as other:
            before = int(re.search(r"grants_here:(\d+)", other.call("INFO")).group(1))
            self.cluster[0].signal(signal.SIGSTOP)
            client.send_bytes(b"LOCK x\r\nUNLOCK x\r\n" * pairs)
            client.socket.setblocking(False)
            with contextlib.suppress(ssl.SSLWantReadError): # unwrap has sent the end of TLS, and would wait for the node's
                client.socket.unwrap()
            self.cluster[0].signal(signal.SIGCONT)
            until("all are carried out",
                  lambda: int(re.search(r"grants_here:(\d+)", other.call("INFO")).group(1)) == before + pairs)

    def test_a_long_reply_to_the_last_command_comes_after_the_end_of_tls(self):
        """Once the client ends TLS in its direction, once it only closes its side of the connection."""
        context = ssl.create_default_context(cafile=self.files[1])
        context.check_hostname = False
        context.load_cert_chain(self.files[3], self.files[5])
        host, port = self.address.split(":")
        with self.cluster[0].client() as holder:
            for number in range(1000):
                holder.call("LOCK", f"many-{number}")
            for ends_tls in (True, False):
                with self.subTest(ends_tls=ends_tls), Client((host, int(port)), wrap=context.wrap_socket) as client:
                    self.cluster[0].signal(signal.SIGSTOP) # so that it hears the end before the reply is there
                    client.send("STATUS", "many-*")
                    client.socket.setblocking(False)
                    if ends_tls:
                        self.assertRaises(ssl.SSLWantReadError, client.socket.unwrap)
                    else:
                        socket.socket.shutdown(client.socket, socket.SHUT_WR)
                    self.cluster[0].signal(signal.SIGCONT)
                    client.socket.settimeout(60)
                    self.assertEqual(len(json.loads(client.read())["locks"]), 1000)

    def test_the_environment_which_a_command_gets_too(self):
        inner = f"'{BATON}' status | head -n 1; '{BATON}' whoami"
        done = subprocess.run([BATON, "run", "-S", self.address, *self.files, "x", "-c", inner], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, "n1: a cluster of one[^Z]*certificate backup")
        names = dict(zip(("BATON_TLS_CA", "BATON_TLS_CERT", "BATON_TLS_KEY"), self.files[1::2]))
        done = subprocess.run([BATON, "whoami"], env={**environment(), **names, "BATON_SOCKET": self.address}, capture_output=True,
                              text=True, check=False)
        self.assertIn("certificate backup", done.stdout, done)

    def test_a_socket_needs_no_files(self):
        self.assertEqual(baton("status", "-S", self.cluster[0].socket, "--tls-ca", "/none").code, 0)

    def test_files_that_cannot_be_used(self):
        good = self.files
        for files, text in ((good[:4], "--tls-key (BATON_TLS_KEY) is missing"), (good[2:], "--tls-ca (BATON_TLS_CA) is missing"),
                            (["--tls-ca", "/none", *good[2:]], "--tls-ca '/none': No such file"),
                            ([*good[:4], "--tls-key", self.certificates.make("client", "other")[1]], "--tls-key"),
                            (self.of(self.certificates.odd("past", "backup", end="20210101000000Z", uri="baton:client:")),
                             "certificate has expired")):
            self.fails(text, 2, self.address, files)
        self.assertEqual(baton("run", "-S", self.address, *good[:4], "x", "true").code, 64)

    def test_refused_by_the_node(self):
        both = os.path.join(self.folder, "both.crt")
        with open(both, "wb") as out:
            for pki in (self.certificates, self.others):
                with open(pki.path("ca.crt"), "rb") as file:
                    out.write(file.read())
        stranger = self.others.make("client", "backup")
        self.fails("it refuses our certificate: its CA has not signed it", 77, self.address,
                   ["--tls-ca", both, "--tls-cert", stranger[0], "--tls-key", stranger[1]])
        self.fails("this is a node's certificate", 77, self.address, self.of(self.certificates.make("node", "n9")))
        self.fails("this port needs TLS: --tls-ca, --tls-cert and --tls-key", 69, self.address, [])

    def test_a_node_that_is_not_trusted(self):
        self.fails("its certificate is not signed by this cluster's CA", 77, self.address,
                   self.of(self.others.make("client", "backup"), self.others))
        self.fails("its certificate is not for this host", 77, self.address.replace("127.0.0.1", "127.1"), self.files)

    def test_impostors(self):
        """A certificate of a client, or one that has expired, is not enough to play a node."""
        for pair, text in ((self.certificates.make("client", "thief"), "its certificate is for clients"),
                           (self.certificates.odd("old", "n1", end="20210101000000Z", more=",IP:127.0.0.1"), "its certificate has expired")):
            port = free_port()
            with subprocess.Popen(["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", pair[0], "-key", pair[1], "-quiet",
                                   "-Verify", "1", "-CAfile", self.certificates.path("ca.crt")], stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
                try:
                    until("it listens", lambda port=port: listens(port))
                    self.fails(text, 77, f"127.0.0.1:{port}", self.files)
                finally:
                    server.kill()

    def test_a_node_without_tls(self):
        address = f"127.0.0.1:{free_port()}"
        with Cluster(1, "--clients", address):
            for _ in range(5): # a handshake contains random bytes, and sometimes an end of line among them
                self.fails("does not use TLS there", 69, address, self.files)

    def test_nobody_answers_the_handshake(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.fails("does not go on with the TLS handshake", 69, f"127.0.0.1:{listener.getsockname()[1]}", self.files, "lock", "x")


if __name__ == "__main__":
    unittest.main()
