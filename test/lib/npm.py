"""Runs programs for Node.js that use npm packages. The packages are installed next to a copy of the program in the build
folder."""
import filecmp
import os
import shutil
import subprocess


def install(source, target):
    """Copies the source files, and installs the packages unless those of the lock file are already installed."""
    done = os.path.join(target, "installed.json")
    os.makedirs(target, exist_ok=True)
    for name in os.listdir(source):
        if os.path.isfile(os.path.join(source, name)):
            shutil.copy(os.path.join(source, name), target)
    lock = os.path.join(target, "package-lock.json")
    if not os.path.exists(done) or not filecmp.cmp(lock, done, shallow=False):
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=target, check=True)
        shutil.copy(lock, done)
