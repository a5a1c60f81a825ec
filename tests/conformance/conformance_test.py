#!/usr/bin/env python3
"""Holds the tool to the conformance files: the verdict and the content of each; and the files to the script that makes them.

  conformance_test.py TOOL            by the backends cpu and reference, each file by itself and all of a format at once
  conformance_test.py TOOL BACKEND    by a backend with devices, all of a format at once

At once (-r) many files go to a backend in one batch, also those of gzip, which alone are streams that devices leave to the processor. Where the backend
refuses a block and another one then restores it, that is a fault as well. With HEMSTITCH_SANITIZE set, every fourth file.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "conformance"
PROCESSOR = ("cpu", "reference")
RESTORED = (0, 2)       # 2 is a warning: the content before it is complete.
# docs/formats/zstd.md, "Verdicts": libzstd decides for `cpu`, and where a device leaves a frame to it; versions differ. Then either verdict is right.
BY_LIBZSTD = ("zstd/invalid/repeat-of-0.zst", "zstd/invalid/sequences-spare-bits.zst", "zstd/invalid/sequences-reserved-modes.zst",
              "zstd/invalid/compressed-of-no-bytes.zst")
STREAM = "whose blocks have no known boundaries"    # what a device leaves to the processor is no refusal
SKIPPED = 77


def rows():
    lines = (FOLDER / "expected.tsv").read_text().splitlines()
    return [dict(zip(lines[0].split("\t"), line.split("\t"))) for line in lines[1:]]


def judged(row, by_cpu, content, message):
    """What is wrong with this content, or with none and this message; or nothing."""
    if row["verdict"] == "invalid":
        if content is not None and not (by_cpu and row["file"] in BY_LIBZSTD):
            return "restored"
    elif content is not None and hashlib.sha256(content).hexdigest() != row["sha256"]:
        return f"{len(content)} bytes of other content than the {row['size']} expected"
    elif content is None and row["verdict"] == "valid":
        return f"refused: {message}"
    return None


def fault_alone(tool, row, backend):
    done = subprocess.run([tool, "-dcq", "--format", row["format"], "--backend", backend, FOLDER / row["file"]], check=False, capture_output=True)
    if done.returncode not in (*RESTORED, 1):
        return f"status {done.returncode}"
    return judged(row, backend == "cpu", done.stdout if done.returncode in RESTORED else None, done.stderr.decode(errors="replace").strip())


def faults_together(tool, all_rows, backend):
    """Pairs of a file and what is wrong with it."""
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for row in all_rows:
            copy = Path(folder) / row["file"]
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(FOLDER / row["file"], copy)
        for name in sorted({row["format"] for row in all_rows}):
            done = subprocess.run([tool, "-dr", "--format", name, "--backend", backend, "--output-dir", f"out-{name}", name],
                                  cwd=folder, check=False, capture_output=True)
            if done.returncode not in (*RESTORED, 1):
                return [(name, f"status {done.returncode}: {done.stderr.decode(errors='replace')}")]
            messages = {}
            for line in done.stderr.decode(errors="replace").splitlines():
                if " redone by " in line and STREAM not in line:
                    faults.append((name, line))
                path, _, message = line.removeprefix("hemstitch: ").partition(": ")
                messages.setdefault(path, []).append(message)
            for row in (row for row in all_rows if row["format"] == name):
                output = Path(folder, f"out-{row['file']}").with_suffix("")
                content, said = output.read_bytes() if output.exists() else None, messages.get(row["file"], [])
                wrong = judged(row, backend == "cpu" or any(" redone by cpu: " in message for message in said), content, said)
                if content is None and not said:
                    wrong = "neither content nor a message"
                if wrong:
                    faults.append((row["file"], wrong))
    return faults


def unusable(tool, backend):
    """Why the tool cannot use the backend, or nothing."""
    done = subprocess.run([tool, "-tq", "--backend", backend, FOLDER / "lz4/valid/plain.lz4"], check=False, capture_output=True, text=True)
    return done.stderr if done.returncode != 0 else None


def main(tool, device=None):
    all_rows = rows()
    if os.environ.get("HEMSTITCH_SANITIZE"):
        all_rows = all_rows[::4]
    faults, tried = [], 0
    if device:
        reason = unusable(tool, device)
        if reason and device not in os.environ.get("HEMSTITCH_REQUIRE", "").split(","):
            print(f"skipped: {reason}")
            return SKIPPED
    else:
        if subprocess.run([ROOT / "tools" / "make-conformance", "--check"], check=False).returncode != 0:
            return 1
        unknown = set(BY_LIBZSTD) - {row["file"] for row in rows()}
        if unknown:
            print(f"files that are not there: {', '.join(sorted(unknown))}")
            return 1
        alone = [(row, backend) for row in all_rows for backend in PROCESSOR]
        with ThreadPoolExecutor(2) as pool:
            for (row, backend), wrong in zip(alone, pool.map(lambda one: fault_alone(tool, *one), alone)):
                if wrong:
                    faults.append(f"{row['file']}, {backend}: {wrong}")
        tried = len(alone)
    for backend in (device,) if device else PROCESSOR:
        faults += [f"{name}, {backend}, with all others: {wrong}" for name, wrong in faults_together(tool, all_rows, backend)]
        tried += len(all_rows)
    for wrong in faults:
        print(f"conformance/{wrong}")
    print(f"{tried} verdicts, {len(faults)} wrong")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), *sys.argv[2:]))
