"""Times `hemstitch bench` over its spans, block sizes and levels: what each stretch of the data's way gives.

The data is nine Silesia files one behind the other, over and over, up to SIZE bytes. With backend cuda, where that can be used: spans kernel,
pinned, memory and file; with cpu memory and file, of half as many bytes, which change nothing there. Levels 1, 3 and 9; blocks of 256K, and
with cuda, but for files, of 64K, 1M and 4M as well. Files are in memory (/dev/shm where it exists).
"""

import time

from benches.corpus import bench_rows, usable_backends, write_corpus

SPANS = {"cuda": ("file", "memory", "pinned", "kernel"), "cpu": ("file", "memory")}
BLOCKS = ("256K", "64K", "1M", "4M")  # the default first: what has no time is of the others
LEVELS = ("-1", "-3", "-9")
ROW_SECONDS = 0.3


def measurements(backends):
    """(block, backend, span)"""
    return [(block, backend, span) for block in BLOCKS for backend in backends for span in SPANS[backend]
            if block == BLOCKS[0] or (backend == "cuda" and span != "file")]


def rows_of(tool, block, backend, span, size, corpus):
    rows = bench_rows(tool, ["--backend", backend, "--span", span, "-B", block, "--seconds", ROW_SECONDS, "--repeat-to",
                             size // 2 if backend == "cpu" else size, *LEVELS], corpus)
    return [row | {"span": span} for row in rows if row["what"] != "start" or (block, span) == (BLOCKS[0], "file")]


def measure(bench):
    corpus, took = bench.folder / "corpus", {}
    write_corpus(bench.silesia, 0, corpus)
    for block, backend, span in measurements(usable_backends(bench.tool, SPANS)):
        start = time.monotonic()
        if not bench.has_time(took.get((backend, span), 0)):
            bench.left_out(f"span {span} of {backend}, blocks of {block}")
            continue
        for row in rows_of(bench.tool, block, backend, span, bench.size, corpus):
            bench.keep(row)
        took[backend, span] = time.monotonic() - start
