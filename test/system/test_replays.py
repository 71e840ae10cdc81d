"""Frames that are sent again later, when the epoch or the process that they belong to is over. They grant nothing, and the locks of
others go on."""
import re
import struct
import unittest

from cluster import Node, free_port, until
from handshake import HELLO, read_hello
from peer import FRAME, LEASE_S, Peer, Reader, numbers, record
from test_bad_member import ANSWER, MESSAGE, PROBE, REPORT, Member

PRIVILEGE = b"\1" # the token of Neilsen's algorithm


def read_frame(frame):
    """Returns a frame's kind, its epoch, and what follows its head."""
    rest = Reader(frame[10:])
    epoch, _, _ = rest.number(), rest.number(), rest.number()
    return frame[1], epoch, rest.data[rest.at:]


class Replays(Member):
    """z9 is the home of a lock, the prize. So n1 asks it for the token. z9 keeps everything that it sends and hears."""

    def setUp(self):
        self.node = self.cluster[0]
        self.client = self.node.client()
        self.addCleanup(self.client.close)
        self.prize, self.question = self.find_prize(), 1000

    def find_prize(self):
        """Returns a lock that n1 asks z9 for."""
        clients = {f"{self.id()[-7:]}{i}": self.node.client() for i in range(20)}
        for lock, client in clients.items():
            client.send("LOCK", lock)
        prize = until("n1 asks z9 for a lock", lambda: next(filter(self.asked, clients), None))
        for client in clients.values():
            client.close()
        return prize

    def frames(self, name):
        """Returns the frames of this epoch that z9 has heard from a node."""
        read = map(read_frame, list(self.peer.heard.get(name, [])))
        return [(kind, rest) for kind, epoch, rest in read if epoch == self.peer.view["epoch"]]

    def asked(self, lock):
        text = bytes([0, len(lock)]) + lock.encode()
        return any(kind == MESSAGE and text in rest for kind, rest in self.frames("n1"))

    def ask(self):
        """Lets n1's client ask for the prize, and waits until n1 asks z9."""
        self.client.send("LOCK", self.prize)
        until(lambda: "n1 asks z9: " + self.cluster.logs(), lambda: self.asked(self.prize))

    def token(self, **more):
        return self.peer.message(self.prize, PRIVILEGE, **more)

    def grant(self):
        """Sends the token as z9 should. Returns the fence that the client gets."""
        self.linked("n1")
        self.peer.send_frame("n1", self.token())
        fence = self.client.read()
        self.assertIsInstance(fence, int, self.cluster.logs())
        return fence

    def hold(self):
        """Lets n1's client hold the prize for a moment, so that there is something to replay. Returns its fence."""
        self.ask()
        fence = self.grant()
        self.client.call("UNLOCK", self.prize)
        return fence

    def replay(self, frames):
        """Sends the frames to both nodes, and waits until they have taken them: links keep order, so an answer comes later."""
        for node in self.cluster:
            link = self.linked(node.name)
            for frame in frames:
                self.peer.send_frame(node.name, frame)
            self.question += 1
            self.peer.send_frame(node.name, self.peer.control(PROBE, numbers(self.question) + b"\4none"))
            until(f"{node.name} answers", lambda name=node.name, link=link: self.answered(name, link))

    def answered(self, name, link):
        self.assertIs(self.peer.links.get(name), link, self.cluster.logs())
        return any(kind == ANSWER and numbers(self.question) in rest for kind, rest in self.frames(name))

    def state(self):
        """Returns what must not change: how many locks are waited for at n1, and how often each node has refused something."""
        with self.node.client() as client:
            waited = re.search(r"^locks_waited:(\d+)", client.call("INFO"), re.M)[1]
        return int(waited), [self.refused(node) for node in self.cluster]

    def settled(self):
        epoch = self.peer.view["epoch"]
        return len(self.peer.view["seats"]) == 3 and all(node.serves() and node.status()["epoch"] == epoch for node in self.cluster)

    def change_epoch(self):
        """A fourth node joins and leaves: afterwards the members are the same."""
        newcomer = Node(self.cluster.folder, "n3", ["--listen", f"127.0.0.1:{free_port()}", "--join",
                                                   f"127.0.0.1:{self.cluster.ports[0]}", *self.certificates.options("n3")])
        newcomer.start()
        try:
            until(lambda: "n3 serves: " + newcomer.log(), newcomer.serves)
        finally:
            newcomer.end()
        until(lambda: "it is out: " + self.cluster.logs(), self.settled)

    def restart_peer(self):
        """Ends the process of z9 and starts another one."""
        self.peer.close()
        type(self).peer = Peer("z9", list(zip(self.cluster.names, self.cluster.ports)), self.wrap)
        self.addClassCleanup(self.peer.close)
        until(lambda: "z9 is back: " + self.cluster.logs(), lambda: self.peer.view and self.settled())

    def test_frames_of_an_old_epoch(self):
        """A correct member may be late, so the frames are dropped without a word. But no old token grants anything."""
        fence = self.hold()
        old = self.peer.view["epoch"]
        self.change_epoch()
        frames = [frame for kept in (self.peer.said, self.peer.heard) for name in ("n1", "n2") for frame in kept[name]
                  if read_frame(frame)[1] <= old]
        self.assertLessEqual({MESSAGE, REPORT}, {frame[1] for frame in frames})
        self.ask()
        before = self.state()
        self.assertEqual(before[0], 1)
        self.replay(frames)
        self.assertEqual(self.state(), before, self.cluster.logs())
        self.assertGreater(self.grant(), fence)

    def test_frames_of_an_old_process(self):
        fence = self.hold()
        former, (_, incarnation) = self.peer, self.peer.seat()
        self.restart_peer()
        self.ask()
        before = self.state()
        self.replay([frame for kept in (former.said, former.heard) for name in ("n1", "n2") for frame in kept[name]])
        self.assertEqual(self.state(), before, self.cluster.logs())
        self.turn_to_n1()
        self.frame("it sends a frame in another member's name (MESSAGE)", lambda: self.token(incarnation=incarnation))
        self.refuse_link_of(former, incarnation)
        self.assertEqual(self.state()[0], 1, self.cluster.logs())
        self.assertGreater(self.grant(), fence)

    def turn_to_n1(self):
        """Lets `offend` choose n1, which waits for the token."""
        type(self).turn += self.turn % 2 == 0

    def refuse_link_of(self, former, incarnation):
        """Says HELLO as the former process of z9, and to a former process of n1. The first may speak but not for z9 as it is now;
        the second is not answered at all."""
        process = next(seat["process"] for seat in self.peer.view["seats"] if seat["name"] == "n1")
        refused = self.refused(self.node)
        with self.peer.dial(self.cluster.ports[0]) as connection:
            connection.sendall(self.peer.say_hello("n1", process, former.process))
            kind, _, body = read_hello(connection)
            self.assertEqual(kind, HELLO)
            number = struct.unpack("<Q", body[32:40])[0] + 1
            connection.sendall(record(FRAME, struct.pack("<Q", number) + self.token(incarnation=incarnation)))
            while connection.recv(65536):
                pass
        self.assertEqual(self.refused(self.node), refused + 1, self.cluster.logs())
        with self.peer.dial(self.cluster.ports[0]) as connection:
            connection.sendall(self.peer.say_hello("n1", process ^ 2))
            self.assertEqual(connection.recv(65536), b"")


if __name__ == "__main__":
    unittest.main()
