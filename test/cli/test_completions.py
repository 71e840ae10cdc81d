"""Tests completion by asking the three shells themselves what they offer."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BATON = os.environ["BATON"]
TOOL = pathlib.Path(__file__).parents[2] / "tools" / "completions"


class Completions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        subprocess.run([TOOL, BATON, cls.folder], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def bash(self, *words):
        script = f'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _baton; printf "%s\\n" "${{COMPREPLY[@]}}"'
        return subprocess.run(["bash", "-c", script, "bash", self.folder + "/baton", *words], check=True,
                              capture_output=True, text=True).stdout.split()

    def fish(self, line):
        out = subprocess.run(["fish", "--no-config", "-c", f'source {self.folder}/baton.fish; complete -C "{line}"'], check=True,
                             capture_output=True, text=True).stdout
        return [entry.split("\t")[0] for entry in out.splitlines()]

    def test_bash_knows_commands_options_and_values(self):
        self.assertEqual(self.bash("baton", "al"), ["algorithms"])
        self.assertEqual(self.bash("baton", "check", "--re"), ["--reorder", "--reduce", "--restart", "--rewire"])
        self.assertEqual(self.bash("baton", "node", "--algorithm", "suz"), ["suzuki-kasami", "suzuki-kasami-b"])
        self.assertEqual(self.bash("baton", "sim", "--load", "li"), ["light"])

    def test_fish_knows_the_same(self):
        self.assertEqual(self.fish("baton al"), ["algorithms"])
        self.assertEqual(self.fish("baton check --re"), ["--reduce", "--reorder", "--restart", "--rewire"])
        self.assertEqual(sorted(self.fish("baton node --algorithm suz")), ["suzuki-kasami", "suzuki-kasami-b"])

    def test_zsh_takes_it(self):
        subprocess.run(["zsh", "-n", self.folder + "/_baton"], check=True)
        script = f"autoload -U compinit && compinit -u -D && fpath=({self.folder} $fpath) && autoload -U _baton && whence -w _baton"
        out = subprocess.run(["zsh", "-fc", script], check=True, capture_output=True, text=True).stdout
        self.assertEqual(out.strip(), "_baton: function")

    def test_every_command_is_there(self):
        text = subprocess.run([BATON, "help"], check=True, capture_output=True, text=True).stdout
        for command in ("sim", "check", "node", "dev", "status", "run", "lock", "elect", "observe", "break"):
            self.assertIn(f"\n  {command} ", text)
            self.assertIn(command, self.bash("baton", ""))


if __name__ == "__main__":
    unittest.main()
