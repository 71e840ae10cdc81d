"""Tests the installed parts of libbaton (symbols, header, pkg-config, manual), and a program built with them."""
import os
import re
import subprocess
import tempfile
import unittest

from baton import ROOT
from running import PATIENCE, Node

BUILD = os.environ["BUILD"]
SANITIZE = [] if os.environ["SANITIZE"] == "none" else ["-fsanitize=" + os.environ["SANITIZE"]]


def run(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE, **more)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def declared():
    """Returns the functions that the header declares."""
    code = re.sub(r"/\*.*?\*/", "", read("include", "baton", "baton.h"), flags=re.S)
    return set(re.findall(r"\b(baton_\w+)\(", code))


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = folder.name
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", cls.root)
        cls.files = {os.path.relpath(os.path.join(where, name), cls.root)
                     for where, _, names in os.walk(cls.root) for name in names}
        package = os.path.dirname(cls.find("libbaton.pc"))
        cls.environment = {**os.environ, "PKG_CONFIG_LIBDIR": package + ":/usr/lib/x86_64-linux-gnu/pkgconfig",
                           "PKG_CONFIG_SYSROOT_DIR": cls.root}

    @classmethod
    def find(cls, name):
        found = [path for path in cls.files if os.path.basename(path) == name]
        assert len(found) == 1, (name, found)
        return os.path.join(cls.root, found[0])

    def compiled(self, source, *words):
        """Builds a program as a user would."""
        program = os.path.join(self.root, "program")
        flags = run("pkg-config", "--cflags", "libbaton", env=self.environment).split()
        run("cc", "-x", "c", "-", "-x", "none", "-o", program, "-Wall", "-Werror", *SANITIZE, *flags, *words, input=source)
        return program

    def test_what_is_installed(self):
        for name in ("libbaton.so", "libbaton.so.1", "libbaton.so.1.0.0", "libbaton.a", "libbaton.pc", "baton.h", "error.h",
                     "libbaton.3"):
            self.find(name)
        self.assertTrue(self.find("baton.h").endswith("include/baton/baton.h"))
        self.assertNotIn("libclient.a", {os.path.basename(path) for path in self.files})

    def test_the_shared_library_has_these_symbols_and_no_others(self):
        rows = run("nm", "-D", "--defined-only", self.find("libbaton.so")).splitlines()
        symbols = {row.split()[2] for row in rows if row.split()[1] != "A"}
        self.assertEqual(symbols, {f"{name}@@LIBBATON_1" for name in declared()})
        self.assertIn("Library soname: [libbaton.so.1]", run("readelf", "-d", self.find("libbaton.so")))

    def test_the_archive_has_these_symbols_and_no_others(self):
        rows = run("nm", "-g", "--defined-only", self.find("libbaton.a")).splitlines()
        symbols = {row.split()[2] for row in rows if len(row.split()) == 3}
        # Symbols that a sanitizer adds are weak, or have its own names.
        ours = {name for name in symbols if not name.startswith(("__", ".", "DW.ref"))}
        self.assertEqual(ours, declared())

    def test_what_was_in_a_release_stays(self):
        """Programs that were linked with version 1 must go on running: names may be added, but never removed."""
        self.assertLessEqual(set("""
            baton_address baton_break baton_cancel baton_close baton_connect baton_elect baton_elect_start baton_error_name
            baton_error_text baton_fd baton_fence baton_fence_check baton_finish baton_leader baton_lock baton_lock_start
            baton_lost baton_message baton_node baton_observe baton_observe_next baton_open baton_resign baton_status baton_sync
            baton_trylock baton_unlock baton_watch""".split()), declared())

    def test_the_header_stands_alone(self):
        folder = os.path.dirname(os.path.dirname(self.find("baton.h")))
        for compiler in (["cc", "-x", "c", "-std=c11"], ["clang", "-x", "c++"]):
            run(*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", folder, "-include", "baton/baton.h",
                "/dev/null")

    def test_the_manual_has_every_call_and_error(self):
        page = read("doc", "man", "libbaton.3.scd")
        for name in declared():
            self.assertRegex(page, rf"\b{name}\([^;]*;\n", name)
        header = read("include", "baton", "baton.h")
        for name in re.findall(r"\bBATON_E\w+", header):
            self.assertIn(f"*{name}*", page)
        for name in re.findall(r"\*(BATON_E\w+)\*", page):
            self.assertIn(name, header)
        # Codes that only nodes use among themselves need not be documented for users; all others must be.
        client = read("include", "baton", "error.h").split("Errors of the client library")[1].split("enum")[0]
        for name in re.findall(r"\bBATON_E\w+", client):
            self.assertIn(name, header)

    def test_the_manuals_example(self):
        page = read("doc", "man", "libbaton.3.scd").replace("\\\\", "\\")  # as scdoc does
        example = re.search(r"^# EXAMPLE\n\n```\n(.*?)^```", page, re.S | re.M)[1]
        shared = run("pkg-config", "--libs", "libbaton", env=self.environment).split()
        for words in (shared, [self.find("libbaton.a"), "-lhiredis", "-lssl", "-lcrypto"]):
            program = self.compiled(example, *words)
            environment = {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(self.find("libbaton.so"))}
            with Node() as node:
                self.assertRegex(run(program, env={**environment, "BATON_SOCKET": node.socket}), r"with fence \d+\n")
            done = subprocess.run([program], env={**environment, "BATON_SOCKET": "/nonexistent", "XDG_RUNTIME_DIR": ""},
                                  capture_output=True, text=True, check=False, timeout=PATIENCE)
            if not os.path.exists("/run/baton.sock"):
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("no node at /nonexistent", done.stderr)


unittest.main()
