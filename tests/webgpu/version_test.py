#!/usr/bin/env python3
"""The library that HEMSTITCH_WEBGPU_LIBRARY names is refused where its version is another one, and where it lacks a function; the tool says
which version and which function, and goes on without the backend.

  version_test.py TOOL C_COMPILER INCLUDE_FOLDER

The libraries are made here: every function of wgpu-native's headers, of which only the one that tells the version works.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def make_library(folder, compiler, names, major):
    source = folder / "library.c"
    source.write_text("".join(f"void {name}(void) {{}}\n" for name in names if name != "wgpuGetVersion") +
                      f"unsigned wgpuGetVersion(void) {{ return {major}u << 24 | 3u << 8; }}\n")
    library = folder / f"libwgpu_native-{major}-{len(names)}.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def backends(tool, library):
    done = subprocess.run([tool, "backends"], env={**os.environ, "HEMSTITCH_WEBGPU_LIBRARY": str(library)}, check=True, capture_output=True, text=True)
    # Lines are folded to the terminal's width.
    return re.sub(r"\s+", " ", done.stdout)


def main(tool, compiler, includes):
    headers = "".join((Path(includes) / "webgpu" / name).read_text() for name in ("webgpu.h", "wgpu.h"))
    names = sorted(set(re.findall(r"\b(wgpu[A-Z]\w+)\(", headers)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for major in (28, 30):
            told = backends(tool, make_library(folder, compiler, names, major))
            assert f"is wgpu-native {major}.0.3.0, this build needs 29" in told, told
            assert "cpu" in told, told
        without = [name for name in names if name != "wgpuQueueSubmit"]
        told = backends(tool, make_library(folder, compiler, without, 29))
        assert "has no function wgpuQueueSubmit" in told, told
        (folder / "text.so").write_text("no library")
        assert "wgpu-native could not be loaded" in backends(tool, folder / "text.so")


if __name__ == "__main__":
    main(*sys.argv[1:])
