#!/usr/bin/env python3
"""Every block of commands and code in the pages runs as it is written, or says in a comment before it why it does not.

  blocks_test.py BUILD_FOLDER [COMPILER]

A block is what stands between ``` lines; one without a language is a drawing. Comments of these forms stand directly before it:

  <!-- test: not run, REASON -->
  <!-- test: compiled -->               C++ that is not started, since it takes a device
  <!-- test: within DECLARATIONS -->    a part of a C++ function, compiled as one behind these and all public headers; not started
  <!-- test: needs PROGRAM, ... -->     left out where one of them is not here
  <!-- test: after COMMANDS -->         run before it; $SOURCE is the repository

Shell blocks run in an empty folder each, with the tool, the library and nbdkit's plugin of the build; blocks in Python are for
bindings/python/tests/test_docs.py, which has the package.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LANGUAGES = {"sh", "c", "cpp", "python", "js", "cmake", "ini", "xml"}
# Pages whose blocks another test runs, each as one text: it has the package.
ELSEWHERE = dict.fromkeys(("docs/python.md", "docs/coming-from/python.md", "docs/coming-from/numcodecs.md"), "bindings/python/tests/test_docs.py")


class Block:
    def __init__(self, page, number, language, marks, text):
        self.place, self.language, self.text = f"{page}:{number}", language, text
        self.after = [mark[6:] for mark in marks if mark.startswith("after ")]
        self.needs = [name.strip() for mark in marks if mark.startswith("needs ") for name in mark[6:].split(",")]
        self.not_run = next((mark[8:].strip(", ") for mark in marks if mark.startswith("not run")), None)
        self.within = next((mark[7:] for mark in marks if mark.startswith("within")), None)
        self.compiled = "compiled" in marks or self.within is not None
        self.unknown = [mark for mark in marks if mark not in ("compiled", "within") and not mark.startswith(("after ", "within ", "needs ", "not run, "))]


def blocks_of(page, text):
    found, marks, language = [], [], None
    for number, line in enumerate(text.split("\n"), 1):
        if language is not None:
            if line.startswith("```"):
                if language:
                    found.append(Block(page, begin, language, marks, "\n".join(lines) + "\n"))
                language, marks = None, []
            else:
                lines.append(line)
        elif line.startswith("```"):
            language, begin, lines = line[3:].strip(), number, []
        elif mark := re.fullmatch(r"<!-- test: (.*) -->", line):
            marks.append(mark.group(1))
        else:
            marks = []
    return found


def environment(build, folder):
    """What a block finds: the build's tool, library and plugin, as if they were installed."""
    programs = folder / "programs"
    programs.mkdir()
    (programs / "hemstitch").symlink_to(build / "hemstitch")
    if nbdkit := shutil.which("nbdkit"):
        plugin = build / "nbdkit" / "nbdkit-hemstitch-plugin.so"
        # It looks for plugins by name where it is installed itself, and nowhere else.
        (programs / "nbdkit").write_text('#!/bin/bash\nwords=()\nfor word; do\n  if [[ $word == hemstitch ]]; then word=' + str(plugin) +
                                         f'; fi\n  words+=("$word")\ndone\nexec {nbdkit} "${{words[@]}}"\n')
        (programs / "nbdkit").chmod(0o755)
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "SOURCE": str(ROOT), "CPATH": str(ROOT / "include"),
            "LIBRARY_PATH": str(build / "src"), "LD_LIBRARY_PATH": str(build / "src"), "HEMSTITCH_BACKEND": "",
            # MPI starts few processes on few cores, and as any user.
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def as_function(block):
    """A whole source of a part of one."""
    headers = sorted(path.name for path in (ROOT / "include" / "hemstitch").glob("*.hpp"))
    includes = "".join(f"#include <hemstitch/{name}>\n" for name in headers if name != "webgpu.hpp" or "webgpu" in block.text)
    own = "".join(line + "\n" for line in block.text.split("\n") if line.startswith("#include"))
    body = "\n".join(line for line in block.text.split("\n") if not line.startswith("#include"))
    return f"{includes}{own}{block.within}\nvoid block() {{\n{body}\n}}\n"


def run_block(block, build, compiler):
    """What went wrong, or nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work").mkdir()
        settings = environment(build, folder)
        settings.pop("HEMSTITCH_BACKEND")
        if block.language in ("c", "cpp"):
            source = folder / f"block.{block.language}"
            source.write_text(block.text if block.within is None else as_function(block))
            standard = "-std=c++20" if block.language == "cpp" else "-std=c99"
            script = f"{compiler} {'-x c++' if block.language == 'cpp' else '-x c'} {standard} -Wall -Werror {source}"
            script += " -fsyntax-only -Wno-unused" if block.within is not None else f" -o {folder}/block -lhemstitch"
            if not block.compiled:
                script += f" && {folder}/block"
        else:
            script = "\n".join([*block.after, block.text])
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder / "work", env=settings, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
        return None if done.returncode == 0 else f"{block.place} ends with {done.returncode}:\n{done.stdout[-2000:]}"


def main(build, compiler="c++"):
    pages = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    faults, ran, left_out = [], 0, []
    for page in pages:
        if page in ELSEWHERE:
            if not (ROOT / ELSEWHERE[page]).exists():
                faults.append(f"{page}: {ELSEWHERE[page]}, which should run its blocks, is not there")
            continue
        for block in blocks_of(page, (ROOT / page).read_text()):
            missing = [name for name in block.needs if shutil.which(name) is None]
            if block.unknown:
                faults.append(f"{block.place}: no mark of these forms: {', '.join(block.unknown)}")
            elif block.language not in LANGUAGES:
                faults.append(f"{block.place}: the language '{block.language}' is not known; a drawing has none")
            elif block.not_run is not None or block.language == "python":
                left_out.append(block.place)
            elif block.language not in ("sh", "c", "cpp"):
                faults.append(f"{block.place}: nothing here runs {block.language}; say before it why it is not run")
            elif missing:
                print(f"left out {block.place}: no {', '.join(missing)}")
            else:
                ran += 1
                if fault := run_block(block, Path(build).resolve(), compiler):
                    faults.append(fault)
    print("\n".join(faults))
    print(f"{ran} blocks ran, {len(left_out)} say why not, {len(faults)} faults")
    # README's first commands are among them, or nothing was read.
    return 1 if faults or ran < 5 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
