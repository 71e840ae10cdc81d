"""A member played by the test: it is in the view, has a link with every node, and can send anything."""
import os
import socket
import struct
import threading
import time

from cluster import until
from handshake import CALL, HELLO, VERSION, charter_of, hello, read_hello

FRAME, ACK, PACKET = 3, 4, 7 # types of records
PETITION, BULLETIN, LETTER, BIRTH, QUESTION, ANSWER = 1, 2, 3, 4, 6, 7 # kinds of packets
LEASE_S = 10


def number(value):
    """Encodes a number as src/core/wire.h does."""
    out = b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7f | 0x80]), value >> 7
    return out + bytes([value])


def numbers(*values):
    return b"".join(number(value) for value in values)


def text(word):
    """Encodes a text as src/service/engine/entries.h does."""
    word = word.encode() if isinstance(word, str) else word
    return number(len(word)) + word


def record(kind, body):
    return struct.pack("<IB", 1 + len(body), kind) + body


class Reader:
    """Reads numbers and texts."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def text(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at].decode()


class Peer:
    """Joins the cluster of `nodes` (pairs of name and port) under a name that sorts after theirs, so that they connect to it.
    `wrap(socket, server)` adds TLS to a connection."""

    def __init__(self, name, nodes, wrap=None):
        self.name, self.nodes = name, nodes
        self.wrap = wrap or (lambda connection, _: connection)
        self.process, self.server = (int.from_bytes(os.urandom(7), "little") | 1 for _ in range(2))
        self.view, self.serial, self.flood, self.over, self.leaving = None, 0, 0, False, False
        self.reported = {} # for each node, the last epoch in which this member reported to it, and the number of that frame
        self.links, self.sent, self.posts = {}, {}, {} # links, by name; the last frame's number; engine connections
        self.heard, self.said = {}, {} # the frames from each node and to it, by name
        self.servers = {} # the data directories of the nodes
        self.lock = threading.RLock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        for node, port in nodes:
            self.connect(node, self.call(node, port))
        self.spawn(self.accept)
        self.spawn(self.petition)

    def spawn(self, target, *words):
        threading.Thread(target=target, args=words, daemon=True).start()

    def close(self):
        """Leaves, so that the nodes need not wait for the end of its lease."""
        self.leaving = True
        until("it has left", lambda: self.seat() is None)
        self.over = True
        self.listener.close()
        for connection in [*self.posts.values(), *self.links.values()]:
            connection.close()

    # --- the engine ---

    def dial(self, port):
        return self.wrap(socket.create_connection(("127.0.0.1", port), 30), False)

    def say_call(self, node, charter, process=None, server=None):
        return hello(CALL, VERSION, charter + numbers(process or self.process, server or self.server, 0) + text(self.name) + text(self.address) + text(node))

    def charter(self, node, port):
        with self.dial(port) as connection:
            connection.sendall(self.say_call(node, b"\0\0\0\0"))
            body = read_hello(connection)[2]
        charter = charter_of(body)
        rest = Reader(body[len(charter):])
        rest.number()
        self.servers[node] = rest.number()
        high_low = Reader(charter)
        self.cluster = high_low.number() ^ high_low.number()
        return charter

    def call(self, node, port, charter=None):
        """Returns a connection of the engine, after its handshake. A node gives up a handshake after a second, which a busy machine
        may take: then the next one is tried."""
        return until(f"{node} takes a call", lambda: self.try_call(node, port, charter))

    def try_call(self, node, port, charter=None):
        try:
            return self.call_once(node, port, charter)
        except (OSError, AssertionError):
            return None

    def call_once(self, node, port, charter=None):
        charter = charter or self.charter(node, port)
        connection = self.dial(port)
        connection.sendall(self.say_call(node, charter))
        assert read_hello(connection)[0] == CALL
        connection.settimeout(None)
        return connection

    def connect(self, node, connection):
        self.posts[node] = connection
        self.spawn(self.read_post, connection)

    def petition(self):
        while not self.over:
            with self.lock:
                self.serial += 1
                epoch, limit, prospect, incarnation = self.news()
                body = (numbers(1, self.process, epoch, limit) + text(self.name) + text(self.address) +
                        numbers(incarnation, self.serial, self.serial - 1, LEASE_S * 10 ** 9, prospect, 0, 0, 0, 1, 1, 1, self.leaving, 0, 0, 0))
                packet = record(PACKET, bytes([PETITION]) + body)
            for node, port in self.nodes:
                try:
                    self.posts[node].sendall(packet)
                except (OSError, ValueError):
                    if connection := self.try_call(node, port): # if this fails, the next petition tries again
                        self.connect(node, connection)
            time.sleep(0.2)

    def news(self):
        if self.view is None:
            return 0, 0, 0, 0
        own = [seat for seat in self.view["seats"] if seat["process"] == self.process]
        return self.view["epoch"], self.view["limit"], self.view["prospect"], own[0]["incarnation"] if own else 0

    def read_post(self, connection):
        data = b""
        try:
            while more := connection.recv(65536):
                data += more
                while len(data) >= 4 and len(data) >= 4 + struct.unpack("<I", data[:4])[0]:
                    size = 4 + struct.unpack("<I", data[:4])[0]
                    if data[4] == PACKET and data[5] == BULLETIN and data[6] == 2:
                        self.take_view(Reader(data[7:size]))
                    data = data[size:]
        except (OSError, ValueError):
            pass
        connection.close()

    def take_view(self, body):
        view = {"lease": body.number(), "index": body.number(), "removed": body.number(), "epoch": body.number(), "base": body.number(),
                "limit": body.number(), "seats": []}
        for _ in range(body.number()):
            view["seats"].append({"name": body.text(), "address": body.text(), "process": body.number(), "incarnation": body.number()})
        view["leads"], view["prospect"] = body.number(), body.number()
        with self.lock:
            is_new = self.view is None or view["epoch"] > self.view["epoch"]
            if is_new or (view["epoch"] == self.view["epoch"] and view["leads"]):
                self.view = view
            if is_new:
                self.flood = 0
        if is_new:
            self.report()

    # --- links ---

    def seat(self):
        for place, seat in enumerate(self.view["seats"] if self.view else []):
            if seat["process"] == self.process:
                return place + 1, seat["incarnation"]
        return None

    def accept(self):
        while not self.over:
            try:
                self.welcome(self.listener.accept()[0])
            except (OSError, AssertionError): # a node gives up a handshake after a second and dials again
                pass

    def welcome(self, connection):
        connection.settimeout(30)
        connection = self.wrap(connection, True)
        kind, _, body = read_hello(connection)
        if kind != HELLO: # a call, which this member does not need
            connection.close()
            return
        _, self.setup, incarnation, _, received = struct.unpack("<5Q", body[:40])
        name = body[41:41 + body[40]].decode()
        connection.sendall(self.say_hello(name, incarnation))
        connection.settimeout(None)
        with self.lock:
            self.links[name], self.sent[name] = connection, received
            if self.reported.get(name, (0, 0))[1] > received: # the former link was cut before the node had read the report
                del self.reported[name]
            self.report(name)
        self.spawn(self.drain, name, connection)

    def say_hello(self, name, peer_process, process=None):
        return hello(HELLO, VERSION, struct.pack("<5Q", self.cluster, self.setup, process or self.process, peer_process, 0) +
                     bytes([len(self.name)]) + self.name.encode() + bytes([len(name)]) + name.encode())

    def drain(self, name, connection):
        heard, data = self.heard.setdefault(name, []), b""
        try:
            while more := connection.recv(65536):
                data += more
                while len(data) >= 4 and len(data) >= 4 + struct.unpack("<I", data[:4])[0]:
                    size = 4 + struct.unpack("<I", data[:4])[0]
                    if data[4] == FRAME:
                        heard.append(data[13:size])
                    data = data[size:]
        except (OSError, ValueError):
            pass
        with self.lock:
            if self.links.get(name) is connection:
                del self.links[name]
        connection.close()

    def head(self, kind, epoch=None, sender=None, incarnation=None, cluster=None):
        place, own = self.seat()
        return (bytes([2, kind]) + struct.pack("<Q", self.cluster if cluster is None else cluster) +
                numbers(self.view["epoch"] if epoch is None else epoch, sender or place, incarnation or own))

    def control(self, kind, body, destination=0, origin=None, **more):
        """Makes a frame that is not a message of the algorithm."""
        self.flood += destination == 0
        return self.head(kind, **more) + numbers(origin or self.seat()[0], destination, self.flood if destination == 0 else 0) + body

    def message(self, lock, body, side=0, counter=0, **more):
        """Makes a frame with one message of the algorithm."""
        return self.head(0, **more) + bytes([side, len(lock)]) + lock.encode() + number(counter) + text(body)

    def send_frame(self, name, frame):
        with self.lock:
            self.said.setdefault(name, []).append(frame)
            self.sent[name] += 1
            self.links[name].sendall(record(FRAME, struct.pack("<Q", self.sent[name]) + frame))

    def report(self, only=None):
        """Reports that this member holds nothing, once per epoch to each node."""
        with self.lock:
            if self.seat() is None:
                return
            epoch = self.view["epoch"]
            for name in list(self.links) if only is None else [only]:
                if self.reported.get(name, (0, 0))[0] == epoch:
                    continue
                self.reported[name] = epoch, self.sent[name] + 1
                self.flood = max(self.flood, 1)
                try:
                    self.send_frame(name, self.head(5) + numbers(self.seat()[0], 0, 1) + b"\1")
                except OSError: # the link is cut; the next one gets the report
                    pass
