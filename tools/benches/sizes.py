"""Times whole processes of the tool over sizes from 4 KB to 4 GB: where which backend pays, start-up included.

The data is nine Silesia files one behind the other, over and over, cut to each size, in memory (/dev/shm where it exists). Every backend that
can be used here, and `auto`, compresses it at levels 1, 3 and 9 and restores what it wrote, file to new file, a process each; every restored
file is compared. A row is the fastest of a few runs, of fewer where one takes long. Rows of `auto` have its share of the speed of the fastest
of them (of_better). Up to 16 MB the lz4 tool does the same, where it is installed. --most leaves out larger sizes. Sizes grow, so what has no
time left is the largest.
"""

import os
import shutil
import subprocess
import sys
import time

from benches.corpus import usable_backends, write_corpus

KILO, MEGA = 1 << 10, 1 << 20
SIZE_STEP = 4
SIZES = [4 * KILO * SIZE_STEP ** step for step in range(11)]  # to 4 GB
SIZE = ("most", SIZES[-1])
LEVELS = (1, 3, 9)
BLOCK_BYTES = 256 * KILO  # the tool's default
# Runs of a row go on until they took this long together, or are so many.
ROW_SECONDS, MOST_RUNS = 0.6, 20
PEER_MOST_BYTES = 16 * MEGA


def seconds_of(command, target):
    """Of one run, which writes `target` anew."""
    target.unlink(missing_ok=True)
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"bench sizes: exit {done.returncode} from: {' '.join(map(str, command))}\n{done.stderr}")
    return seconds


def fastest(command, target, deadline):
    runs = []
    while not runs or len(runs) < MOST_RUNS and sum(runs) < ROW_SECONDS and time.monotonic() < deadline:
        runs.append(seconds_of(command, target))
    return min(runs)


class Contender:
    """A tool with its arguments: how it compresses and restores a file."""

    def __init__(self, compress, restore):
        self.commands = compress, restore

    def measure(self, original, work, deadline):
        """{"compress": seconds, "restore": seconds}, ratio"""
        compressed, restored = work / "compressed", work / "restored"
        compress, restore = self.commands
        seconds = {"compress": fastest(compress(original, compressed), compressed, deadline),
                   "restore": fastest(restore(compressed, restored), restored, deadline)}
        if subprocess.run(["cmp", "--quiet", original, restored], check=False).returncode != 0:
            sys.exit(f"bench sizes: not restored exactly: {compress(original, compressed)}")
        ratio = original.stat().st_size / compressed.stat().st_size
        compressed.unlink()
        restored.unlink()
        return seconds, ratio


def hemstitch(tool, backend, level):
    # No holes: their number would depend on the data, and a row is a rate of bytes written.
    return Contender(lambda source, target: [tool, "-q", f"-{level}", "--backend", backend, source, "-o", target],
                     lambda source, target: [tool, "-q", "-d", "--no-sparse", "--backend", backend, source, "-o", target])


def lz4(level):
    return Contender(lambda source, target: ["lz4", "-q", f"-{level}", "-B5", source, target],
                     lambda source, target: ["lz4", "-q", "-d", "--no-sparse", source, target])


def measure_size(bench, original, size, backends, took):
    """`took`: seconds that each level took at the size before, a fourth of this one."""
    has_peer = size <= PEER_MOST_BYTES and shutil.which("lz4")
    for level in LEVELS:
        start = time.monotonic()
        if not bench.has_time(SIZE_STEP * took.get(level, 0)):
            bench.left_out(f"{size:,} bytes at level {level}")
            continue
        peer = lz4(level).measure(original, bench.folder, bench.deadline) if has_peer else None
        measured = {backend: hemstitch(bench.tool, backend, level).measure(original, bench.folder, bench.deadline) for backend in backends}
        for backend, (seconds, ratio) in measured.items():
            for what in ("compress", "restore"):
                row = {"what": what, "backend": backend, "format": "lz4", "level": level, "block_bytes": BLOCK_BYTES,
                       "threads": len(os.sched_getaffinity(0)), "file": "corpus", "bytes": size, "ratio": round(ratio, 4),
                       "gbps": size / seconds[what] / 1e9, "milliseconds": round(1000 * seconds[what], 3),
                       "span": "process", "verified": True}
                if backend == "auto":
                    row["of_better"] = round(min(of[what] for of, _ in measured.values()) / seconds[what], 4)
                if peer:
                    row |= {"peer": f"lz4 -{level}" if what == "compress" else "lz4 -d", "peer_ratio": round(peer[1], 4),
                            "peer_gbps": size / peer[0][what] / 1e9}
                bench.keep(row)
        took[level] = time.monotonic() - start


def measure(bench):
    backends, took = [*usable_backends(bench.tool, ("cpu", "cuda")), "auto"], {}
    original = bench.folder / "original"
    for size in SIZES:
        if size <= bench.size and bench.has_time():
            write_corpus(bench.silesia, size, original)
            measure_size(bench, original, size, backends, took)
