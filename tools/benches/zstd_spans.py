"""Times `hemstitch bench` over its spans in Zstandard, with a GPU and with the processor.

The data is nine Silesia files one behind the other, over and over, up to SIZE bytes, with the processor half of that. What a backend writes it
restores: with cuda the project's own frames, with cpu those of libzstd. Files are in memory (/dev/shm where it exists).
"""

from benches.corpus import bench_rows, usable_backends, write_corpus

# What is asked for first comes first: the last is left out where time is short.
SPANS = (("cuda", "memory"), ("cuda", "file"), ("cpu", "memory"), ("cpu", "file"))
LEVELS = {"cuda": (1, 3, 6, 9, 12, 19), "cpu": (1, 3, 6, 9, 12)}
ROW_SECONDS = 0.3


def measure(bench):
    corpus = bench.folder / "corpus"
    write_corpus(bench.silesia, 0, corpus)
    usable = usable_backends(bench.tool, LEVELS)
    for backend, span in SPANS:
        if backend not in usable:
            continue
        if not bench.has_time():
            bench.left_out(f"span {span} of {backend}")
            continue
        size = bench.size // 2 if backend == "cpu" else bench.size
        for row in bench_rows(bench.tool, ["--backend", backend, "--format", "zstd", "--span", span, "--seconds", ROW_SECONDS, "--repeat-to", size,
                                           *(f"-{level}" for level in LEVELS[backend])], corpus):
            if row["what"] != "start":
                bench.keep(row | {"span": span})
