"""Times `hemstitch bench` over its spans in gzip and BGZF, and the programs of others for gzip on all cores beside it.

The data is nine Silesia files one behind the other, with a GPU over and over, up to SIZE bytes, with the processor once. Levels 1 and 6, and
with a GPU 9. pigz, igzip, rapidgzip and bgzip are run, where they are here, on as many threads as there are cores, from a file in memory
(/dev/shm where it exists) to /dev/null and back; what they write is compared, too.
"""

from benches.corpus import bench_rows, usable_backends, write_corpus
from benches.peers import THREADS, Peer, peer_rows

# What is asked for first comes first: the last is left out where time is short. A gzip stream is one for all cores.
SPANS = (("cuda", "bgzf", ("kernel", "pinned", "memory", "file")), ("cpu", "bgzf", ("memory", "file")),
         ("cuda", "gzip", ("memory", "file")), ("cpu", "gzip", ("file",)))
LEVELS = {"cuda": (1, 6, 9), "cpu": (1, 6)}
PEER_LEVELS = (1, 6, 9)
ROW_SECONDS = 0.3
PEERS = (Peer("pigz", PEER_LEVELS, lambda level: ["-p", THREADS, f"-{level}", "-c"], ["-dc"]),
         Peer("igzip", (1,), lambda level: ["-T", THREADS, f"-{level}", "-c"], ["-dc"]),
         # Restores alone: what pigz wrote.
         Peer("rapidgzip", PEER_LEVELS, None, ["-P", THREADS, "-dc"]),
         Peer("bgzip", PEER_LEVELS, lambda level: ["-@", THREADS, "-l", level, "-c"], ["-@", THREADS, "-dc"], form="bgzf"))


def measure(bench):
    corpus = bench.folder / "corpus"
    write_corpus(bench.silesia, 0, corpus)
    usable = usable_backends(bench.tool, {backend for backend, _, _ in SPANS})
    for backend, form, span in ((*what, span) for *what, spans in SPANS for span in spans):
        if backend not in usable:
            continue
        if not bench.has_time():
            bench.left_out(f"span {span} of {backend}, {form}")
            continue
        size = bench.size // (4 if form == "gzip" else 1) if backend == "cuda" else corpus.stat().st_size
        for row in bench_rows(bench.tool, ["--backend", backend, "--format", form, "--span", span, "--seconds", ROW_SECONDS, "--repeat-to", size,
                                           *(f"-{level}" for level in LEVELS[backend])], corpus):
            if row["what"] != "start":
                bench.keep(row | {"span": span})
    if bench.has_time():
        for row in peer_rows(PEERS, "gzip", corpus, bench.folder):
            bench.keep(row)
