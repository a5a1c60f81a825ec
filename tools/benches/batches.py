"""Times `hemstitch bench --backend cuda --span pinned` over the size of a batch and how many are on their way at once: how large
batches must be, and how many, until transfers and kernels of different ones hide behind each other.

The data is nine Silesia files one behind the other, over and over, up to SIZE bytes. Levels 1 and 3, blocks of 256K and 64K.
"""

import sys

from benches.corpus import bench_rows, usable_backends, write_corpus

BLOCKS = ("256K", "64K")
LEVELS = ("-1", "-3")
BATCH_MIB = (32, 64, 16, 128)  # the engine's first
COUNTS = (5, 8, 12, 3)
ROW_SECONDS = 0.2


def measure(bench):
    if not usable_backends(bench.tool, ["cuda"]):
        sys.exit("bench batches: there is no usable device")
    corpus = bench.folder / "corpus"
    write_corpus(bench.silesia, 0, corpus)
    for block, mib, count in ((block, mib, count) for block in BLOCKS for mib in BATCH_MIB for count in COUNTS):
        if not bench.has_time():
            bench.left_out(f"{count} batches of {mib} MiB, blocks of {block}")
            continue
        for row in bench_rows(bench.tool, ["--backend", "cuda", "--span", "pinned", "-B", block, "--batch", f"{mib}M", "--batches", count,
                                           "--seconds", ROW_SECONDS, "--repeat-to", bench.size, *LEVELS], corpus):
            if row["what"] != "start":
                bench.keep(row | {"batch_bytes": mib << 20, "batches": count})
