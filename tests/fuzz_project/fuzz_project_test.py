#!/usr/bin/env python3
"""tools/fuzz-project and .clusterfuzzlite/build.sh with a stand-in for cmake: which flags they pass on, and what lies in their outputs."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Notes its arguments and CXXFLAGS; as a target it builds a script that notes what it is run with. ldd says that it needs two libraries.
CMAKE = """#!/bin/bash
echo "$CXXFLAGS" >> "$NOTES/flags"; echo "$*" >> "$NOTES/arguments"
if [[ $1 == --build ]]; then
  mkdir -p "$2/fuzz"
  for word; do
    if [[ $word == fuzz_* ]]; then
      printf '#!/bin/bash\\n[[ -z ${HOME:-} ]] && ls "${!#}" >> %s/ran\\n' "$NOTES" > "$2/fuzz/${word#fuzz_}"
      if [[ $word == fuzz_write_seeds ]]; then echo 'mkdir -p "$1/alpha"; echo > "$1/alpha/made"' > "$2/fuzz/write_seeds"; fi
      chmod +x "$2/fuzz/${word#fuzz_}"
    fi
  done
fi
"""
LDD = """#!/bin/bash
printf '\\tlibtbb.so.12 => %s/libtbb.so.12 (0x1)\\n\\tlibc.so.6 => /lib/libc.so.6 (0x2)\\n' "$NOTES"
"""


class FuzzProject(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.notes = Path(folder.name) / "hemstitch", Path(folder.name) / "notes"
        for name in ("tools", ".clusterfuzzlite", "fuzz/corpus/alpha", "fuzz/corpus/beta", "fuzz/corpus/diff_backends_webgpu"):
            (self.root / name).mkdir(parents=True)
        (self.notes / "programs").mkdir(parents=True)
        shutil.copy(ROOT / "tools" / "fuzz-project", self.root / "tools")
        shutil.copy(ROOT / ".clusterfuzzlite" / "build.sh", self.root / ".clusterfuzzlite")
        for name in ("alpha/one", "alpha/two", "beta/three"):
            (self.root / "fuzz" / "corpus" / name).write_text(name)
        (self.notes / "libtbb.so.12").write_text("library")
        for name, text in (("cmake", CMAKE), ("ldd", LDD)):
            program = self.notes / "programs" / name
            program.write_text(text)
            program.chmod(0o755)

    def run_project(self, *arguments):
        paths = f"{self.notes / 'programs'}:{os.environ['PATH']}"
        return subprocess.run([self.root / "tools" / "fuzz-project", *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, "NOTES": str(self.notes), "PATH": paths})

    def test_builds_all_with_both_sanitizers(self):
        done = self.run_project()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "address: 2 targets, each over its seeds\nundefined: 2 targets, each over its seeds\n")
        flags = (self.notes / "flags").read_text().splitlines()
        self.assertTrue(all("libc++" not in line and "-fsanitize=fuzzer-no-link" in line for line in flags), flags)
        self.assertIn("-fsanitize=address ", flags[0])
        self.assertIn("-DHEMSTITCH_FUZZING_ENGINE=-fsanitize=fuzzer ", (self.notes / "arguments").read_text())
        self.assertEqual((self.notes / "ran").read_text().split(), ["made", "one", "two", "three"] * 2)
        out = self.root / "build" / "fuzz-project" / "address" / "out"
        self.assertEqual({file.name for file in out.iterdir()}, {"alpha", "beta", "alpha_seed_corpus.zip", "beta_seed_corpus.zip", "lib"})
        self.assertEqual([file.name for file in (out / "lib").iterdir()], ["libtbb.so.12"])
        self.assertEqual(zipfile.ZipFile(out / "alpha_seed_corpus.zip").namelist(), ["one", "two", "made"])

    def test_some_targets(self):
        self.assertEqual(self.run_project("undefined", "beta").stdout, "undefined: 1 targets, each over its seeds\n")

    def test_failures_are_told(self):
        self.assertIn("no sanitizer 'memory'", self.run_project("memory").stderr)
        cmake = self.notes / "programs" / "cmake"
        cmake.write_text(CMAKE.replace("[[ -z", "[[ -n"))
        done = self.run_project("address")
        self.assertEqual(done.returncode, 1)
        self.assertIn("alpha (address) fails on its seeds", done.stderr)

    def test_the_image_has_what_the_build_needs(self):
        setup = re.search(r"^build_packages=\((.*?)\)", (ROOT / "tools" / "setup").read_text(), re.MULTILINE | re.DOTALL)[1].split()
        image = (ROOT / ".clusterfuzzlite" / "Dockerfile").read_text().split()
        self.assertEqual(set(setup) - set(image), {"lowdown"})  # makes man pages


if __name__ == "__main__":
    if shutil.which("zip") is None:
        print("skipped: zip is not here")
        sys.exit(77)
    unittest.main()
