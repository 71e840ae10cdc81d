"""A command that runs out of memory says so in one line and ends: with exit code 3 in the laboratory, 71 in the service."""
import os
import subprocess
import unittest

from baton import BATON
from cluster import SANITIZED, Cluster
from resp import Closed, encode


@unittest.skipIf(SANITIZED, "a sanitizer maps more than any limit")
class OutOfMemory(unittest.TestCase):
    def test_the_laboratory_ends_with_3(self):
        # The limit exceeds the memory of the machine: otherwise a run that cannot fit would be refused at once.
        done = subprocess.run(["prlimit", "--as=60000000", BATON, "sim", "lamport", "--nodes", "2000", "--max-memory", "8G"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "", "baton: out of memory\n"))

    def test_a_node_ends_with_71(self):
        with Cluster(1, "--max-locks", "10000000", "--max-user-locks", "10000000") as cluster, cluster[0].client() as client:
            size = cluster[0].rss_kb() << 10
            subprocess.run(["prlimit", f"--pid={cluster[0].process.pid}", f"--as={size + (64 << 20)}"], check=True)
            number = 0
            with self.assertRaises((Closed, OSError)):
                while number < 10_000_000:
                    client.send_bytes(b"".join(encode("LOCK", f"{number + more}") for more in range(1000)))
                    for _ in range(1000):
                        client.read()
                    number += 1000
            self.assertEqual(cluster[0].wait(), 71, cluster.logs())
            self.assertIn("baton: out of memory\n", cluster[0].log())
            os.unlink(cluster[0].socket)


if __name__ == "__main__":
    unittest.main()
