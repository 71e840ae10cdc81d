"""Tests baton cert: the content of the files that it makes, and the words that it refuses."""
import os
import pathlib
import stat
import subprocess
import tempfile
import unittest

from baton import baton, report


def openssl(*words):
    return subprocess.run(["openssl", *words], capture_output=True, text=True, check=False)


class Cert(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.ca = self.path("pki")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def make(self, *words, expect=0, error=""):
        result = baton("cert", *words)
        self.assertEqual(result.code, expect, result)
        self.assertIn(error, result.err)
        self.assertEqual(result.err == "", expect == 0, result)
        return result

    def content(self):
        return {path.name: path.read_bytes() for path in pathlib.Path(self.ca).iterdir()}

    def text(self, name):
        return openssl("x509", "-in", os.path.join(self.ca, name + ".crt"), "-noout", "-text").stdout

    def test_three_commands_make_a_cluster(self):
        self.make("ca", self.ca)
        self.make("node", "n1", "--ca", self.ca, "--address", "10.0.0.1", "--address", "a.example")
        self.make("client", "backup", "--ca", self.ca)
        for name in os.listdir(self.ca):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.ca, name)).st_mode), 0o600, name)
        for purpose, name, good in (("sslserver", "n1", True), ("sslclient", "n1", True), ("sslclient", "backup", True),
                                    ("sslserver", "backup", False)):
            found = openssl("verify", "-CAfile", os.path.join(self.ca, "ca.crt"), "-purpose", purpose,
                            os.path.join(self.ca, name + ".crt"))
            self.assertEqual(found.returncode == 0, good, (purpose, name, found))
        node, client, ca = self.text("n1"), self.text("backup"), self.text("ca")
        for part in ("URI:baton:node:n1", "DNS:n1", "DNS:localhost", "IP Address:127.0.0.1", "IP Address:10.0.0.1", "DNS:a.example",
                     "prime256v1", "CA:FALSE"):
            self.assertIn(part, node)
        self.assertIn("URI:baton:client:backup", client)
        self.assertNotIn("DNS:", client)
        self.assertIn("CA:TRUE, pathlen:0", ca)

    def lasts(self, name, days):
        """Tells whether the certificate is valid for about this many days."""
        path = os.path.join(self.ca, name + ".crt")
        return [openssl("x509", "-in", path, "-noout", "-checkend", str((days + more) * 86400)).returncode
                for more in (-1, 1)] == [0, 1]

    def test_how_long_they_are_valid(self):
        self.make("ca", self.ca)
        self.make("node", "n1", "--ca", self.ca)
        self.make("client", "c", "--ca", self.ca, "--days", "30")
        self.assertTrue(self.lasts("ca", 3652))
        self.assertTrue(self.lasts("n1", 365))
        self.assertTrue(self.lasts("c", 30))
        self.make("node", "n2", "--ca", self.ca, "--days", "4000", expect=2, error="ends before 4000 days have passed")
        self.assertFalse(os.path.exists(os.path.join(self.ca, "n2.crt")))

    def test_nothing_is_replaced(self):
        self.make("ca", self.ca)
        self.make("node", "n1", "--ca", self.ca)
        before = self.content()
        self.make("ca", self.ca, expect=2, error="exists, and is not replaced")
        self.make("node", "n1", "--ca", self.ca, expect=2, error="exists, and is not replaced")
        self.make("client", "n1", "--ca", self.ca, expect=2, error="exists, and is not replaced")
        os.unlink(os.path.join(self.ca, "n1.crt")) # a difference in the key alone is enough
        self.make("node", "n1", "--ca", self.ca, expect=2, error="n1.key' exists, and is not replaced")
        del before["n1.crt"]
        self.assertEqual(before, self.content())

    def test_the_ca_is_found(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        self.assertIn("no CA here", baton("cert", "node", "n1").err)
        self.assertEqual(baton("cert", "ca", "pki").code, 0)
        self.assertEqual(baton("cert", "node", "n1").code, 0)
        self.assertTrue(os.path.exists(self.path("pki", "n1.key")))
        self.assertEqual(baton("cert", "ca", "other").code, 0)
        self.assertIn("choose one with --ca DIR", baton("cert", "node", "n2").err)
        self.make("node", "n2", "--ca", self.ca, "--out", self.path("out")) # the command makes the folder of --out
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["n2.crt", "n2.key"])

    def test_json(self):
        made = report("cert", "ca", self.ca)
        self.assertEqual(made, {"role": "ca", "name": None, "certificate": self.ca + "/ca.crt", "key": self.ca + "/ca.key",
                                "days": 3652})
        made = report("cert", "node", "n1", "--ca", self.ca)
        self.assertEqual((made["role"], made["name"], made["days"]), ("node", "n1", 365))

    def test_bad_usage(self):
        self.make("ca", self.ca)
        for words, error in ((["nod", "n1"], "did you mean 'node'"), ([], "what?"), (["node"], "needs one name"),
                             (["node", "a", "b"], "needs one name"), (["ca"], "needs one folder"), (["node", "a,b"], "printable ASCII"),
                             (["client", "*"], "a name must not contain * ? [ ] or ^"), (["client", "ci-[0-9]"], "must not contain * ?"),
                             (["node", "a/b"], "must not contain '/'"), (["node", ".."], "must not contain '/'"),
                             (["node", "x", "--days", "0"], "--days"), (["client", "c", "--address", "h"], "goes with node only"),
                             (["node", "x", "--address", "[::1]"], "without a port"), (["node", "x", "--address", "h:7"], "without a port"),
                             (["ca", self.path("new"), "--out", "x"], "only --days"), (["node", "x" * 256], "1 to 255 bytes")):
            self.make(*words, *(["--ca", self.ca] if words and words[0] != "ca" else []), expect=2, error=error)
        self.make("node", "n1", "--ca", self.path("none"), expect=2, error="No such file")
        self.make("ca", "/proc/none/pki", expect=2, error="cannot be made")

    def test_keys_that_do_not_belong_together(self):
        self.make("ca", self.ca)
        self.make("ca", self.path("two"))
        os.replace(self.path("two", "ca.key"), os.path.join(self.ca, "ca.key"))
        self.make("node", "n1", "--ca", self.ca, expect=2, error="is not the key of")
        with open(os.path.join(self.ca, "ca.key"), "w", encoding="ascii") as file:
            file.write("nonsense\n")
        self.make("node", "n1", "--ca", self.ca, expect=2, error="not a key in PEM")

    def test_a_name_that_no_host_can_have(self):
        self.make("ca", self.ca)
        self.make("node", "a:b+c", "--ca", self.ca)
        text = self.text("a:b+c")
        self.assertIn("URI:baton:node:a:b+c", text)
        self.assertNotIn("DNS:a", text)


if __name__ == "__main__":
    unittest.main()
