"""Random work on a cluster, by the program test/system/load.c."""
import json
import os
import subprocess

from baton import BATON
from cluster import until

LOAD = os.path.join(os.environ.get("BUILD", os.path.dirname(BATON)), "test", "load")


def work(cluster, rounds, seed=1, clients=50, locks=20):
    """`rounds` times each client asks for a lock. What the load program reports; fails if it saw two inside, a fence that did not rise, or somebody who starves."""
    done = subprocess.run([LOAD, str(rounds), str(seed), str(clients), str(locks), cluster.folder,
                           *(node.socket for node in cluster)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}\n{[node.status() for node in cluster]}\n{cluster.logs()}"
    report = json.loads(done.stdout)
    assert report["grants_least"] > 0, report
    return report


def fds_with_one_client(node):
    """Of a node that has nothing to do but to answer this client."""
    with node.client() as client:
        client.call("PING")
        return node.fds()


def comes_back_to(cluster, fds):
    """Each node has no more descriptors than before."""
    for node, before in zip(cluster, fds):
        until(lambda node=node, before=before: f"{node.name} comes back to {before} descriptors, it has {node.fds()}",
              lambda node=node, before=before: fds_with_one_client(node) <= before)
