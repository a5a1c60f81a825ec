"""Hashes of the code that figures are of: by area, without comments and layout.

`bench/sources.json` names the areas, and the areas that each row of a recorded run measures. An area is a list of patterns of paths (`*` stays
within a folder, `**` does not, `!` takes away) with every header of this repository outside include/ that these files include. A run keeps the
hash of each of its areas as it was at the run's commit, so that one sees whether its figures are of the code that is here.
"""

import fnmatch
import hashlib
import json
import os
import re
import subprocess
from functools import cached_property, lru_cache
from pathlib import Path

from records import recorded_run
from records.recorded_run import ROOT

SOURCES = ROOT / "bench" / "sources.json"
TOPS = ("src", "cli", "bindings", "nbdkit")
# Made from the records: were it code, each new record would make others stale.
MADE = ("src/format/choice_recorded.hpp",)
HASH_DIGITS = 16
# The first kind is for C++, CUDA and WGSL: what is quoted stays, comments go. The other is for Python and scripts.
C_COMMENT = re.compile(r"""(R"([^()\\\s]{0,16})\(.*?\)\2"|"(?:[^"\n\\]|\\.)*"|'(?:[^'\n\\]|\\.)')|//[^\n]*|/\*.*?\*/""", re.DOTALL)
HASH_COMMENT = re.compile(r"(?m)^[ \t]*#.*$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
HASH_LANGUAGES = (".py", ".sh", ".cmake", ".txt")


def without_comments(path, text):
    if path.endswith(HASH_LANGUAGES):
        return HASH_COMMENT.sub("", text)
    return C_COMMENT.sub(lambda found: found.group(1) or "", text)


def without_layout(path, text):
    """Without blank lines; without any white space where it means nothing, so that no formatter changes a hash."""
    return re.sub(r"[ \t]*\n([ \t]*\n)*", "\n", text).strip("\n") if path.endswith(HASH_LANGUAGES) else re.sub(r"[ \t\r\n]+", "", text)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=None)
def pattern(words):
    """A pattern of paths as a compiled expression."""
    parts = [re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") for part in words.split("**")]
    return re.compile(".*".join(parts).replace("/.*/", "/(?:.*/)?"))


def chosen(paths, patterns):
    wanted = [pattern(one) for one in patterns if not one.startswith("!")]
    unwanted = [pattern(one[1:]) for one in patterns if one.startswith("!")]
    return [path for path in paths if any(one.fullmatch(path) for one in wanted) and not any(one.fullmatch(path) for one in unwanted)]


class Tree:
    """The sources as they are in a folder."""

    def __init__(self, root=ROOT):
        self.root = Path(root)
        self.codes, self.hashes = {}, {}

    @cached_property
    def paths(self):
        found = [os.path.relpath(os.path.join(folder, name), self.root) for top in TOPS
                 for folder, _, names in os.walk(self.root / top) for name in names]
        return {path.replace(os.sep, "/") for path in found}.difference(MADE)

    def read(self, path):
        return (self.root / path).read_text(errors="replace")

    def code(self, path):
        """(the code, what it includes of this repository)"""
        if path not in self.codes:
            code = without_comments(path, self.read(path))
            places = ("src", os.path.dirname(path), path.split("/")[0])
            names = [os.path.normpath(os.path.join(place, name)) for name in INCLUDE.findall(code) for place in places]
            self.codes[path] = digest(without_layout(path, code)), [name for name in names if name in self.paths]
        return self.codes[path]

    def lines(self, path):
        """Those of code, without layout, one by one."""
        return [without_layout(path, line) for line in without_comments(path, self.read(path)).splitlines() if line.strip()]

    def files_of(self, patterns):
        found, left = set(), chosen(self.paths, patterns)
        while left:
            path = left.pop()
            if path not in found:
                found.add(path)
                left += self.code(path)[1]
        return sorted(found)

    def area(self, patterns):
        key = tuple(patterns)
        if key not in self.hashes:
            self.hashes[key] = digest("".join(f"{path} {self.code(path)[0]}\n" for path in self.files_of(patterns)))[:HASH_DIGITS]
        return self.hashes[key]

    def kernels(self):
        """What cmake/kernels_hash.cmake computes."""
        lines = ""
        for path in sorted(self.paths):
            if not path.startswith("src/") or not path.endswith((".cu", ".cuh", ".wgsl", ".hpp")):
                continue
            if path.endswith(".hpp") and not path.endswith(("_tuning.hpp", "device_block.hpp")) and "HEMSTITCH_HOST_DEVICE" not in self.read(path):
                continue
            lines += f"{path} {self.code(path)[0]}\n"
        return digest(lines)


class CommitTree(Tree):
    """The sources as they were at a commit; KeyError if this clone does not have it."""

    def __init__(self, commit, root=ROOT):
        super().__init__(root)
        listed = subprocess.run(["git", "ls-tree", "-r", "-z", commit, "--", *TOPS], cwd=root, capture_output=True, check=False)
        if listed.returncode != 0:
            raise KeyError(commit)
        entries = [line.split("\t") for line in listed.stdout.decode().split("\0") if line]
        texts = recorded_run.git_blobs([entry.split()[2] for entry, _ in entries], root)
        self.texts = {path: text.decode(errors="replace") for (_, path), text in zip(entries, texts)}

    @cached_property
    def paths(self):
        return set(self.texts).difference(MADE)

    def read(self, path):
        return self.texts[path]


class Sources:
    """bench/sources.json"""

    def __init__(self, path=SOURCES):
        told = json.loads(Path(path).read_text())
        self.areas, self.rows, self.renamed = told["areas"], told["rows"], told["renamed"]
        self.by_series = {}

    def areas_of(self, series, row):
        """The areas that a row of a series measures: none for a row of others' programs; None if no entry is about it."""
        if series not in self.by_series:
            self.by_series[series] = [entry for entry in self.rows if fnmatch.fnmatchcase(series, entry["run"])]
        entries = [entry for entry in self.by_series[series] if
                   all(row.get(key) in (value if isinstance(value, list) else [value]) for key, value in entry.get("rows", {}).items())]
        return sorted({area for entry in entries for area in entry["areas"]}) if entries else None

    def areas_of_run(self, series, rows):
        return sorted({area for row in rows for area in self.areas_of(series, row) or ()})

    def hashes(self, tree, areas=None):
        return {area: tree.area(self.areas[area]) for area in (self.areas if areas is None else areas)}

    def faults(self, tree):
        """A line for each area of no file, and each that no row names or that is not there."""
        named = {area for entry in self.rows for area in entry["areas"]}
        return ([f"bench/sources.json: the area '{area}' has no file" for area, patterns in self.areas.items()
                 if not chosen(tree.paths, patterns)] +
                [f"bench/sources.json: no row measures the area '{area}'" for area in self.areas if area not in named] +
                [f"bench/sources.json: there is no area '{area}'" for area in sorted(named - set(self.areas))])
