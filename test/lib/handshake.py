"""Makes and reads the first records of a connection between nodes, byte by byte."""
import struct

HELLO, REFUSAL, CALL = 1, 2, 6
VERSION = 6 # the version number of the handshake


def hello(kind, version, body=b""):
    """Makes the first record of a connection."""
    record = bytes([kind]) + b"baton" + struct.pack("<I", version) + body
    return struct.pack("<I", len(record)) + record


def read_hello(connection):
    """Returns (type, version, body) of the other side's first record."""
    data = b""
    while len(data) < 4 or len(data) < 4 + struct.unpack("<I", data[:4])[0]:
        more = connection.recv(4096)
        assert more, data
        data += more
    assert data[5:10] == b"baton", data
    return data[4], struct.unpack("<I", data[10:14])[0], data[14:4 + struct.unpack("<I", data[:4])[0]]


def charter_of(body):
    """Returns the part of a CALL that names the speaker's cluster: three numbers and a text."""
    at = 0
    for _ in range(3):
        while body[at] >= 0x80:
            at += 1
        at += 1
    size = shift = 0
    while True:
        size |= (body[at] & 0x7f) << shift
        shift, at = shift + 7, at + 1
        if body[at - 1] < 0x80:
            return body[:at + size]


def call(name, peer, charter=b"\0\0\0\0"):
    """Makes the first record of an engine's connection. The caller belongs to no cluster, is process 5 with data directory 7, and
    is no witness; its name, its address and the node that it looks for follow. All other numbers and sizes take one byte."""
    texts = b"".join(bytes([len(text)]) + text.encode() for text in (name, "127.0.0.1:9", peer))
    return hello(CALL, VERSION, charter + b"\x05\x07\0" + texts)
