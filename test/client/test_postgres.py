"""Tests examples/fence.sql with a real PostgreSQL and fences of a real node: a stale fence is refused."""
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

from baton import ROOT
from running import PATIENCE, Node, Program, redis_cli

PROGRAMS = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]


class Server:
    """A PostgreSQL server in its own folder, with a Unix socket there. It does not run as root, because PostgreSQL refuses
    that."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="baton-postgres-")
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(self.folder, "postgres")
        self.run("initdb", "-D", f"{self.folder}/data", "-U", "tester", "-A", "trust", "--no-sync")
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-w", "-o",
                 f"-k {self.folder} -c listen_addresses='' -c fsync=off", "start")

    def run(self, program, *words):
        # Do not use pipes: the server would inherit them, and they would never end.
        subprocess.run([*self.user, os.path.join(PROGRAMS, program), *words], cwd="/", check=True, timeout=PATIENCE,
                       stdout=subprocess.DEVNULL)

    def psql(self, *words):
        return ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "tester", "-d", "postgres",
                *words]

    def do(self, sql, expect=0, **variables):
        words = [word for name, value in variables.items() for word in ("-v", f"{name}={value}")]
        done = subprocess.run(self.psql(*words), input=sql, capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert done.returncode == expect, done
        return done.stdout.rstrip("\n") if expect == 0 else done.stderr

    def stop(self):
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", "fast", "-w", "stop")
        shutil.rmtree(self.folder)


TAKE = """
begin;
select check_fence('stock', :fence);
update stock set amount = amount - :taken where item = 'pen';
commit;
"""


class Postgres(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.node = Node()
        self.node.__enter__()
        self.addCleanup(self.node.__exit__)
        self.server.do("drop table if exists fences, stock")
        # Do what the file says, twice: repeating it does no harm.
        for _ in range(2):
            subprocess.run(self.server.psql("-f", os.path.join(ROOT, "examples", "fence.sql")), check=True, timeout=PATIENCE,
                           stderr=subprocess.DEVNULL)
        self.server.do("create table stock (item text primary key, amount bigint, fence bigint not null default 0);"
                       "insert into stock values ('pen', 100)")

    def amount(self):
        return int(self.server.do("select amount from stock"))

    def lock(self):
        """Returns a session that holds the lock, and its fence."""
        session = Program("redis-cli", "-s", self.node.socket)
        self.addCleanup(session.__exit__)
        session.tell("LOCK stock")
        return int(session.line())

    def lock_twice(self):
        """Returns two fences. The holder of the first has lost the lock, and may not know it."""
        old = self.lock()
        self.assertEqual(redis_cli(self.node, "BREAK", "stock", old), "1")
        return old, self.lock()

    def test_a_stale_fence_is_refused(self):
        old, new = self.lock_twice()
        self.assertGreater(new, old)
        self.server.do(TAKE, fence=old, taken=1)
        self.server.do(TAKE, fence=new, taken=10)
        self.server.do(TAKE, fence=new, taken=20)
        self.assertIn(f"stale fence {old} for stock", self.server.do(TAKE, expect=3, fence=old, taken=1))
        self.assertEqual(self.amount(), 69)

    def test_nobody_passes_between_the_check_and_the_write(self):
        old, new = self.lock_twice()
        with Program(*self.server.psql("-v", f"fence={new}")) as writer:
            writer.tell("begin; select check_fence('stock', :fence); select 'checked';")
            while writer.line() != "checked":
                pass
            with Program(*self.server.psql("-v", f"fence={old}", "-v", "taken=1")) as late:
                late.tell(TAKE)
                # The other writer waits for the row, so its check happens after our write.
                while self.server.do("select count(*) from pg_locks where not granted") != "1":
                    pass
                writer.tell("update stock set amount = amount - 10; commit;")
                self.assertEqual(writer.end()[0], 0)
                code, _, err = late.end()
                self.assertEqual(code, 3)
                self.assertIn(f"stale fence {old}", err)
        self.assertEqual(self.amount(), 90)

    def test_a_transaction_that_fails_leaves_no_fence(self):
        old, new = self.lock_twice()
        self.server.do("begin; select check_fence('stock', :fence); rollback;", fence=new)
        self.server.do(TAKE, fence=old, taken=1)
        self.assertEqual(self.amount(), 99)

    def test_what_is_no_fence(self):
        for fence in (0, -5):
            self.assertIn("violates check constraint", self.server.do(TAKE, expect=3, fence=fence, taken=1))

    def test_a_fence_in_each_row(self):
        old, new = self.lock_twice()
        write = """with written as (update stock set amount = amount - 1, fence = :fence
                   where item = 'pen' and fence <= :fence returning 1) select count(*) from written"""
        self.assertEqual([self.server.do(write, fence=fence) for fence in (old, new, new, old)], ["1", "1", "1", "0"])
        self.assertEqual(self.amount(), 97)


unittest.main()
