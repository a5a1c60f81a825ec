#!/usr/bin/env python3
"""The compressed RAM disk at its end: what clients were told is written is in the snapshot, although they stay connected.

  shutdown_test.py PLUGIN
"""

import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from nbd_client import READ, WRITE, NbdClient

PAGE = 4096
PAGES = 20000
ESHUTDOWN = 108


class Client(NbdClient):
    def __init__(self, test, path):
        super().__init__(path)
        test.addCleanup(self.socket.close)

    def ask(self, kind, page, content=b""):
        """Returns the error and what was read."""
        return self.request(kind, page * PAGE, PAGE, content)


def content_of(page, version=1):
    return struct.pack("<QQ", page, version) * (PAGE // 16)


class Shutdown(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.kept = os.path.join(self.folder, "kept")
        os.mkdir(self.kept)

    def serve(self):
        path = os.path.join(self.folder, f"socket{time.monotonic_ns()}")
        server = subprocess.Popen(
            ["nbdkit", "--foreground", "--unix", path, "--pidfile", f"{path}.pid", PLUGIN, f"size={PAGES * PAGE}",
             f"snapshot={self.kept}/snapshot"],
            stderr=subprocess.PIPE)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        while not os.path.exists(f"{path}.pid"):
            self.assertIsNone(server.poll(), "the server does not start")
            time.sleep(0.01)
        return server, path

    def expect_kept(self, pages):
        """Starts a server with the snapshot, and expects these pages."""
        self.assertEqual(os.listdir(self.kept), ["snapshot"])
        server, path = self.serve()
        client = Client(self, path)
        for page, content in pages.items():
            self.assertEqual(client.ask(READ, page), (0, content), f"page {page}")
        client.socket.close()
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)

    def wait_for_snapshot(self, server):
        deadline = time.monotonic() + 60  # only a server that never writes it needs so long
        while not os.path.exists(f"{self.kept}/snapshot"):
            self.assertLess(time.monotonic(), deadline, "there is no snapshot while a client is connected")
            time.sleep(0.01)

    def test_a_client_that_stays_connected(self):
        for wakes in False, True:
            with self.subTest(wakes=wakes):
                server, path = self.serve()
                client = Client(self, path)
                self.assertEqual(client.ask(WRITE, 5, content_of(5)), (0, b""))
                time.sleep(0.2)  # now all threads of the connection wait
                server.send_signal(signal.SIGTERM)
                self.wait_for_snapshot(server)
                if wakes:
                    # No write is confirmed any more that would not be in the snapshot.
                    try:
                        self.assertEqual(client.ask(WRITE, 5, content_of(5, version=2)), (ESHUTDOWN, b""))
                    except (EOFError, ConnectionError):
                        pass
                    client.socket.close()
                    self.assertEqual(server.wait(), 0)
                else:
                    server.kill()  # as a service manager that has waited long enough
                    server.wait()
                self.expect_kept({5: content_of(5), 6: bytes(PAGE)})
                os.remove(f"{self.kept}/snapshot")

    def test_clients_that_write_until_they_cannot(self):
        server, path = self.serve()
        written = [{} for _ in range(8)]

        def write(number):
            client = Client(self, path)
            try:
                for page in range(number, PAGES, len(written)):
                    if client.ask(WRITE, page, content_of(page))[0] != 0:
                        return
                    written[number][page] = content_of(page)
            except (EOFError, ConnectionError):
                pass
            finally:
                client.socket.close()

        threads = [threading.Thread(target=write, args=(number,)) for number in range(len(written))]
        for thread in threads:
            thread.start()
        while sum(map(len, written)) < 1000:
            time.sleep(0.001)
        server.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        self.assertEqual(server.wait(), 0, server.stderr.read())
        self.assertLess(sum(map(len, written)), PAGES)
        self.expect_kept({page: content for pages in written for page, content in pages.items()})

    def test_a_snapshot_that_cannot_be_written(self):
        server, _ = self.serve()
        os.rename(self.kept, self.kept + ".elsewhere")
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 1)
        self.assertIn(b"snapshot' cannot be created: No such file or directory", server.stderr.read())

    def test_a_server_that_is_killed_leaves_nothing(self):
        server, path = self.serve()
        Client(self, path).ask(WRITE, 1, content_of(1))
        server.kill()
        server.wait()
        self.assertEqual(os.listdir(self.kept), [])


if __name__ == "__main__":
    PLUGIN = sys.argv.pop(1)
    unittest.main()
