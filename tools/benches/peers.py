"""Programs as whole processes: from a file in memory to /dev/null and back, with what they write compared."""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from benches.corpus import HERE

THREADS = len(os.sched_getaffinity(0))


@dataclass
class Peer:
    name: str
    levels: tuple
    compress: Callable | None  # (level): its options; None: it does not, and restores what the first of the peers wrote
    restore: list
    form: str = ""  # where that is not the format of the others
    threads: int = THREADS
    program: Path | None = None  # where it is not found by its name


def find_program(name):
    for place in (HERE / name, HERE.parent / "build" / "tools" / "gzip-readers" / "bin" / name):
        if place.exists():
            return place
    return shutil.which(name)


def find_peer(peer):
    return peer.program if peer.program and peer.program.exists() else find_program(peer.name)


def with_libraries():
    """The environment of a peer, whose libraries may lie beside it."""
    libraries = os.pathsep.join(filter(None, (str(HERE / "lib"), os.environ.get("LD_LIBRARY_PATH"))))
    return {**os.environ, "LD_LIBRARY_PATH": libraries}


def timed(command, source, target):
    """(seconds by the clock, seconds of the processor's cores) of a program that reads a file and writes another."""
    with open(source, "rb") as data, open(target, "wb") as output:
        start = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], stdin=data, stdout=output, env=with_libraries())
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} failed")
    return seconds, used.ru_utime + used.ru_stime


def peer_rows(peers, form, corpus, folder):
    """The best of two runs each, to /dev/null; what a third run writes is read back by the same program."""
    size, packed, restored = corpus.stat().st_size, folder / "packed", folder / "restored"
    for peer in peers:
        program = find_peer(peer)
        writer = program if peer.compress else find_peer(peers[0])
        if program is None or writer is None:
            print(f"bench: no {peer.name if program is None else peers[0].name} here", file=sys.stderr)
            continue
        for level in peer.levels:
            timed([writer, *(peer.compress or peers[0].compress)(level)], corpus, packed)
            timed([program, *peer.restore], packed, restored)
            verified = subprocess.run(["cmp", "--quiet", corpus, restored], check=False).returncode == 0
            ways = [("test", peer.restore, packed)]
            if peer.compress:
                ways.insert(0, ("compress to /dev/null", peer.compress(level), corpus))
            for what, options, source in ways:
                seconds, cores = min(timed([program, *options], source, "/dev/null") for _ in range(2))
                yield {"what": what, "backend": "", "format": peer.form or form, "level": level, "file": "corpus", "bytes": size,
                       "ratio": round(size / packed.stat().st_size, 4), "gbps": round(size / seconds / 1e9, 3), "span": "file",
                       "threads": peer.threads, "peer": peer.name, "cpu_seconds_per_gb": round(cores / size * 1e9, 3), "verified": verified}
