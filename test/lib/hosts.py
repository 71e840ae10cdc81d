"""Makes hosts on this machine: network namespaces connected by cables. Where that is not permitted, the test is skipped."""
import os
import shutil
import subprocess
import unittest


def run(*words, check=True):
    return subprocess.run(words, capture_output=True, text=True, check=check)


class Hosts:
    """`count` hosts, numbered from 0, and cables (i, j) between them. On cable k, host i has 10.98.k.1 and host j 10.98.k.2. Host
    i also has an address of its own, home(i), by which all its neighbours reach it."""

    def __init__(self, count, cables):
        self.names = [f"baton-{os.getpid()}-{number}" for number in range(count)]
        self.cables = cables
        self.made = []

    def __enter__(self):
        if shutil.which("ip") is None:
            raise unittest.SkipTest("network namespaces need ip (iproute2), which is not installed")
        try:
            for name in self.names:
                done = run("ip", "netns", "add", name, check=False)
                if done.returncode != 0:
                    raise unittest.SkipTest(f"network namespaces are not permitted here: {done.stderr.strip()}")
                self.made.append(name)
                done = run("ip", "-n", name, "link", "set", "lo", "up", check=False)
                if done.returncode != 0:
                    raise unittest.SkipTest(f"network namespaces cannot be used here: {done.stderr.strip()}")
            for host, name in enumerate(self.names):
                run("ip", "-n", name, "address", "add", f"{self.home(host)}/32", "dev", "lo")
            for number, (first, second) in enumerate(self.cables):
                run("ip", "-n", self.names[first], "link", "add", f"c{number}", "type", "veth", "peer", "name",
                    f"c{number}", "netns", self.names[second])
                for host, last in ((first, 1), (second, 2)):
                    run("ip", "-n", self.names[host], "address", "add", f"10.98.{number}.{last}/24", "dev", f"c{number}")
                    run("ip", "-n", self.names[host], "link", "set", f"c{number}", "up")
                for near, far in ((first, second), (second, first)):
                    run("ip", "-n", self.names[near], "route", "add", self.home(far), "via", self.address(far, near), "src",
                        self.home(near))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.made:
            run("ip", "netns", "delete", name, check=False)

    def within(self, host):
        """Returns the words to put before a command so that it runs on that host."""
        return ["ip", "netns", "exec", self.names[host]]

    def address(self, host, seen_from):
        """Returns the address of a neighbour on the cable between the two; for any other host, an address that cannot be
        reached."""
        for number, cable in enumerate(self.cables):
            if cable in ((host, seen_from), (seen_from, host)):
                return f"10.98.{number}.{1 if cable[0] == host else 2}"
        number, cable = next((number, cable) for number, cable in enumerate(self.cables) if host in cable)
        return f"10.98.{number}.{1 if cable[0] == host else 2}"

    @staticmethod
    def home(host):
        return f"10.99.0.{host + 1}"

    def pull(self, cable):
        """Pulls the cable: neither side is told, and nothing gets through."""
        run("ip", "-n", self.names[self.cables[cable][0]], "link", "set", f"c{cable}", "down")
