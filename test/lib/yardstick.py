"""Measures how late this machine is at present. A time limit that is a multiple of that lateness holds on a busy machine too."""
import threading
import time

STEP_S = 0.005


class Yardstick:
    """While this context is entered, a thread sleeps repeatedly and notes how much longer each sleep took than requested."""

    def __init__(self):
        self.worst_s = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._measure, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def _measure(self):
        while not self.over.is_set():
            begun = time.monotonic()
            time.sleep(STEP_S)
            self.worst_s = max(self.worst_s, time.monotonic() - begun - STEP_S)

    def late_ms(self, quiet_ms):
        """Returns a time limit. It is the time that would be late on a quiet machine, plus more if this machine is busy, because
        an answer takes many turns of many processes."""
        return quiet_ms + 1000 * 40 * self.worst_s


def best_of(attempts, limit, attempt):
    """Checks that the shortest of several attempts is below the limit. A busy moment passes, but a wrong program is always
    late."""
    taken = []
    for _ in range(attempts):
        taken.append(attempt())
        if taken[-1] < limit:
            return
    raise AssertionError(f"none of {taken} is below {limit}")
