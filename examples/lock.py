#!/usr/bin/python3
"""Holds a lock until standard input ends; with Debian's python3-redis.

    lock.py LOCK MILLISECONDS

Exit: 0 given back; 69 no node; 75 not free in time; 76 it was lost meanwhile.
"""
import os
import sys

import redis


class Session:
    """A connection is a session: there is one connection, never a pool, and it is never reopened without our knowledge."""

    def __init__(self, socket):
        self.connection = redis.connection.UnixDomainSocketConnection(path=socket)
        self.connection.connect()

    def ask(self, *words):
        self.connection.send_command(*words, check_health=False)
        return self.connection.read_response()

    def lock(self, name, timeout_ms):
        """Takes the lock. Returns its fence, or None."""
        return self.ask("LOCK", name, "TIMEOUT", timeout_ms)

    def unlock(self, name, fence):
        """Gives the lock back. Returns whether it was held until this moment."""
        return self.ask("UNLOCK", name, fence) == 1


def main(name, timeout_ms):
    try:
        session = Session(os.environ.get("BATON_SOCKET", "/run/baton.sock"))
        fence = session.lock(name, timeout_ms)
    except redis.RedisError as error:
        print(error, file=sys.stderr)
        return 69
    if fence is None:
        print(f"{name} is not free", file=sys.stderr)
        return 75
    print(f"fence {fence}", flush=True)

    sys.stdin.read()  # the work; pass the fence to every service that checks it

    try:
        held = session.unlock(name, fence)
    except redis.ConnectionError:
        held = False  # the session has ended, so its locks are lost
    if not held:
        print(f"{name} was lost", file=sys.stderr)
    return 0 if held else 76


sys.exit(main(*sys.argv[1:]))
