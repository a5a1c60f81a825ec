#!/usr/bin/env python3
"""A format is a folder, a row and a number: no file but LISTS names all formats, or the folders of all, so a new format changes no other. One of LISTS
is for type checkers of Python, which read sources; a test of the package holds it against the library.

Not read: what is a format's own (src/format/NAME/, the batch functions, which have a family for each), the browser's planners, which have a
table of their own, and what only measures, tests or explains. A file that names some formats has a reason of its own, as an index of gzip has.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LISTS = {"src/format/known_formats.hpp", "include/hemstitch/hemstitch.h", "include/hemstitch/hemstitch.hpp", "bindings/python/hemstitch/_options.py"}
NOT_READ = re.compile(r"src/format/\w+/|(?:tests|docs|bench|fuzz|tools|examples|\.ci)/|bindings/(?:web|python/tests)/|.*batch|.*\.md$")
C_SUFFIXES = {".hpp", ".h", ".cpp", ".cu", ".cuh", ".wgsl", ".js", ".ts"}
C_COMMENT, OTHER_COMMENT = re.compile(r"/\*[\s\S]*?\*/|//.*"), re.compile(r'"""[\s\S]*?"""|#.*')


def wholly_named(names, pattern, text):
    """Whether the text has the pattern with each of the names."""
    return all(re.search(pattern.format(name=name, upper=name.upper(), title=name.capitalize()), text) for name in names)


def main():
    formats = [name.lower() for name in re.findall(r"HEMSTITCH_FORMAT_(\w+),$", (ROOT / "include/hemstitch/hemstitch.hpp").read_text(), re.MULTILINE)]
    folders = re.findall(r"^\s*ROW\((\w+)", (ROOT / "src/format/known_formats.hpp").read_text(), re.MULTILINE)
    found = set()
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        path = ROOT / name
        if NOT_READ.match(name) or not path.is_file():
            continue
        # Words of completions have no quotes of their own.
        quoted = r"\b{name}\b" if name.startswith("completions/") else r"[\"']{name}[\"']"
        comment = C_COMMENT if path.suffix in C_SUFFIXES else OTHER_COMMENT
        text = comment.sub("", path.read_text(errors="replace"))
        if (wholly_named(formats, r"\bk{title}\b|\bHEMSTITCH_FORMAT_{upper}\b|" + quoted, text)
                or wholly_named(folders, r"\bformat/{name}/|\bROW\({name}\b", text)):
            found.add(name)
    for name in sorted(found - LISTS):
        print(f"{name}: names all formats: take them from the table (src/format/formats.hpp) or from format_names()")
    for name in sorted(LISTS - found):
        print(f"{name}: should list the formats, but does not")
    print(f"{len(formats)} formats of {len(folders)} folders are listed in {len(found)} files")
    return found != LISTS


if __name__ == "__main__":
    sys.exit(main())
