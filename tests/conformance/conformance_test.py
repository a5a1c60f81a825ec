#!/usr/bin/env python3
"""Holds the tool to the conformance files: the verdict and the content of each, by the backends cpu and reference; and the files to
the script that makes them.

  conformance_test.py TOOL

With HEMSTITCH_SANITIZE set, every fourth file: processes start slowly there.
"""

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "conformance"
BACKENDS = ("cpu", "reference")
RESTORED = (0, 2)       # 2 is a warning: the content before it is complete.
# docs/formats/zstd.md, "Verdicts": libzstd decides for `cpu`, and versions differ. Here either verdict is right, for cpu alone.
BY_LIBZSTD = ("zstd/invalid/repeat-of-0.zst", "zstd/invalid/sequences-spare-bits.zst", "zstd/invalid/sequences-reserved-modes.zst",
              "zstd/invalid/compressed-of-no-bytes.zst")


def rows():
    lines = (FOLDER / "expected.tsv").read_text().splitlines()
    return [dict(zip(lines[0].split("\t"), line.split("\t"))) for line in lines[1:]]


def fault(tool, row, backend):
    """What is wrong with how the tool takes a file, or nothing."""
    done = subprocess.run([tool, "-dcq", "--format", row["format"], "--backend", backend, FOLDER / row["file"]], check=False, capture_output=True)
    if done.returncode not in (*RESTORED, 1):
        return f"status {done.returncode}"
    restored = done.returncode in RESTORED
    if row["verdict"] == "invalid":
        if row["file"] in BY_LIBZSTD and backend == "cpu":
            return None
        if restored:
            return "restored"
    elif restored and hashlib.sha256(done.stdout).hexdigest() != row["sha256"]:
        return f"{len(done.stdout)} bytes of other content than the {row['size']} expected"
    elif not restored and row["verdict"] == "valid":
        return f"refused: {done.stderr.decode(errors='replace').strip()}"
    return None


def main(tool):
    if subprocess.run([ROOT / "tools" / "make-conformance", "--check"], check=False).returncode != 0:
        return 1
    all_rows = rows()
    unknown = set(BY_LIBZSTD) - {row["file"] for row in all_rows}
    if unknown:
        print(f"files that are not there: {', '.join(sorted(unknown))}")
        return 1
    tried = [(row, backend) for row in all_rows[::4 if os.environ.get("HEMSTITCH_SANITIZE") else 1] for backend in BACKENDS]
    with ThreadPoolExecutor(2) as pool:
        faults = list(pool.map(lambda one: fault(tool, *one), tried))
    for (row, backend), wrong in zip(tried, faults):
        if wrong:
            print(f"conformance/{row['file']}, {backend}: {row['verdict']}, but {wrong}")
    print(f"{len(tried)} verdicts, {sum(map(bool, faults))} wrong")
    return 1 if any(faults) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
