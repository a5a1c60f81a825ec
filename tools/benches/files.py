"""Measures the CPU path against the lz4 tool, and against gzip and pigz, and records a run of each in bench/results/.

  HEMSTITCH_CORPORA=FOLDER tools/bench [--only lz4|gzip] [--rounds N]

FOLDER/silesia holds the nine Silesia files dickens, mr, nci, ooffice, osdb, reymont, samba, x-ray and xml. They are
packed into one tar. Every command reads and writes files in memory (/dev/shm where it exists). The commands of one
comparison run in turn, round after round, and the median counts, so that a slow moment of the machine hits both.
Every round trip is compared byte for byte. Each tool restores what it wrote itself; `lz4` writes and verifies
a checksum of the content by default, Hemstitch one a block. `gzip` has one thread, `pigz` and Hemstitch have two.

Also measured, for LZ4: peak memory for an input of 2 GB, and the time that `hemstitch -V` takes.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from benches.corpus import SILESIA9
from records import recorded_run
from records.recorded_run import ROOT

HEMSTITCH = ROOT / "build" / "release" / "hemstitch"
LEVEL = 1
# Block bytes, and the lz4 tool's word for them.
BLOCK_SIZES = ((256 * 1024, "-B5"), (4 * 1024 * 1024, "-B7"))
GZIP_LEVEL, GZIP_THREADS = 6, 2
LARGE_INPUT_BYTES = 2_000_000_000
START_RUNS = 41


def run_command(command, output=os.devnull):
    """Runs a command and returns how many seconds it took; ends the program if it fails. `output` is where its stdout goes."""
    with open(output, "wb") as stdout:
        start = time.perf_counter()
        exit_code = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=stdout, check=False).returncode
        seconds = time.perf_counter() - start
    if exit_code != 0:
        sys.exit(f"bench: exit {exit_code} from: {' '.join(map(str, command))}")
    return seconds


def peak_bytes_of(command, work):
    """The most memory that a command held. GNU time starts it, since a process counts its starter's memory as its own
    until it runs its program, and this interpreter is larger than what is measured."""
    report = work / "peak"
    run_command(["time", "--format=%M", f"--output={report}", *command])
    return int(report.read_text()) * 1024


def same_bytes(left, right):
    return subprocess.run(["cmp", "--quiet", left, right], check=False).returncode == 0


def make_tar(folder, target):
    """The nine files in one tar that depends on nothing but their content."""
    with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name in SILESIA9:
            entry = tarfile.TarInfo(name)
            entry.size = (folder / name).stat().st_size
            with open(folder / name, "rb") as file:
                tar.addfile(entry, file)


class Contender:
    """A tool with its arguments, one compressed file of its own, and the times that it took. `to_stdout`: its results come there."""

    def __init__(self, name, compress, restore, work, to_stdout=False):
        self.name = name
        self.compressed = work / f"{re.sub('[^a-z0-9]+', '-', name)}.packed"
        self.restored = work / "restored"
        self.to_stdout = to_stdout
        self.commands = {"compress": compress, "restore": restore}
        self.seconds = {"compress": [], "restore": []}

    def run_once(self, original):
        for what, source, target in (("compress", original, self.compressed),
                                     ("restore", self.compressed, self.restored)):
            target.unlink(missing_ok=True)
            self.seconds[what].append(run_command(self.commands[what](source, target), target if self.to_stdout else os.devnull))
        if not same_bytes(original, self.restored):
            sys.exit(f"bench: {self.name} does not restore what it compressed")
        self.restored.unlink()

    def gbps(self, what, content_bytes):
        return content_bytes / statistics.median(self.seconds[what]) / 1e9

    def ratio(self, content_bytes):
        return content_bytes / self.compressed.stat().st_size


def hemstitch_contender(name, threads, settings, work):
    arguments = [HEMSTITCH, "-q", f"-T{threads}"]
    return Contender(name, lambda source, target: [*arguments, *settings, source, "-o", target],
                     lambda source, target: [*arguments, "-d", source, "-o", target], work)


def lz4_contender(block_word, work):
    return Contender(f"lz4 -{LEVEL} {block_word}",
                     lambda source, target: ["lz4", "-q", f"-{LEVEL}", block_word, source, target],
                     lambda source, target: ["lz4", "-q", "-d", source, target], work)


def gzip_contender(words, work):
    return Contender(" ".join([*map(str, words), f"-{GZIP_LEVEL}"]), lambda source, target: [*words, f"-{GZIP_LEVEL}", "-c", source],
                     lambda source, target: [*words, "-dc", source], work, to_stdout=True)


def comparison(what, ours, other, content_bytes, rounds, **about):
    """A row of the recorded run, which is printed, too."""
    row = {"what": what, "backend": "cpu", **about, "file": "corpus", "bytes": content_bytes, "ratio": round(ours.ratio(content_bytes), 4),
           "gbps": round(ours.gbps(what, content_bytes), 4), "span": "file", "peer_ratio": round(other.ratio(content_bytes), 4),
           "peer_gbps": round(other.gbps(what, content_bytes), 4), "rounds": rounds, "verified": True}
    print_row(row)
    return row


def compare_lz4(original, rounds, work):
    rows = []
    for block_bytes, block_word in BLOCK_SIZES:
        peer = lz4_contender(block_word, work)
        ours = {threads: hemstitch_contender(f"hemstitch-T{threads}", threads, [f"-{LEVEL}", "-B", block_bytes], work) for threads in (2, 1)}
        for _ in range(rounds):
            for contender in (peer, *ours.values()):
                contender.run_once(original)
        for threads, contender in ours.items():
            run_command(["lz4", "-tq", contender.compressed])
            for what in ("compress", "restore"):
                rows.append(comparison(what, contender, peer, original.stat().st_size, rounds, format="lz4", level=LEVEL, block_bytes=block_bytes,
                                       threads=threads, peer=peer.name if what == "compress" else "lz4 -d"))
    return rows


def compare_gzip(original, rounds, work):
    peers = {"pigz": gzip_contender(["pigz", "-p", GZIP_THREADS], work), "gzip": gzip_contender(["gzip"], work)}
    ours = hemstitch_contender("hemstitch-gzip", GZIP_THREADS, ["--format", "gzip", f"-{GZIP_LEVEL}"], work)
    for _ in range(rounds):
        for contender in (ours, *peers.values()):
            contender.run_once(original)
    run_command(["gzip", "-t", "--suffix=.packed", ours.compressed])
    return [comparison(what, ours, peer, original.stat().st_size, rounds, format="gzip", level=GZIP_LEVEL, threads=GZIP_THREADS, peer=name,
                       peer_threads=1 if name == "gzip" else GZIP_THREADS)
            for what in ("compress", "restore") for name, peer in peers.items()]


def print_row(row):
    block = f"{row['block_bytes'] // 1024:5}K, " if "block_bytes" in row else ""
    print(f"{row['what']:9} {block}{row['threads']} threads: ratio {row['ratio']:.3f}, "
          f"{row['gbps']:.3f} GB/s; {row['peer']}: ratio {row['peer_ratio']:.3f}, {row['peer_gbps']:.3f} GB/s; "
          f"{row['gbps'] / row['peer_gbps']:.2f} times as fast, size "
          f"{100 * (row['peer_ratio'] / row['ratio'] - 1):+.2f}%", flush=True)


def measure_memory(original, work):
    """Peak memory for a long input, at 2 threads and the default block."""
    large, compressed, restored = work / "large", work / "large.lz4", work / "large.restored"
    with open(large, "wb") as target:
        while target.tell() < LARGE_INPUT_BYTES:
            with open(original, "rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)
        target.truncate(LARGE_INPUT_BYTES)
    peaks = {"compress": peak_bytes_of([HEMSTITCH, "-q", "-T2", large, "-o", compressed], work),
             "restore": peak_bytes_of([HEMSTITCH, "-q", "-T2", "-d", compressed, "-o", restored], work)}
    if not same_bytes(large, restored):
        sys.exit("bench: the long input is not restored exactly")
    for path in (large, compressed, restored):
        path.unlink()
    rows = []
    for what, peak_bytes in peaks.items():
        rows.append({"what": f"{what} memory", "backend": "cpu", "format": "lz4", "level": LEVEL,
                     "block_bytes": BLOCK_SIZES[0][0], "threads": 2, "file": "corpus, repeated",
                     "bytes": LARGE_INPUT_BYTES, "peak_bytes": peak_bytes, "verified": True})
        print(f"{what} memory: {peak_bytes / 1e6:.1f} MB for {LARGE_INPUT_BYTES / 1e9:.1f} GB at 2 threads", flush=True)
    return rows


def measure_start():
    seconds = statistics.median(run_command([HEMSTITCH, "-V"]) for _ in range(START_RUNS))
    print(f"start: hemstitch -V takes {1000 * seconds:.1f} ms")
    return {"what": "start", "backend": "cpu", "seconds": round(seconds, 5), "rounds": START_RUNS, "verified": True}


def main(words):
    parser = argparse.ArgumentParser(prog="bench files", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("lz4", "gzip"), help="one of the two comparisons alone")
    parser.add_argument("--rounds", type=int, default=9, help="runs of each command; the median counts (default: 9)")
    arguments = parser.parse_args(words)

    corpora = os.environ.get("HEMSTITCH_CORPORA")
    if not corpora or not all((Path(corpora) / "silesia" / name).is_file() for name in SILESIA9):
        sys.exit("bench: set HEMSTITCH_CORPORA to a folder with silesia/dickens, silesia/mr, ... (see HACKING.md)")
    for tool in ("lz4", "time", "gzip", "pigz"):
        if not shutil.which(tool):
            sys.exit(f"bench: the program '{tool}' is not installed; run tools/setup test")
    silesia = Path(corpora) / "silesia"
    subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "release"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)

    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="hemstitch-bench-", dir=memory) as folder:
        work = Path(folder)
        original = work / "silesia9.tar"
        make_tar(silesia, original)
        files = [recorded_run.file_entry(original)]
        files += [recorded_run.file_entry(silesia / name) for name in SILESIA9]
        runs = {}
        if arguments.only != "gzip":
            runs["lz4-cpu"] = [*compare_lz4(original, arguments.rounds, work), *measure_memory(original, work), measure_start()]
        if arguments.only != "lz4":
            runs["gzip-cpu"] = compare_gzip(original, arguments.rounds, work)

    command = "tools/bench" + "".join(f" --{name} {value}" for name, value in vars(arguments).items() if value != parser.get_default(name))
    for what, rows in runs.items():
        print(f"recorded in {recorded_run.record(what, recorded_run.cpu_name(), command, files, rows)}; tools/results makes the tables")
