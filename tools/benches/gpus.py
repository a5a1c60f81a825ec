"""Times `hemstitch bench --backend cuda` on one GPU of a host and on more of them: what each further one gives.

The data is nine Silesia files one behind the other, over and over, up to SIZE bytes. Spans kernel, pinned and memory, levels 1 and 9, blocks of
256K, on 1, 2, 4 and 8 GPUs, as many as there are.
"""

import subprocess
import sys

from benches.corpus import bench_rows, usable_backends, write_corpus

COUNTS = (1, 2, 4, 8)
SPANS = ("kernel", "pinned", "memory")
LEVELS = ("-1", "-9")
ROW_SECONDS = 0.5


def devices(count):
    return ",".join(str(device) for device in range(count))


def is_here(tool, count, file):
    # Where devices are missing the others do their work, and a line says so.
    done = subprocess.run([tool, "--backend", "cuda", "--device", devices(count), "-c", file], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return done.returncode == 0 and not done.stderr


def measure(bench):
    if not usable_backends(bench.tool, ["cuda"]):
        sys.exit("bench gpus: there is no usable device")
    corpus, small = bench.folder / "corpus", bench.folder / "small"
    write_corpus(bench.silesia, 0, corpus)
    small.write_bytes(b"some bytes")
    counts = [count for count in COUNTS if is_here(bench.tool, count, small)]
    for span, count in ((span, count) for span in SPANS for count in counts):
        if not bench.has_time():
            bench.left_out(f"span {span} on {count} GPUs")
            continue
        for row in bench_rows(bench.tool, ["--backend", "cuda", "--device", devices(count), "--span", span, "--seconds", ROW_SECONDS,
                                           "--repeat-to", bench.size, *LEVELS], corpus):
            if row["what"] != "start":
                bench.keep(row | {"span": span, "devices": count})
