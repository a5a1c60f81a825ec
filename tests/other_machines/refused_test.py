#!/usr/bin/env python3
"""Processors that are not supported are refused when a build is configured, in one line that says why."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
REFUSED = {"s390x": ("s390x-linux-gnu", "64 bits and is BIG_ENDIAN"), "i386": ("i386-linux-gnu", "32 bits and is LITTLE_ENDIAN"),
           "armv7l": ("arm-linux-gnueabihf", "32 bits and is LITTLE_ENDIAN")}


def configured(processor, target):
    """What cmake says. clang compiles for any processor; without its libraries nothing can be linked."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={processor}",
             "-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++", f"-DCMAKE_C_COMPILER_TARGET={target}",
             f"-DCMAKE_CXX_COMPILER_TARGET={target}", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"],
            capture_output=True, text=True, check=False)


def main():
    if shutil.which("clang++") is None or shutil.which("ninja") is None:
        print("skipped: clang++ or ninja is not here")
        return 77
    wrong = []
    for processor, (target, why) in REFUSED.items():
        done = configured(processor, target)
        words = re.sub(r"\s+", " ", done.stderr)
        expected = f"Hemstitch needs a little-endian processor of 64 bits; {processor} has {why}"
        if done.returncode == 0 or expected not in words:
            wrong.append(f"{processor}: {words}")
    # The same words of cmake's for one that is taken, up to its libraries, which are not here.
    if "little-endian" in configured("aarch64", "aarch64-linux-gnu").stderr:
        wrong.append("aarch64 is refused")
    print("\n".join(wrong) or f"{len(REFUSED)} processors are refused")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
