"""A process keeps the lock of its own memory busy, so that whoever reads its command line must wait. A node does not."""
import os
import subprocess
import sys
import time
import unittest

from cluster import LONG_LEASE, Cluster
from resp import Client

# Maps many pages, all of them the zero page, and changes their protection again and again, which takes long under the lock of the
# process's memory. Connects to the node again and again in the meantime. In the end, prints how many milliseconds a change took at
# most, and holds a lock until its input ends.
SLOW = """
import ctypes, mmap, socket, sys, threading, time
size, path, seconds = 8 << 30, sys.argv[1], float(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
MAP_NORESERVE, MADV_NOHUGEPAGE, MADV_POPULATE_READ = 0x4000, 15, 22
area = libc.mmap(None, ctypes.c_size_t(size), 1, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE, -1, ctypes.c_long(0))
area = ctypes.c_void_p(area)
libc.madvise(area, ctypes.c_size_t(size), MADV_NOHUGEPAGE)
if libc.madvise(area, ctypes.c_size_t(size), MADV_POPULATE_READ) != 0:
    sys.exit("this system does not allow so many pages")
end, slowest = time.monotonic() + seconds, 0
def toggle():
    global slowest
    while time.monotonic() < end:
        for protection in (0, 1):
            began = time.monotonic()
            libc.mprotect(area, ctypes.c_size_t(size), protection)
            slowest = max(slowest, time.monotonic() - began)
toggling = threading.Thread(target=toggle)
toggling.start()
while time.monotonic() < end:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    connection.sendall(b"PING\\r\\n")
    connection.recv(100)
    connection.close()
held = socket.socket(socket.AF_UNIX)
held.connect(path)
held.sendall(b"LOCK slow\\r\\n")
held.recv(100)
toggling.join()
print(slowest * 1000, flush=True)
sys.stdin.read()
"""


class Slow(unittest.TestCase):
    def test_a_process_whose_command_line_is_slow_to_read_delays_nobody(self):
        with Cluster(1, *LONG_LEASE) as cluster, Client(cluster[0].socket) as other:
            for attempt in (1, 2, 3):
                longest = 0
                with subprocess.Popen([sys.executable, "-c", SLOW, cluster[0].socket, "4"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True) as slow:
                    os.set_blocking(slow.stdout.fileno(), False)
                    while not (line := slow.stdout.readline()) and slow.poll() is None:
                        began = time.monotonic()
                        self.assertEqual(other.call("UNLOCK", "x") if other.call("LOCK", "x") else None, 1)
                        longest = max(longest, time.monotonic() - began)
                        time.sleep(0.005)
                    if not line:
                        self.skipTest(slow.stderr.read())
                    # If the command line could not be read in time, the name of the process is shown.
                    self.assertRegex(cluster[0].status("slow")["locks"][0]["holder"]["command"], r"import ctypes|^\[python.*\]$")
                    slow.stdin.close()
                if longest * 1000 < float(line) / 2:
                    break
                self.assertLess(attempt, 3, f"somebody waited for {longest * 1000:.0f} ms, while the lock was kept for {float(line):.0f} ms")


if __name__ == "__main__":
    unittest.main()
