"""Measures what the reference backend writes beside what other encoders do with the same data, and records the runs.

  HEMSTITCH_CORPORA=FOLDER tools/bench twins [--only lz4|deflate] [--output FILE]

FOLDER/silesia holds the nine Silesia files, FOLDER/canterbury-large E.coli. Speeds are those of one core, in processor time, from the
dev build.

lz4: beside liblz4's level 12, blocks of 64 KB at the levels 1, 3, 6, 9 and 12, pages of 4 KB at level 1. "corpus" is the
nine files in total. Ratios are those of the blocks' payloads, without frames.

deflate: gzip at the same levels and bgzf at level 6, beside gzip, libdeflate-gzip and bgzip. "total" is the nine files. Sizes are those
of whole files. Genomes are E.coli, and two files made of it: it in lines of 70 letters (FASTA), and 60,000 reads of 150 letters out of it with
errors and qualities (FASTQ).
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from benches.corpus import SILESIA9
from records import recorded_run
from records.recorded_run import ROOT

PROGRAM = ROOT / "build" / "dev" / "bench" / "lz4_block_sizes"
# Block bytes, and the levels measured with them.
CASES = ((65536, (1, 3, 6, 9, 12)), (4096, (1,)))
DEFLATE_PROGRAM = ROOT / "build" / "dev" / "bench" / "deflate_sizes"
GZIP_PEERS = {1: ["gzip", "-9", "-n"], 3: ["gzip", "-9", "-n"], 6: ["gzip", "-9", "-n"], 9: ["libdeflate-gzip", "-9"],
              12: ["libdeflate-gzip", "-12"]}
GENOME_PEERS = {6: ["gzip", "-6", "-n"], 9: ["gzip", "-9", "-n"]}
BGZF_PEERS = {6: ["bgzip"]}


def build(program):
    subprocess.run(["cmake", "--preset", "dev"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "dev", "--target", program.name], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)


def rows_of(program, options, paths):
    with tempfile.TemporaryDirectory(prefix="hemstitch-bench-") as folder:
        rows_file = Path(folder) / "rows.json"
        subprocess.run([program, *options, "--json", rows_file, *paths], check=True)
        return json.loads(rows_file.read_text())


def level_options(levels):
    return [word for level in levels for word in ("--level", str(level))]


def lz4_rows(paths):
    build(PROGRAM)
    return [row for block_bytes, levels in CASES
            for row in rows_of(PROGRAM, ["--block", str(block_bytes), *level_options(levels)], paths)]


def make_genomes(corpora, folder):
    """E.coli as it is, as FASTA and as FASTQ; the same on every machine."""
    genome = (corpora / "canterbury-large" / "E.coli").read_bytes()
    fasta = folder / "E.coli.fasta"
    fasta.write_bytes(b">E.coli\n" + b"".join(genome[i:i + 70].upper() + b"\n" for i in range(0, len(genome), 70)))
    draw = random.Random(1)
    reads = []
    for number in range(60000):
        begin = draw.randrange(len(genome) - 150)
        read = bytearray(genome[begin:begin + 150].upper())
        if draw.random() < 0.3:
            read[draw.randrange(150)] = ord("N")
        qualities = bytes(draw.choices(b"FFFFFFF:,#", k=1)[0] if draw.random() < 0.1 else 70 for _ in range(150))
        reads.append(b"@SIM:1:%d\n%b\n+\n%b\n" % (number, bytes(read), qualities))
    fastq = folder / "E.coli.fastq"
    fastq.write_bytes(b"".join(reads))
    return [corpora / "canterbury-large" / "E.coli", fasta, fastq]


def compressed_bytes(command, path):
    with open(path, "rb") as file:
        return len(subprocess.run([*command, "-c"], stdin=file, check=True, capture_output=True).stdout)


def deflate_rows(paths, peers, options=()):
    """The program's rows, and beside each what its level's peer makes of the same file."""
    rows = rows_of(DEFLATE_PROGRAM, [*options, *level_options(peers)], paths)
    sizes = {(" ".join(command), path.name): compressed_bytes(command, path) for command in peers.values() for path in paths}
    for row in rows:
        peer = " ".join(peers[row["level"]])
        of_files = [sizes[peer, path.name] for path in paths if row["file"] in (path.name, "total")]
        row |= {"peer": peer, "peer_compressed_bytes": sum(of_files), "peer_ratio": row["bytes"] / sum(of_files)}
        print(f"{row['file']:<12} {row['format']} {row['level']:>2}: {row['compressed_bytes']:>10}, {peer} {sum(of_files):>10}, "
              f"{100 * (row['compressed_bytes'] / sum(of_files) - 1):+.2f} %")
    return rows


def main(words):
    parser = argparse.ArgumentParser(prog="bench twins", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("lz4", "deflate"), help="one of the two runs")
    parser.add_argument("--output", help="where to write the recorded run (default: a new file in bench/results)")
    arguments = parser.parse_args(words)
    if arguments.output and not arguments.only:
        parser.error("--output holds one run: name it with --only")

    corpora = Path(os.environ.get("HEMSTITCH_CORPORA", ""))
    paths = [corpora / "silesia" / name for name in SILESIA9]
    if not all(path.is_file() for path in paths):
        sys.exit("bench twins: set HEMSTITCH_CORPORA to a folder with silesia/dickens, silesia/mr, ... (see HACKING.md)")

    def record(what, files, rows):
        entries = [recorded_run.file_entry(path) for path in files]
        path = recorded_run.record(what, recorded_run.cpu_name(), "tools/bench twins", entries, rows, arguments.output)
        print(f"recorded in {path}; tools/results makes the tables")

    if arguments.only != "deflate":
        record("lz4-twins", paths, lz4_rows(paths))
    if arguments.only != "lz4":
        build(DEFLATE_PROGRAM)
        with tempfile.TemporaryDirectory(prefix="hemstitch-bench-") as folder:
            genomes = make_genomes(corpora, Path(folder))
            of_genomes = [row for row in deflate_rows(genomes, GENOME_PEERS) if row["file"] != "total"]
            rows = deflate_rows(paths, GZIP_PEERS) + deflate_rows(paths, BGZF_PEERS, ["--bgzf"]) + of_genomes
            record("deflate-twins", paths + genomes, rows)
