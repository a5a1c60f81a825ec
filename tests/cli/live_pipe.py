#!/usr/bin/env python3
"""Talks to a command through its pipes: writes a compressed message, flushed, and waits until the answer to it is complete before
it writes the next one. A command that holds back what it could restore never answers; then this ends with exit status 1.

  live_pipe.py gzip|members|lz4 COMMAND...      the answer is the content
  live_pipe.py --lines gzip COMMAND...          the answer is each message's last line
"""

import os
import select
import struct
import subprocess
import sys
import threading
import time
import zlib

DEADLINE_SECONDS = 60
SIZES = [10, 3000, 200000, 1500000, 80, 1500000, 1500000, 20]


def writer_of(kind):
    stream = zlib.compressobj(1, zlib.DEFLATED, 31)

    def block(text):  # of LZ4, stored
        return b"".join(struct.pack("<I", 0x80000000 | len(text[i:i + 65536])) + text[i:i + 65536]
                        for i in range(0, len(text), 65536))

    if kind == "gzip":
        return lambda text: stream.compress(text) + stream.flush(zlib.Z_SYNC_FLUSH), lambda: stream.flush()
    if kind == "members":
        def member(text):
            one = zlib.compressobj(1, zlib.DEFLATED, 31)
            return one.compress(text) + one.flush()
        return member, lambda: b""
    head = [bytes.fromhex("04224d18604082")]
    return lambda text: (head.pop() if head else b"") + block(text), lambda: bytes(4)


def messages():
    number = 1
    for size in SIZES:
        lines = bytearray()
        while len(lines) < size:
            number = number * 16807 % 2147483647
            lines += b"%d\n" % number
        yield bytes(lines) + b"answer to %d\n" % size


def write(pipe, data):
    pipe.write(data)
    pipe.flush()


def main():
    arguments = sys.argv[1:]
    of_lines = arguments[0] == "--lines"
    kind, *command = arguments[of_lines:]
    message_of, end = writer_of(kind)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        output = process.stdout.fileno()
        for text in messages():
            wanted = text[text.rindex(b"answer"):] if of_lines else text
            # The command may answer before it has read all, so it is read from meanwhile.
            writing = threading.Thread(target=write, args=(process.stdin, message_of(text)), daemon=True)
            writing.start()
            answer, until = b"", time.monotonic() + DEADLINE_SECONDS
            while len(answer) < len(wanted):
                if not select.select([output], [], [], max(0, until - time.monotonic()))[0]:
                    process.kill()
                    sys.exit(f"{kind}: no answer to a message of {len(text)} bytes")
                piece = os.read(output, 1 << 20)
                if not piece:
                    sys.exit(f"{kind}: the answer to a message of {len(text)} bytes ends early")
                answer += piece
            writing.join()
            if answer != wanted:
                process.kill()
                sys.exit(f"{kind}: another answer to a message of {len(text)} bytes")
        process.stdin.write(end())
        process.stdin.close()
        if process.stdout.read():
            sys.exit(f"{kind}: more than the answers")
    sys.exit(process.returncode)


if __name__ == "__main__":
    main()
