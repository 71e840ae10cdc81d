"""Makes hosts on this machine, with a switch between them that loses, delays, reorders and cuts.

Each host is a network namespace whose only interface is a TAP device. The switch is a process that has the other ends of all
these devices. So it needs only TAP from the kernel, and one seed decides which frames are lost. Run as a program, this file is the
switch: it reads rules from its standard input, one JSON object per line.
"""
import ctypes
import fcntl
import heapq
import itertools
import json
import os
import random
import select
import shutil
import struct
import subprocess
import sys
import time
import unittest

TUNSETIFF, IFF_TAP_NO_PI, CLONE_NEWNET = 0x400454CA, 0x1002, 0x40000000
# cut: pairs [from, to] between which nothing passes; slow: pairs [host, ms]: the host hears everything that much later
RULES = {"cut": [], "slow": [], "loss": 0, "delay_ms": 0, "jitter_ms": 0}
FRAME_MAX = 2048

_made = itertools.count()


def address(host):
    return f"10.98.0.{host + 1}"


def hardware_address(host):
    return bytes([2, 0, 0, 0, 0, host + 1])


class Switch:
    def __init__(self, taps, seed):
        self.taps = taps
        self.hosts = {tap: host for host, tap in enumerate(taps)}
        self.random = random.Random(seed)
        self.rules = dict(RULES)
        self.cut = set()
        self.slow = {}
        self.later = []  # (when, a unique number, tap, frame)
        self.count = 0

    def take_rules(self, line):
        self.rules = {**RULES, **json.loads(line)}
        self.cut = {tuple(pair) for pair in self.rules["cut"]}
        self.slow = {host: ms for host, ms in self.rules["slow"]}

    def take_frame(self, tap):
        frame = os.read(tap, FRAME_MAX)
        for host in range(len(self.taps)):
            if frame[0] & 1 or frame[:6] == hardware_address(host): # the frame is for all hosts, or for this one
                self.pass_on(self.hosts[tap], host, frame)

    def pass_on(self, source, target, frame):
        if source == target or (source, target) in self.cut or self.random.random() < self.rules["loss"]:
            return
        wait_ms = self.rules["delay_ms"] + self.random.random() * self.rules["jitter_ms"] + self.slow.get(target, 0)
        if wait_ms == 0:
            self.deliver(self.taps[target], frame)
            return
        self.count += 1
        heapq.heappush(self.later, (time.monotonic() + wait_ms / 1000, self.count, self.taps[target], frame))

    @staticmethod
    def deliver(tap, frame):
        try:
            os.write(tap, frame)
        except OSError: # the interface is full or down: the frame is lost, as on a real wire
            pass

    def run(self):
        poll = select.poll()
        for fd in (0, *self.taps):
            poll.register(fd, select.POLLIN)
        while True:
            wait_ms = None if not self.later else max(0, (self.later[0][0] - time.monotonic()) * 1000)
            for fd, _ in poll.poll(wait_ms):
                if fd != 0:
                    self.take_frame(fd)
                    continue
                line = sys.stdin.readline()
                if not line:
                    return
                self.take_rules(line)
                print("taken", flush=True)
            while self.later and self.later[0][0] <= time.monotonic():
                self.deliver(*heapq.heappop(self.later)[2:])


def open_tap(name):
    """Returns the outer end of a TAP device that belongs to a namespace."""
    with open(f"/run/netns/{name}", "rb") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH14x", b"wire", IFF_TAP_NO_PI))
    return tap


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)


class Wires:
    """`count` hosts, numbered from 0. Where that is not permitted, the test is skipped."""

    def __init__(self, count, seed=1):
        self.names = [f"baton-{os.getpid()}-{next(_made)}" for _ in range(count)]
        self.seed = seed
        self.switch = None
        self.made = []

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.end()
            raise
        return self

    def make(self):
        if shutil.which("ip") is None or not os.path.exists("/dev/net/tun"):
            raise unittest.SkipTest("hosts need ip (iproute2) and /dev/net/tun")
        for name in self.names:
            done = ip("netns", "add", name)
            if done.returncode != 0:
                raise unittest.SkipTest(f"network namespaces are not permitted here: {done.stderr.strip()}")
            self.made.append(name)
        self.switch = subprocess.Popen([sys.executable, __file__, str(self.seed), *self.names], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.switch.stdout.readline() != "ready\n":
            raise unittest.SkipTest(f"TAP devices are not permitted here: {self.switch.stderr.read().strip()}")
        for host, name in enumerate(self.names):
            for words in (("link", "set", "lo", "up"),
                          ("link", "set", "wire", "address", hardware_address(host).hex(":")),
                          ("address", "add", address(host) + "/24", "dev", "wire"), ("link", "set", "wire", "up")):
                done = ip("-n", name, *words)
                assert done.returncode == 0, done.stderr

    def rule(self, **rules):
        """Replaces all rules of the switch. Returns when they are in effect."""
        self.switch.stdin.write(json.dumps(rules) + "\n")
        self.switch.stdin.flush()
        assert self.switch.stdout.readline() == "taken\n"

    def within(self, host):
        """Returns the words to put before a command so that it runs on that host. The command keeps the process id."""
        return ["ip", "netns", "exec", self.names[host]]

    def end(self):
        if self.switch is not None:
            self.switch.stdin.close()
            self.switch.wait()
            self.switch.stdout.close()
            self.switch.stderr.close()
        for name in self.made:
            ip("netns", "delete", name)

    def __exit__(self, *_):
        self.end()


def main():
    taps = [open_tap(name) for name in sys.argv[2:]]
    print("ready", flush=True)
    Switch(taps, int(sys.argv[1])).run()


if __name__ == "__main__":
    main()
