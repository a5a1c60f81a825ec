#!/usr/bin/env python3
"""Runs of the tool that end while the device starts beside them: each leaves the driver in the middle of its start, with its output
whole and flushed. In a bundle of tools/device-bundle it lies as short_runs_device_bench, beside the tool:
./device-run --only short_runs benches

  short_runs.py [--tool FILE] [--runs N] [--seconds N] CORPORA

Figures are kept for the runs by which a processor is slow and a device costs nothing, so that one is started for every file. 2,000
runs, eight at a time: files and pipes of 2 KB to 8 MB, compressed and restored, so that they end at any moment of the start. Then
the device has to be as usable as before. Prints a row for each kind of run. Exit 1: one went wrong, and its row says what.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benches.corpus import TOOL, memory_folder, silesia_files, usable_backends

AT_ONCE = 8
SIZES = [2048 << step for step in range(0, 13, 2)]
KINDS = ("compress a file", "compress a pipe", "restore a file", "restore a pipe")


def keep_figures(tool, folder, backend):
    """By which every size goes to the device."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    subprocess.run([tool, "backends", "--calibrate"], check=True, stdout=subprocess.DEVNULL, env=environment)
    path, kept = folder / "hemstitch" / "figures", []
    for line in path.read_text().splitlines():
        if line.startswith("host "):
            line = "host" + " 100" * 5
        elif line.startswith("backend cpu "):
            line = "backend cpu 0 0 0" + " 0.005" * 6 + " 0 1"
        elif line.startswith(f"backend {backend} "):
            line = f"backend {backend} 0 0 0" + " 100" * 6 + " 0 1"
        kept.append(line)
    path.write_text("\n".join(kept) + "\n")
    return environment


def wrong_of(tool, environment, kind, plain, compressed, target):
    """What went wrong in a run, or nothing."""
    source = compressed if kind.startswith("restore") else plain
    words = [tool, "-q", *(["-d"] if kind.startswith("restore") else [])]
    if kind.endswith("pipe"):
        done = subprocess.run([*words, "-c"], input=source.read_bytes(), capture_output=True, check=False, env=environment)
        output = done.stdout
    else:
        target.unlink(missing_ok=True)
        done = subprocess.run([*words, source, "-o", target], capture_output=True, check=False, env=environment)
        output = target.read_bytes() if target.exists() else b""
    if done.returncode != 0 or done.stderr:
        return f"exit {done.returncode}: {done.stderr.decode(errors='replace')[:300]}"
    if not kind.startswith("restore"):
        output = subprocess.run([tool, "-dqc", "--backend", "cpu"], input=output, capture_output=True, check=False).stdout
    return None if output == plain.read_bytes() else "the output is not what it should be"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", metavar="CORPORA")
    parser.add_argument("--tool", type=Path, default=TOOL, metavar="FILE")
    parser.add_argument("--runs", type=int, default=2000, metavar="N")
    parser.add_argument("--seconds", type=float, default=200, metavar="N")
    parser.add_argument("--backend", default="cuda", help="instead of cuda: cpu, to try this where there is no GPU")
    arguments = parser.parse_args()
    tool = arguments.tool
    if not usable_backends(tool, [arguments.backend]):
        sys.exit(f"short_runs: {arguments.backend} is not usable here")
    data = b"".join(path.read_bytes() for path in silesia_files(arguments.corpora)[:2])
    deadline, choice, failed = time.monotonic() + arguments.seconds, random.Random(5), False
    with memory_folder("hemstitch-short-") as name:
        folder = Path(name)
        environment = keep_figures(tool, folder, arguments.backend)
        plain = {size: folder / f"{size}" for size in SIZES}
        compressed = {size: folder / f"{size}.lz4" for size in SIZES}
        for size in SIZES:
            plain[size].write_bytes(data[:size])
            subprocess.run([tool, "-q", "--backend", "cpu", plain[size], "-o", compressed[size]], check=True)
        said = subprocess.run([tool, "-fv", plain[SIZES[-1]], "-o", folder / "told"], capture_output=True, text=True,
                              check=True, env=environment).stderr
        print(f"short_runs: {said.strip()}", file=sys.stderr)

        def run(number):
            if time.monotonic() > deadline:
                return None
            kind = KINDS[number % len(KINDS)]
            size = choice.choice(SIZES)
            return kind, wrong_of(tool, environment, kind, plain[size], compressed[size], folder / f"target {number % 64}")

        start = time.monotonic()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            ended = list(pool.map(run, range(arguments.runs)))
        seconds = time.monotonic() - start
        if None in ended:
            print(f"short_runs: no time left for {ended.count(None)} of the runs", file=sys.stderr)
        for kind in KINDS:
            of_kind = [entry[1] for entry in ended if entry and entry[0] == kind]
            wrong = [text for text in of_kind if text]
            failed |= bool(wrong)
            print(json.dumps({"what": kind, "backend": "cuda", "items": len(of_kind), "seconds": round(seconds, 3),
                              "verified": not wrong} | ({"wrong": f"{len(wrong)}: {wrong[0]}"} if wrong else {})), flush=True)
        after = wrong_of(tool, {**os.environ, "HEMSTITCH_BACKEND": arguments.backend}, KINDS[0], plain[SIZES[-1]],
                         compressed[SIZES[-1]], folder / "after")
        failed |= bool(after)
        print(json.dumps({"what": "the device afterwards", "backend": "cuda", "verified": not after} |
                         ({"wrong": after} if after else {})), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
