#!/usr/bin/env python3
"""Runs a command between two pipes that are non-blocking at its ends, as a program that shares them may leave them: its input
comes in pieces with pauses, its output is taken in pieces with pauses, so that it often finds nothing to read and no room to write.

  nonblocking.py INPUT OUTPUT COMMAND...      exits as the command does
"""

import os
import subprocess
import sys
import threading
import time

PAUSES = 20
PAUSE_SECONDS = 0.01


def feed(descriptor, data):
    piece = len(data) // PAUSES + 1
    with os.fdopen(descriptor, "wb", buffering=0) as pipe:
        for at in range(0, len(data), piece):
            time.sleep(PAUSE_SECONDS)
            rest = memoryview(data)[at:at + piece]
            while rest:
                rest = rest[pipe.write(rest):]


def main():
    input_path, output_path, *command = sys.argv[1:]
    with open(input_path, "rb") as file:
        data = file.read()
    (input_read, input_write), (output_read, output_write) = os.pipe(), os.pipe()
    os.set_blocking(input_read, False)
    os.set_blocking(output_write, False)
    with subprocess.Popen(command, stdin=input_read, stdout=output_write) as process:
        os.close(input_read)
        os.close(output_write)
        feeder = threading.Thread(target=feed, args=(input_write, data), daemon=True)
        feeder.start()
        taken = 0
        with open(output_path, "wb") as output:
            while piece := os.read(output_read, 1 << 16):
                output.write(piece)
                taken += 1
                if taken <= PAUSES:
                    time.sleep(PAUSE_SECONDS)
        return process.wait(60)


sys.exit(main())
