"""Measures on the processor what `hemstitch bench` does not, and records the runs.

  HEMSTITCH_CORPORA=FOLDER tools/bench rows [compact-cpu] [matching-lists] [match-distances] [pages] [cpu-levels]
                                   [matching-files]      default: all six

  compact-cpu      scan, gather and scatter (build/dev/bench/compact_cpu)
  matching-lists   coop_stitch with lists of 4, 8 and 16 matches, and of the best of each bucket (hemstitch evaluate)
  match-distances  where the matches of the best parse point, with every offset allowed (hemstitch analyze)
  pages            a store of pages beside liblz4, one page at a time, and batches (build/dev/bench/pages_bench)
  cpu-levels       what levels cost the cores, and what restoring costs the twins: their CPU time, on one thread (hemstitch bench)
  matching-files   the finders of document 001 beside brute force, also on a made text of 256 KB (hemstitch evaluate)

FOLDER holds the files of the Canterbury corpus, in canterbury/, and nine of Silesia's, in silesia/. The programs are those of the dev build.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from benches.corpus import SILESIA9, memory_folder
from records import recorded_run
from records.recorded_run import ROOT

DEV = ROOT / "build" / "dev"
CANTERBURY = tuple(f"canterbury/{name}" for name in ("alice29.txt", "asyoulik.txt", "kennedy.xls", "ptt5"))
SILESIA = tuple(f"silesia/{name}" for name in SILESIA9)
LISTS = [f"coop_stitch:{preset}{setting}" for preset in ("4k", "near-1k")
         for setting in ("", ":top_k=8", ":top_k=16", ":top_k_policy=bucket")]
OF_DOCUMENT_001 = ("lazy_scan", "coop_stitch", "coop_stitch:near-1k", "brute_force:window_size=33792")
MADE_TEXT = "made.txt"
COSTS = (("cpu", "lz4", (1, 3, 6, 9, 12)), ("cpu", "bgzf", (1, 3, 6, 9, 12)), ("reference", "lz4", (1,)), ("reference", "bgzf", (1,)))
EVERY_OFFSET = "brute_force:window_size=65535"


def output_of(*words):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True).stdout


def compact_rows(_):
    return [json.loads(line) for line in output_of(DEV / "bench" / "compact_cpu").splitlines()], "compact_cpu"


def made_text(path, size=256 << 10):
    """Words of a made language, the shorter and the earlier ones more often."""
    chooser = random.Random(1)
    words = ["".join(chooser.choices("etaoinshrdlucmfwyp", k=chooser.randint(1, 11))) for _ in range(4000)]
    text = " ".join(chooser.choices(words, weights=[1 / (place + 3) for place in range(len(words))], k=size // 4))
    path.write_bytes(text.encode()[:size])
    return path


def evaluated(finders, paths):
    words = [word for finder in finders for word in ("--finder", finder)]
    return json.loads(output_of(DEV / "hemstitch", "evaluate", *words, "--json", *paths))["rows"], \
        "hemstitch evaluate " + " ".join(words) + " --json"


def list_rows(paths):
    return evaluated(LISTS, paths)


def file_rows(paths):
    return evaluated(OF_DOCUMENT_001, paths)


def distance_rows(paths):
    rows = []
    for path in paths:
        # Which fails where a match does not stand for equal bytes.
        found = json.loads(output_of(DEV / "hemstitch", "analyze", "--finder", EVERY_OFFSET, "--json", path))
        rows += [{"what": "analyze", "backend": "reference", "file": path.name, "bytes": found["file"]["bytes"], **finder,
                  "verified": True} for finder in found["finders"]]
    return rows, f"hemstitch analyze --finder {EVERY_OFFSET} --json, of each file"


def page_rows(paths):
    return [json.loads(line) for line in output_of(DEV / "bench" / "pages_bench", *paths).splitlines()], \
        "pages_bench, of the files"


def level_rows(paths):
    rows, commands = [], []
    with memory_folder("bench-rows-") as folder:
        beginnings = Path(folder) / "beginnings"
        beginnings.write_bytes(b"".join(path.read_bytes()[:1 << 20] for path in paths))
        for backend, form, levels in COSTS:
            words = ["bench", "-T1", "--json", "--seconds", "0", "--backend", backend, "--format", form, *(f"-{level}" for level in levels), beginnings]
            # Without the rates, which other work on the machine takes part of.
            rows += [{name: row[name] for name in row if name != "gbps"} for row in json.loads(output_of(DEV / "hemstitch", *words))["rows"] if "gbps" in row]
            commands.append(" ".join(words[:-1]))
    return rows, "hemstitch " + "; ".join(commands) + " (of the first MiB of each file)"


RUNS = {"compact-cpu": (compact_rows, ()), "matching-lists": (list_rows, CANTERBURY),
        "match-distances": (distance_rows, CANTERBURY), "pages": (page_rows, SILESIA),
        "cpu-levels": (level_rows, SILESIA),
        "matching-files": (file_rows, (*CANTERBURY[:3], MADE_TEXT))}


def main(words):
    parser = argparse.ArgumentParser(prog="bench rows", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="RUN", help=", ".join(RUNS))
    names = parser.parse_args(words).runs or list(RUNS)
    unknown = [name for name in names if name not in RUNS]
    if unknown:
        parser.error(f"no run '{unknown[0]}'; there are {', '.join(RUNS)}")
    folder = Path(os.environ.get("HEMSTITCH_CORPORA") or "")
    if any(RUNS[name][1] and not all((folder / file).is_file() for file in RUNS[name][1] if file != MADE_TEXT) for name in names):
        sys.exit("bench rows: set HEMSTITCH_CORPORA to a folder with canterbury/alice29.txt, silesia/dickens, ... (see HACKING.md)")
    subprocess.run(["cmake", "--preset", "dev"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "dev", "--target", "compact_cpu", "pages_bench", "hemstitch"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    for name in names:
        measure, files = RUNS[name]
        paths = [made_text(DEV / file) if file == MADE_TEXT else folder / file for file in files]
        rows, command = measure(paths)
        path = recorded_run.record(name, recorded_run.cpu_name(), command, [recorded_run.file_entry(path) for path in paths],
                                   rows)
        print(f"recorded in {path}; tools/results makes the tables")
