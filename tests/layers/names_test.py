#!/usr/bin/env python3
"""Holds the names of files in comments and in pages against the files there are.

In comments of sources and scripts, every word like `hash_chain.cu` or `gpu/cuda/launch.hpp`; in pages, such words and folders between
backquotes (links_test.py has their links). A name is right where some file's path ends with it; `*` in it stands for any characters.
NAME, FOLDER and X stand for names.
"""
import fnmatch
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("src", "cli", "tests", "bench", "include", "fuzz", "tools", "examples", "bindings", "docs", "nbdkit")
SOURCES = (".hpp", ".cpp", ".cuh", ".cu", ".wgsl", ".h", ".c", "CMakeLists.txt")
FILE_NAME = re.compile(r"(?<![\w./{}*-])((?:[\w-]+/)*[\w-]*\w\.(?:hpp|cpp|cuh|cu|wgsl|md|py|sh))\b")
INNER = ("match", "parse", "format", "engine", "gpu", "compact", "search", "pages")
FOLDER_NAME = re.compile(r"((?:src|tests|cli|bench|bindings|tools|docs|match|parse|format|engine|gpu|compact|search|pages|nbdkit)/[\w/]+)")
# Of files: with the ending of one, or below a folder of sources.
WILDCARD = re.compile(r"`([\w./-]*\*[\w./*-]*)`")
ELSEWHERE = {"nvtx3.hpp", "webgpu.h"}
STANDS_FOR = re.compile(r"(?:^|[/_])(?:NAME|FOLDER|X)(?:[/_.]|$)")


def endings(path):
    parts = path.parts
    return {"/".join(parts[i:]) for i in range(len(parts))}


def comment_of(line):
    found = re.search(r"(?://|^\s*#)(.*)", line)
    return "" if not found or re.search(r"#(include|import)\b", line) else found[1]


def is_of_files(pattern):
    return pattern.endswith(SOURCES) or (pattern.split("/")[0] in FOLDERS + INNER and "/" in pattern)


def is_found(pattern, paths):
    return any(fnmatch.fnmatch(f"/{path}", f"*/{pattern}") for path in paths)


def planted_wildcards_are_judged():
    paths = [Path("src/format/lz4/restore/lz4_restore.cpp"), Path("tests/stored/stored_format.hpp")]
    return ([is_of_files(one) for one in ("src/format/lz4/*", "*_format.hpp", "2 * threads", "*-device-find")] == [True, True, False, False]
            and is_found("src/format/lz4/restore/lz4_restore*", paths) and is_found("*_format.hpp", paths)
            and not is_found("src/format/lz4/lz4_restore*", paths) and not is_found("format.hpp*", paths))


def main():
    if not planted_wildcards_are_judged():
        print("names: planted wildcards are not judged as they should be")
        sys.exit(1)
    paths = [path.relative_to(ROOT) for folder in FOLDERS for path in (ROOT / folder).rglob("*")
             if path.is_file() and "__pycache__" not in path.parts]
    paths += [path.relative_to(ROOT) for path in ROOT.iterdir() if path.is_file()]
    known = set().union(*(endings(path) for path in paths))
    starts = {"/".join(ending.split("/")[:count]) for ending in known for count in range(1, ending.count("/") + 1)} | known
    wrong, checked = [], 0
    for path in paths:
        page = path.suffix == ".md" and path.parts[0] != "bench"
        if not page and not str(path).endswith(SOURCES) and path.parts[0] != "tools":
            continue
        for number, line in enumerate((ROOT / path).read_text(errors="replace").splitlines(), 1):
            words = re.findall(r"`([\w./-]+)`", line) if page else [comment_of(line)]
            names = [name for word in words for name in FILE_NAME.findall(word)]
            if page:
                patterns = [word for word in WILDCARD.findall(line) if is_of_files(word) and not STANDS_FOR.search(word)]
                checked += len(patterns)
                wrong += [f"{path}:{number}: no {pattern}" for pattern in patterns if not is_found(pattern, paths)]
                names += [word.rstrip("/") for word in words if FOLDER_NAME.fullmatch(word) and "." not in word]
            checked += len(names)
            # A page names a header and its source together by their stem.
            wrong += [f"{path}:{number}: no {name}" for name in names
                      if name not in starts and not STANDS_FOR.search(name) and name not in ELSEWHERE
                      and not (page and any(name + suffix in known for suffix in (".hpp", ".cpp")))]
    print(f"{checked} names in comments and pages, {len(wrong)} of nothing")
    for line in wrong:
        print(line)
    sys.exit(1 if wrong or checked < 300 else 0)


if __name__ == "__main__":
    main()
