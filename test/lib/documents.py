"""Shared by the tests of generated documents: runs the tools that make them, also on a copy."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import baton

ROOT = pathlib.Path(baton.ROOT)


def tool(name, *words, root=ROOT):
    environment = os.environ | {"BATON": os.path.abspath(baton.BATON)}
    return subprocess.run([sys.executable, root / "tools" / name, *words], env=environment, capture_output=True, text=True, check=False)


class Copy:
    """A copy of the files that the tools read. A test may break things in it."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.folder.name)
        for name in ("tools", "doc", "test/scenarios", "test/paper", "src/algorithms"):
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        return root

    def __exit__(self, *_):
        self.folder.cleanup()


def spoil(path, before, after):
    text = path.read_text(encoding="utf-8")
    assert before in text, f"{path} has no {before!r}"
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
