#!/usr/bin/env python3
"""The compressed RAM disk under random requests over several connections, beside a buffer that does the same, as fsx does with files.

  random_requests_test.py PLUGIN

HEMSTITCH_RAMDISK_SECONDS says how long, 4 seconds without it; 3600 before a release. HEMSTITCH_RAMDISK_SEED is the first disk's seed.
"""

import errno
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from nbd_client import CACHE, FLUSH, KEEP_ROOM, ONLY_IF_FAST, READ, TRIM, WRITE, WRITE_THROUGH, ZEROES, NbdClient

PLUGIN = sys.argv[1]
SECONDS = float(os.environ.get("HEMSTITCH_RAMDISK_SECONDS", "4"))
REQUESTS = 400  # of a disk, before it is kept in a snapshot and served again
WORDS = b"".join(b"word%d " % (number * number) for number in range(30000))


class Wrong(Exception):
    pass


class Disk:
    def __init__(self, folder, seed):
        self.choice = random.Random(seed)
        self.page = self.choice.choice((4096, 4096, 8192, 65536))
        self.bytes = self.choice.choice((1, 511, self.page, self.page + 1, 1_000_003, 1 << 21))
        # Some disks are full before all of them is written.
        self.budget = self.bytes // 3 + (1 << 20) if self.choice.random() < 0.3 else None
        self.model = bytearray(self.bytes)
        self.folder = folder
        self.settings = [f"size={self.bytes}", f"page={self.page}", f"level={self.choice.choice((1, 1, 9))}",
                         f"checksums={self.choice.choice(('true', 'false'))}", f"snapshot={folder}/snapshot"]
        if self.budget:
            self.settings.append(f"budget={self.budget}")

    def serve(self):
        path = f"{self.folder}/socket"
        for name in (path, f"{path}.pid"):
            if os.path.exists(name):
                os.remove(name)
        self.server = subprocess.Popen(["nbdkit", "--foreground", "--unix", path, "--pidfile", f"{path}.pid", PLUGIN, *self.settings],
                                       stderr=subprocess.PIPE)
        while not os.path.exists(f"{path}.pid"):
            if self.server.poll() is not None:
                raise Wrong(f"the server does not start: {self.server.stderr.read().decode()}")
            time.sleep(0.005)
        self.clients = [NbdClient(path) for _ in range(3)]

    def stop(self):
        for client in self.clients:
            client.socket.close()
        self.server.send_signal(signal.SIGTERM)
        if self.server.wait() != 0:
            raise Wrong(f"the server ends with {self.server.returncode}: {self.server.stderr.read().decode()}")
        self.server.stderr.close()

    def place(self):
        """Any, or one at the border of a page; of any length, often a few pages."""
        choice = self.choice
        begin = choice.randrange(self.bytes)
        if choice.random() < 0.5:
            begin = min(self.bytes - 1, max(0, begin // self.page * self.page + choice.choice((-1, 0, 0, 0, 1))))
        most = self.bytes - begin
        count = choice.choice((1, self.page, 4 * self.page, choice.randrange(1, 3 * self.page), choice.randrange(1, 200_000), most))
        return begin, min(count, most)

    def content(self, count):
        choice = self.choice
        kind = choice.randrange(5)
        if kind == 0:
            return choice.randbytes(count)
        if kind == 1:
            return bytes([choice.randrange(256)]) * count
        if kind == 2:
            return bytes(count)
        begin = choice.randrange(len(WORDS) - 200_000)
        return (WORDS[begin:] + bytes(max(0, count - len(WORDS) + begin)))[:count]

    def expect(self, client, begin, count, others=None):
        """`others`: what may stand there as well, byte by byte; then what does counts from now on."""
        error, read = client.request(READ, begin, count)
        known = self.model[begin:begin + count]
        if error != 0:
            raise Wrong(f"reading {count} bytes at {begin} fails with {error}")
        if others is not None and all(one in pair for one, *pair in zip(read, known, others)):
            self.model[begin:begin + count] = read
        elif read != known:
            at = next(i for i in range(count) if read[i] != known[i])
            raise Wrong(f"byte {begin + at} is {read[at]}, not {known[at]}, of {count} read at {begin}")

    def request(self):
        choice, client = self.choice, self.choice.choice(self.clients)
        kind = choice.choice((READ, READ, WRITE, WRITE, WRITE, ZEROES, TRIM, FLUSH, CACHE))
        begin, count = (0, 0) if kind == FLUSH else self.place()
        if kind == READ:
            return self.expect(client, begin, count)
        flags = choice.choice((0, WRITE_THROUGH)) if kind in (WRITE, ZEROES, TRIM) else 0
        if kind == ZEROES:
            flags |= choice.choice((0, KEEP_ROOM, ONLY_IF_FAST))
        content = self.content(count) if kind == WRITE else b""
        error, _ = client.request(kind, begin, count, content, flags)
        if kind in (ZEROES, TRIM):
            content = bytes(count)
        if error == errno.ENOSPC and self.budget and kind in (WRITE, ZEROES, TRIM):
            return self.expect(client, begin, count, content)
        if error != 0:
            raise Wrong(f"request {kind} of {count} bytes at {begin} fails with {error}")
        if content:
            self.model[begin:begin + count] = content
        return None

    def run(self):
        for _ in range(2):
            self.serve()
            try:
                self.expect(self.clients[0], 0, self.bytes)
                for _ in range(REQUESTS):
                    self.request()
                self.expect(self.clients[1], 0, self.bytes)
                self.stop()
            finally:
                if self.server.poll() is None:
                    self.server.kill()
                    self.server.wait()


def main():
    seed, end = int(os.environ.get("HEMSTITCH_RAMDISK_SEED", "1")), time.monotonic() + SECONDS
    disks = 0
    while disks == 0 or time.monotonic() < end:
        with tempfile.TemporaryDirectory() as folder:
            try:
                Disk(folder, seed + disks).run()
            except (Wrong, EOFError) as wrong:
                print(f"HEMSTITCH_RAMDISK_SEED={seed + disks}: {wrong}")
                return 1
        disks += 1
    print(f"{disks} disks, {2 * REQUESTS} requests each")
    return 0


if __name__ == "__main__":
    sys.exit(main())
