"""Tests doc/operating.md and the units for systemd: its file and the unit make a cluster that clients find without an address."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from baton import BATON
from cluster import PATIENCE_S, environment, free_port, until

UNITS = pathlib.Path(BATON).parent / "share" # as they are installed
PAGE = (pathlib.Path(__file__).parents[2] / "doc" / "operating.md").read_text()


def file_of(name):
    """Returns the block that begins with this file's name."""
    return re.search(rf"^    # {re.escape(name)}\n((?:    .*\n|\n(?=    [^#]))*)", PAGE, re.M)[1].replace("    ", "")


class Unit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="baton-test-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.unit = (UNITS / "baton.service").read_text()
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
        self.assertEqual((os.path.basename(command[0]), *command[1:3]), ("baton", "node", "--config"))
        pathlib.Path(self.here(command[3], host)).write_text(self.here(config, host))
        before = self.setting("ExecStartPre")
        self.assertEqual(before[0], "+")
        subprocess.run(self.here(before[1:], host).split(), check=True)
        log = self.enterContext(open(self.root / host / "log", "wb"))
        self.processes.append(subprocess.Popen([BATON, "node", "--config", self.here(command[3], host)], stderr=log,
                                               env=environment()))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd")
    def test_systemd_accepts_the_units_and_they_leave_little_to_an_attacker(self):
        """Asks systemd itself to rate the sandbox: 0 is safe, 10 is not."""
        units = sorted(UNITS.glob("*.service"))
        self.assertEqual([unit.stem for unit in units],
                         ["baton-web", "baton"] if os.path.exists(os.path.join(os.path.dirname(BATON), "baton-web")) else ["baton"])
        for unit in units:
            text, changed = re.subn(r"^ExecStart=\S+/baton ", f"ExecStart={BATON} ", unit.read_text(), flags=re.M)
            self.assertEqual(changed, 1)
            path = self.root / unit.name
            path.write_text(text)
            told = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", path], text=True, capture_output=True,
                                  check=False, timeout=PATIENCE_S)
            self.assertEqual((told.returncode, told.stderr), (0, ""))
            told = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=25", "--no-pager", path], text=True,
                                  capture_output=True, check=False, timeout=PATIENCE_S)
            self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
            self.assertRegex(told.stdout, rf"Overall exposure level for {unit.name}: [0-2]\.\d OK")

    @unittest.skipUnless(shutil.which("systemd-sysusers"), "there is no systemd")
    def test_the_users_of_the_units_can_be_made(self):
        configuration = (pathlib.Path(__file__).parents[2] / "share/systemd/sysusers.conf").read_text()
        (self.root / "etc").mkdir()
        subprocess.run(["systemd-sysusers", f"--root={self.root}", "-"], input=configuration, text=True, check=True, capture_output=True)
        made = {name: (self.root / "etc" / name).read_text() for name in ("passwd", "group")}
        users = []
        for unit in UNITS.glob("*.service"):
            for name, setting in (("passwd", "User"), ("group", "Group"), ("group", "SupplementaryGroups")):
                for wanted in re.findall(rf"^{setting}=(.*)$", unit.read_text(), re.M):
                    self.assertRegex(made[name], rf"(?m)^{wanted}:")
                    users += [wanted] * (setting == "User")
        self.assertEqual(len(set(users)), len(users), "the server of the page must not have the rights of the node's user")

    def test_clients_find_its_socket(self):
        peers = re.findall(r"\w+=(10\.0\.0\.\d:7440)", file_of("/etc/baton.conf"))
        self.assertEqual(len(peers), 3)
        addresses = {peer: f"127.0.0.1:{port}" for peer, port in zip(peers, [free_port(), free_port(), free_port()])}
        # /run/baton.sock is the last place where clients look. XDG_RUNTIME_DIR stands for /run
        # here.
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
