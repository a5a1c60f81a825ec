"""Times the tool on the processor, with LZ4 and with Zstandard, beside what people with files have: lz4 of two versions, and zstd.

The data is nine Silesia files one behind the other, over and over, up to SIZE bytes, in memory. Programs run as whole processes on all cores
and on two, from standard input to /dev/null, and back. `lz4` is the distribution's, 1.9.4 in Debian 12, which has one thread; `lz4-1.10` is
one of 1.10 or later, built from its sources (put it beside this tool, or on PATH, under this name), which compresses with threads.
"""

from benches.corpus import write_corpus
from benches.peers import THREADS, Peer, peer_rows

SIZE = ("bytes", 1 << 29)
# Level 9 takes a core half a minute a gigabyte and more.
LEVELS, FEW_THREADS_LEVELS = (1, 3, 9), (1, 3)


def peers_of(tool, threads):
    levels = LEVELS if threads > 2 else FEW_THREADS_LEVELS
    yield Peer("hemstitch", levels, lambda level: ["-q", "--backend", "cpu", "-T", threads, f"-{level}", "-c"],
               ["-q", "--backend", "cpu", "-T", threads, "-dc"], form="lz4", threads=threads, program=tool)
    yield Peer("lz4-1.10", levels, lambda level: ["-q", f"-T{threads}", f"-{level}", "-c"], ["-q", "-dc"], form="lz4", threads=threads)
    yield Peer("hemstitch, zstd", levels, lambda level: ["-q", "--format", "zstd", "--backend", "cpu", "-T", threads, f"-{level}", "-c"],
               ["-q", "--backend", "cpu", "-T", threads, "-dc"], threads=threads, program=tool)
    yield Peer("zstd", levels, lambda level: ["-q", f"-T{threads}", f"-{level}", "-c"], ["-q", "-dc"], threads=threads)


def measure(bench):
    corpus = bench.folder / "corpus"
    write_corpus(bench.silesia, bench.size, corpus)
    one_thread = Peer("lz4", FEW_THREADS_LEVELS, lambda level: ["-q", f"-{level}", "-c"], ["-q", "-dc"], form="lz4", threads=1)
    for peers in ([*peers_of(bench.tool, THREADS)], [*peers_of(bench.tool, 2)], [one_thread]):
        if not bench.has_time():
            bench.left_out(peers[0].name)
            continue
        for row in peer_rows(peers, "zstd", corpus, bench.folder):
            bench.keep(row)
