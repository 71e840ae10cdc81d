"""Makes processes and disks hang, by freezing control groups and file systems. Each says so if the machine does not support
it."""
import os
import subprocess

GROUPS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")  # places where version 2 of control groups may be mounted


class Freezer:
    """A control group whose processes can be stopped without a signal. If that is impossible, `why_not` says why."""

    def __init__(self, name):
        self.why_not = None
        self.path = self.home = None
        for root in GROUPS:
            try:
                path = os.path.join(root, name)
                os.mkdir(path)
            except OSError:
                continue
            if os.path.exists(os.path.join(path, "cgroup.freeze")):
                self.path, self.home = path, root
                return
            os.rmdir(path)
        self.why_not = "no control group can be frozen here"

    def write(self, file, text):
        with open(file, "w", encoding="ascii") as out:
            out.write(text)

    def freeze(self, pids):
        """Freezes these processes. Returns whether any of them existed."""
        there = False
        for pid in pids:
            try:
                self.write(os.path.join(self.path, "cgroup.procs"), str(pid))
                there = True
            except (ProcessLookupError, OSError):
                pass
        self.write(os.path.join(self.path, "cgroup.freeze"), "1")
        return there

    def thaw(self):
        self.write(os.path.join(self.path, "cgroup.freeze"), "0")
        with open(os.path.join(self.path, "cgroup.procs"), encoding="ascii") as file:
            pids = file.read().split()
        for pid in pids:
            try:
                self.write(os.path.join(self.home, "cgroup.procs"), pid)
            except OSError:
                pass

    def end(self):
        if self.path is not None:
            os.rmdir(self.path)


class Disks:
    """Gives each folder a file system on a loop device, so that it can hang. If that fails, `why_not` says why."""

    def __init__(self, folder, names):
        self.why_not = None
        self.mounted = []
        self.frozen = set()
        for name in names:
            self.why_not = self.make(os.path.join(folder, name))
            if self.why_not:
                self.end()
                return

    def make(self, path):
        with open(path + ".image", "wb") as image:
            image.truncate(64 << 20)
        os.mkdir(path)
        for words in (["mkfs.ext4", "-q", "-F", path + ".image"], ["mount", "-o", "loop", path + ".image", path]):
            try:
                done = subprocess.run(words, capture_output=True, text=True, check=False)
            except FileNotFoundError:
                return f"no {words[0]}"
            if done.returncode != 0:
                return f"no file systems of one's own: {done.stderr.strip()}"
        self.mounted.append(path)
        return None

    def freeze(self, path):
        self.frozen.add(path)
        subprocess.run(["fsfreeze", "-f", path], check=True)

    def thaw(self, path):
        if path in self.frozen:
            subprocess.run(["fsfreeze", "-u", path], check=True)
            self.frozen.discard(path)

    def end(self):
        for path in self.mounted:
            self.thaw(path)
            subprocess.run(["umount", path], check=True)
        self.mounted = []
