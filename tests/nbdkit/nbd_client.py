"""As much of the NBD protocol as is needed: https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md"""

import socket
import struct

READ, WRITE, FLUSH, TRIM, CACHE, ZEROES = 0, 1, 3, 4, 5, 6
WRITE_THROUGH, KEEP_ROOM, ONLY_IF_FAST = 1, 2, 16  # flags


class NbdClient:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        assert self.receive(16) == b"NBDMAGICIHAVEOPT"
        self.receive(2)
        go = struct.pack(">IH", 0, 0)  # the export without a name, and nothing asked about it
        self.socket.sendall(struct.pack(">I8sII", 1, b"IHAVEOPT", 7, len(go)) + go)
        kind = 0
        while kind != 1:
            kind, count = struct.unpack(">12xII", self.receive(20))
            self.receive(count)

    def receive(self, count):
        received = bytearray()
        while len(received) < count:
            piece = self.socket.recv(count - len(received))
            if not piece:
                raise EOFError
            received += piece
        return bytes(received)

    def request(self, kind, at, count, content=b"", flags=0):
        """Returns the error and what was read."""
        self.socket.sendall(struct.pack(">IHHQQI", 0x25609513, flags, kind, at, at, count) + content)
        magic, error, of = struct.unpack(">IIQ", self.receive(16))
        assert (magic, of) == (0x67446698, at)
        return error, self.receive(count) if kind == READ and error == 0 else b""
