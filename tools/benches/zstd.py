"""Zstandard on the processor as users have it, beside the zstd tool: whole processes, data in memory.

- Frames that `zstd` wrote, one each, restored on all cores, two and one; and 64 of them in a row.
- How soon the first byte comes.
- 1 MB from the middle: of a seekable file, and of an ordinary one with an index; what the index takes of the file, and how long it takes to make.

The data is nine Silesia files one behind the other, over and over, up to SIZE bytes. What is restored is compared.
"""

import statistics
import subprocess
import time

from benches.corpus import write_corpus
from benches.peers import THREADS, find_program, timed, with_libraries

SIZE = ("bytes", 1 << 30)
LEVELS = (1, 3, 19)
FRAMES_IN_A_ROW = 64
RANGE_BYTES, RANGE_RUNS = 1_000_000, 21


def written(command, target):
    with open(target, "wb") as output:
        subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, env=with_libraries(),
                       check=True)


def same(left, right):
    return subprocess.run(["cmp", "--quiet", left, right], check=False).returncode == 0


class Plan:
    def __init__(self, bench):
        self.bench, self.tool, self.folder = bench, bench.tool, bench.folder
        self.zstd = find_program("zstd")
        self.corpus, self.packed, self.restored = (self.folder / name for name in ("corpus", "corpus.zst", "restored"))
        write_corpus(bench.silesia, bench.size, self.corpus)
        self.bytes = self.corpus.stat().st_size

    def keep(self, what, level, peer, **figures):
        self.bench.keep({"what": what, "backend": "", "format": "zstd", "level": level, "file": "corpus", "bytes": self.bytes,
                         "ratio": round(self.bytes / self.packed.stat().st_size, 4), "span": "file", "peer": peer, **figures})

    def restore(self, what, level, threads):
        """By Hemstitch on so many threads, and by zstd, which has one."""
        ours = [("hemstitch, zstd", count, [self.tool, "-q", "--backend", "cpu", "-T", count, "-dc"]) for count in dict.fromkeys(threads)]
        for peer, count, command in (*ours, ("zstd", 1, [self.zstd, "-qdc"])):
            timed(command, self.packed, self.restored)
            verified = same(self.corpus, self.restored)
            self.restored.unlink()
            seconds, cores = min(timed(command, self.packed, "/dev/null") for _ in range(3))
            self.keep(what, level, peer, threads=count, gbps=round(self.bytes / seconds / 1e9, 3),
                      cpu_seconds_per_gb=round(cores / self.bytes * 1e9, 3), verified=verified)

    def first_byte(self, level):
        times = []
        for _ in range(RANGE_RUNS):
            start = time.perf_counter()
            with open(self.packed, "rb") as data, subprocess.Popen([str(self.tool), "-q", "--backend", "cpu", "-dc"], stdin=data,
                                                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                process.stdout.read(1)
                times.append(time.perf_counter() - start)
                process.kill()
        self.keep("first byte", level, "hemstitch, zstd", milliseconds=round(1000 * statistics.median(times), 2), rounds=RANGE_RUNS, verified=True)

    def range_of(self, what, level):
        """Of the packed file, by whatever makes ranges fast there."""
        begin = self.bytes // 2
        command = [self.tool, "-q", "--backend", "cpu", "-d", "--range", f"{begin}-{begin + RANGE_BYTES}", "-c", self.packed]
        written(command, self.restored)
        with open(self.corpus, "rb") as corpus:
            corpus.seek(begin)
            verified = self.restored.read_bytes() == corpus.read(RANGE_BYTES)
        times = [timed(command, "/dev/null", "/dev/null")[0] for _ in range(RANGE_RUNS)]
        self.keep(what, level, "hemstitch, zstd", milliseconds=round(1000 * statistics.median(times), 2), rounds=RANGE_RUNS, verified=verified)

    def index(self, level):
        index = self.packed.with_name(self.packed.name + ".zstidx")
        seconds, cores = timed([self.tool, "index", "-qf", self.packed], "/dev/null", "/dev/null")
        self.keep("index", level, "hemstitch, zstd", seconds=round(seconds, 3), cpu_seconds_per_gb=round(cores / self.bytes * 1e9, 3),
                  compressed_bytes=index.stat().st_size, verified=True)
        self.range_of("range, index", level)
        index.unlink()

    def frames_in_a_row(self, level):
        size = -(-self.bytes // FRAMES_IN_A_ROW)
        part, frame = self.folder / "part", self.folder / "part.zst"
        with open(self.corpus, "rb") as corpus, open(self.packed, "wb") as packed:
            while content := corpus.read(size):
                part.write_bytes(content)
                written([self.zstd, "-qc", f"-{level}", part], frame)
                packed.write(frame.read_bytes())
        self.restore(f"restore, {FRAMES_IN_A_ROW} frames", level, (THREADS, 1))


def measure(bench):
    plan = Plan(bench)
    for level in LEVELS:
        # With all its threads zstd writes one frame as well.
        if not bench.has_time(40 if level == 19 else 15):
            bench.left_out(f"level {level}")
            continue
        written([plan.zstd, "-qc", f"-T{THREADS}", f"-{level}", plan.corpus], plan.packed)
        plan.restore("restore", level, (THREADS, 2, 1))
        if level != 1:
            plan.first_byte(level)
            plan.index(level)
    if not bench.has_time(20):
        bench.left_out("frames in a row and a seekable file")
        return
    plan.frames_in_a_row(3)
    written([plan.tool, "-q", "--backend", "cpu", "--format", "zstd", "-3", "--seekable", "-c", plan.corpus], plan.packed)
    plan.range_of("range, seek table", 3)
