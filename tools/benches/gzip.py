"""Times `hemstitch bench` over its spans in gzip and BGZF, and the programs of others for gzip on all cores beside it.

The data is nine Silesia files one behind the other, with a GPU over and over, up to SIZE bytes, with the processor once. Levels 1 and 6, and
with a GPU 9. pigz, igzip, rapidgzip and bgzip are run, where they are here, on as many threads as there are cores, from a file in memory
(/dev/shm where it exists) to /dev/null and back; what they write is compared, too.
"""

import os
import shutil
import subprocess
import sys
import time

from benches.corpus import HERE, bench_rows, usable_backends, write_corpus

# What is asked for first comes first: the last is left out where time is short. A gzip stream is one for all cores.
SPANS = (("cuda", "bgzf", ("kernel", "pinned", "memory", "file")), ("cpu", "bgzf", ("memory", "file")),
         ("cuda", "gzip", ("memory", "file")), ("cpu", "gzip", ("file",)))
LEVELS = {"cuda": (1, 6, 9), "cpu": (1, 6)}
PEER_LEVELS = (1, 6, 9)
ROW_SECONDS = 0.3
THREADS = len(os.sched_getaffinity(0))
# {program: how it compresses at a level (None: it does not), the levels that it has of ours, how it restores}
PEERS = {"pigz": (lambda level: ["-p", THREADS, f"-{level}", "-c"], PEER_LEVELS, ["-dc"]),
         "igzip": (lambda level: ["-T", THREADS, f"-{level}", "-c"], (1,), ["-dc"]),
         "rapidgzip": (None, PEER_LEVELS, ["-P", THREADS, "-dc"]),
         "bgzip": (lambda level: ["-@", THREADS, "-l", level, "-c"], PEER_LEVELS, ["-@", THREADS, "-dc"])}


def find_peer(name):
    for place in (HERE / name, HERE.parent / "build" / "tools" / "gzip-readers" / "bin" / name):
        if place.exists():
            return place
    return shutil.which(name)


def timed(command, source, target):
    """(seconds by the clock, seconds of the processor's cores) of a program that reads a file and writes another."""
    libraries = os.pathsep.join(filter(None, (str(HERE / "lib"), os.environ.get("LD_LIBRARY_PATH"))))
    with open(source, "rb") as data, open(target, "wb") as output:
        start = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], stdin=data, stdout=output,
                                   env={**os.environ, "LD_LIBRARY_PATH": libraries})
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"bench gzip: {command[0]} failed")
    return seconds, used.ru_utime + used.ru_stime


def peer_rows(corpus, folder):
    """The best of two runs each, to /dev/null; what a third run writes is read back by the same program."""
    size, packed, restored = corpus.stat().st_size, folder / "packed", folder / "restored"
    for name, (compress, levels, restore) in PEERS.items():
        program = find_peer(name)
        # rapidgzip restores alone: what pigz wrote.
        writer, write = (program, compress) if compress else (find_peer("pigz"), PEERS["pigz"][0])
        if program is None or writer is None:
            print(f"bench gzip: no {name if program is None else 'pigz'} here", file=sys.stderr)
            continue
        for level in levels:
            timed([writer, *write(level)], corpus, packed)
            timed([program, *restore], packed, restored)
            verified = corpus.read_bytes() == restored.read_bytes()
            ways = [("test", restore, packed)]
            if compress:
                ways.insert(0, ("compress to /dev/null", compress(level), corpus))
            for what, options, source in ways:
                seconds, cores = min(timed([program, *options], source, "/dev/null") for _ in range(2))
                yield {"what": what, "backend": "", "format": "bgzf" if name == "bgzip" else "gzip", "level": level,
                       "file": "corpus", "bytes": size, "ratio": round(size / packed.stat().st_size, 4),
                       "gbps": round(size / seconds / 1e9, 3), "span": "file", "threads": THREADS, "peer": name,
                       "cpu_seconds_per_gb": round(cores / size * 1e9, 3), "verified": verified}


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
        for row in peer_rows(corpus, bench.folder):
            bench.keep(row)
