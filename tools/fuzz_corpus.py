#!/usr/bin/env python3
"""Puts into fuzz/corpus/TARGET the fewest inputs that reach as much code as all that are known, for tools/fuzz --keep.

  tools/fuzz_corpus.py TARGET

Known are those in fuzz/corpus/TARGET and build/fuzz/corpus/TARGET. What an input reaches is what libFuzzer notes of it
while it merges: pieces of code, not how often each was run, so that a corpus stays small. Of inputs that reach as much the
one that the corpus has already is kept, else the shorter.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


COUNTS = 8  # libFuzzer numbers what it calls features: 8 for each piece of code, by how often that was run


def reached(target, folders):
    """{file: the pieces of code that it reaches}"""
    with tempfile.TemporaryDirectory() as work:
        control, merged = Path(work) / "control", Path(work) / "merged"
        merged.mkdir()
        subprocess.run([ROOT / "build" / "fuzz" / "fuzz" / target, "-merge=1", f"-merge_control_file={control}",
                        "-detect_leaks=0", merged, *folders], check=True, capture_output=True)
        lines = control.read_text().splitlines()
    count = int(lines[0])
    files, pieces = [Path(name) for name in lines[2:2 + count]], {}
    for line in lines[2 + count:]:
        kind, number, *features = line.split()
        if kind == "FT":
            pieces[files[int(number)]] = {int(feature) // COUNTS for feature in features}
    return pieces


def fewest(pieces, preferred):
    """Inputs, each of which adds the most to those before it, until all pieces are there."""
    kept, left = [], set().union(*pieces.values())
    while left:
        best = max(pieces, key=lambda file: (len(pieces[file] & left), file.parent == preferred, -file.stat().st_size, file.name))
        kept.append(best)
        left -= pieces[best]
    return kept


def main():
    target = sys.argv[1]
    corpus, found = ROOT / "fuzz" / "corpus" / target, ROOT / "build" / "fuzz" / "corpus" / target
    kept = fewest(reached(target, [corpus, found]), corpus)
    for file in corpus.iterdir():
        if file not in kept:
            file.unlink()
    for file in kept:
        if file.parent != corpus:
            shutil.copy(file, corpus / file.name[:12])
    print(f"{target}: {len(kept)} inputs kept, {sum(file.stat().st_size for file in kept)} bytes")


if __name__ == "__main__":
    main()
