"""Does random work on a cluster with the program test/system/load.c."""
import json
import os
import subprocess

from baton import BATON
from cluster import until

LOAD = os.path.join(os.environ.get("BUILD", os.path.dirname(BATON)), "test", "load")


def work(cluster, rounds, seed=1, clients=50, locks=20):
    """Each client asks for a lock `rounds` times. Returns the report of the load program; fails if it saw two clients inside, a
    fence that did not rise, or a client that starves."""
    done = subprocess.run([LOAD, str(rounds), str(seed), str(clients), str(locks), cluster.folder,
                           *(node.socket for node in cluster)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}\n{[node.status() for node in cluster]}\n{cluster.logs()}"
    report = json.loads(done.stdout)
    assert report["grants_least"] > 0, report
    return report


def fds_with_one_client(node):
    """Returns the number of descriptors of a node that is idle except for answering this client."""
    with node.client() as client:
        client.call("PING")
        return node.fds()


def comes_back_to(cluster, fds):
    """Checks that no node has more descriptors than before."""
    for node, before in zip(cluster, fds):
        until(lambda node=node, before=before: f"{node.name} comes back to {before} descriptors, it has {node.fds()}",
              lambda node=node, before=before: fds_with_one_client(node) <= before)
