"""Tests doc/operating.md: its file and its unit make a cluster that clients find without an address."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from baton import BATON
from cluster import PATIENCE_S, environment, free_port, until

PAGE = (pathlib.Path(__file__).parents[2] / "doc" / "operating.md").read_text()


def file_of(name):
    """Returns the block that begins with this file's name."""
    return re.search(rf"^    # {re.escape(name)}\n((?:    .*\n|\n(?=    [^#]))*)", PAGE, re.M)[1].replace("    ", "")


class Unit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="baton-test-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.unit = file_of("/etc/systemd/system/baton.service")
        self.processes = []
        self.addCleanup(self.end)

    def end(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(PATIENCE_S)

    def setting(self, name):
        return re.search(rf"^{name}=(.*)$", self.unit, re.M)[1]

    def here(self, text, host):
        """Returns the same text, with its paths below a folder that stands for the host."""
        for path in ("/run", "/var/lib", "/etc"):
            text = re.sub(rf"(?<![\w/]){path}/", f"{self.root}/{host}{path}/", text)
        return text

    def start(self, host, addresses):
        """Starts the node as systemd does for the unit."""
        for folder in ("run/" + self.setting("RuntimeDirectory"), "var/lib/" + self.setting("StateDirectory"), "etc"):
            (self.root / host / folder).mkdir(parents=True)
        config = file_of("/etc/baton.conf").replace("name = a\n", f"name = {host}\n")
        for old, new in addresses.items():
            config = config.replace(old, new)
        command = self.setting("ExecStart").split()
        self.assertEqual(command[:3], ["/usr/local/bin/baton", "node", "--config"])
        pathlib.Path(self.here(command[3], host)).write_text(self.here(config, host))
        before = self.setting("ExecStartPre")
        self.assertEqual(before[0], "+")
        subprocess.run(self.here(before[1:], host).split(), check=True)
        log = self.enterContext(open(self.root / host / "log", "wb"))
        self.processes.append(subprocess.Popen([BATON, "node", "--config", self.here(command[3], host)], stderr=log,
                                               env=environment()))

    def test_the_units_leave_little_to_an_attacker(self):
        """Asks systemd itself to rate the sandbox: 0 is safe, 10 is not."""
        for name in ("baton", "baton-web"):
            path = self.root / f"{name}.service"
            path.write_text(file_of(f"/etc/systemd/system/{name}.service"))
            told = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=25", "--no-pager", path], text=True,
                                  capture_output=True, check=False, timeout=PATIENCE_S)
            self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
            self.assertRegex(told.stdout, rf"Overall exposure level for {name}.service: [0-2]\.\d OK")

    def test_clients_find_its_socket(self):
        peers = re.findall(r"\w+=(10\.0\.0\.\d:7440)", file_of("/etc/baton.conf"))
        self.assertEqual(len(peers), 3)
        addresses = {peer: f"127.0.0.1:{port}" for peer, port in zip(peers, [free_port(), free_port(), free_port()])}
        # The last place where clients look. XDG_RUNTIME_DIR stands for /run here.
        self.assertIn(" /run/baton.sock", self.setting("ExecStartPre"))
        for host in "abc":
            self.start(host, addresses)
        for host in "abc":
            client = environment(XDG_RUNTIME_DIR=str(self.root / host / "run"))
            until(lambda: f"{host} serves: {(self.root / host / 'log').read_text()}",
                  lambda: subprocess.run([BATON, "status", "--ready"], env=client, check=False).returncode == 0)
            done = subprocess.run([BATON, "run", "x", "sh", "-c", "echo $BATON_NODE"], env=client, capture_output=True, text=True,
                                  timeout=PATIENCE_S, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, host + "\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
