"""Does one takeover and records it: the host of a holder is cut off, and a waiter at another host is granted the lock.

Run as a program, with or without the argument `lag`, it does a few, and exits with 1 if the checker of histories finds a fault.
"""
import datetime
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import history
from baton import BATON
from cluster import Cluster, until
from drawing import GREY, INK, INSIDE, RED, Picture, step_of
from recorder import Recorder, now_ns
from wires import Wires, address

PATIENCE_S = 60
ATTEMPTS = 3
LINE = re.compile(r"^(\S+)Z (\S+) (\w+): (.*)$", re.M)


class Takeover:
    """The times of one takeover, in nanoseconds on CLOCK_BOOTTIME."""

    def __init__(self, lease_s, leader, cut, verdict, logs):
        self.lease_s, self.leader, self.cut, self.verdict = lease_s, leader, cut, verdict
        self.holder, self.waiter = verdict.holds[1], verdict.holds[2]
        self.logs = logs  # each line as (time, node, text)

    def gap_ms(self):
        """Returns the time from the end of the cut-off command to the next grant."""
        return (self.waiter.granted - self.holder.gone) / 1e6

    def taken_ms(self):
        return (self.waiter.granted - self.cut) / 1e6


def leader_of(node):
    """Returns the name of the node that leads the voters, or None."""
    done = subprocess.run([BATON, "member", "list", "--json", "-S", node.socket], capture_output=True, text=True, check=False)
    members = json.loads(done.stdout)["members"] if done.returncode == 0 else []
    return next((member["name"] for member in members if member["leader"]), None)


def take_over(lease_s, *options, lag=False, each=None):
    """Does one takeover. The holder's node is not the leader. The command ignores SIGTERM and has a child, so it lives as long as
    it can. With `lag`, the node hears everything late before it is cut off, so that the last acknowledgement is old when it
    arrives. `each(name)` returns more options for the node of that name."""
    with Wires(3) as wires:
        cluster = Cluster(3, "--lease", f"{lease_s}s")
        folder = tempfile.mkdtemp(prefix="baton-takeover-")
        recorder = Recorder(folder)
        try:
            peers = ",".join(f"{name}={address(host)}:7440" for host, name in enumerate(cluster.names))
            for host, node in enumerate(cluster):
                node.prefix = wires.within(host)
                node.options = ["--lease", f"{lease_s}s", "--insecure", "--data", node.data, "--listen", f"{address(host)}:7440",
                                "--peers", peers, *options, *(each(node.name) if each else [])]
            cluster.start()
            leader = until("somebody leads", lambda: leader_of(cluster[0]))
            lost, other = [host for host in range(3) if cluster.names[host] != leader]
            lead = cluster.names.index(leader)
            runs = [threading.Thread(target=recorder.attempt, args=("holder", 0, cluster[lost], 600_000, "ct"))]
            runs[0].start()
            until("it holds", recorder.holders)
            runs.append(threading.Thread(target=recorder.attempt, args=("waiter", 0, cluster[other], 100 * lease_s)))
            runs[1].start()
            until("it waits", lambda: cluster[other].status("l0")["locks"] and cluster[other].status("l0")["locks"][0]["waiters"])
            if lag:
                wires.rule(slow=[[lost, 300 * lease_s]])
                time.sleep(lease_s)
            cut = now_ns()
            wires.rule(cut=[[lost, other], [lost, lead], [other, lost], [lead, lost]])
            for run in runs:
                run.join(PATIENCE_S)
            recorder.finish()
            verdict = history.judge(history.read(recorder.path))
            return Takeover(lease_s, leader, cut, verdict, log_lines(cluster))
        finally:
            cluster.clear()
            shutil.rmtree(folder)


def log_lines(cluster):
    since = now_ns() - time.time_ns()
    found = []
    for node in cluster:
        for when, _, _, text in LINE.findall(node.log()):
            day = datetime.datetime.fromisoformat(when).replace(tzinfo=datetime.timezone.utc)
            found.append((int(day.timestamp() * 1000) * 1_000_000 + since, node.name, text))
    return sorted(found)


def takeover_svg(taken):
    """Draws what each node and each command knew at which time: a row for each, from before the cut until after the grant."""
    lost, won = taken.holder.node, taken.waiter.node
    ns = 1e9 * taken.lease_s
    picture = Picture(round(taken.cut - 0.25 * ns), round(taken.waiter.granted + 0.25 * ns))
    y = picture.add_row(f"{lost}, cut off")
    picture.bar(y, taken.cut, picture.last, GREY, "it hears nobody")
    for t, node, text in taken.logs:
        if node == lost and "half of the lease" in text:
            label(picture, y, t, "half its lease is over: it warns")
        elif node == lost and "waiting for the voters" in text:
            label(picture, y, t, "it serves nobody")
    y = picture.add_row("its command")
    picture.bar(y, picture.first, taken.holder.gone, INSIDE, "it runs")
    if taken.holder.told:
        label(picture, y, taken.holder.told, "SIGTERM, by its own clock", "end")
    picture.mark(y, taken.holder.gone, RED, "its last process is gone")
    label(picture, y, taken.holder.gone, "SIGKILL: gone")
    for name in sorted({taken.leader, won}):
        y = picture.add_row(name + (", leads" if name == taken.leader else ""))
        for t, node, text in taken.logs:
            if node == name and t > taken.cut and re.match(r"epoch \d+, 2 members", text):
                label(picture, y, t, "new view", "end")
    y = picture.add_row("the waiter's")
    picture.bar(y, taken.waiter.granted, picture.last, INSIDE, "it runs")
    label(picture, y, taken.waiter.granted, f"granted at {won}", "end")
    picture.axis(taken.cut, step_of(picture.last - picture.first))
    return picture.svg(f"A holder is cut off at 0 s, lease {taken.lease_s} s: its command is gone {taken.gap_ms():.0f} ms "
                       "before the next one begins")


def label(picture, y, t, text, anchor="start"):
    picture.mark(y, t, RED if "SIG" in text else INK, text)
    picture.text(picture.x(t) + (4 if anchor == "start" else -4), y - 12, text, anchor=anchor, size=10.5)


def main():
    for _ in range(ATTEMPTS):
        problems = take_over(1, lag=sys.argv[1:] == ["lag"]).verdict.problems
        if problems:
            print(problems)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
