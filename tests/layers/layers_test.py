#!/usr/bin/env python3
"""The layers of src/ and of what stands on it, held against the includes: a file may include what stands on its own floor or below,
never above.

    layers_test.py [SOURCE]     SOURCE is the folder that holds src/; default: this checkout

Only KNOW_FORMATS include from a format's own folder (src/format/NAME/), and the sources in STILL_KNOW; all others take what formats have
in common. The folders of one layer do not include each other in a circle either; a folder and those in it may.

Prints each include that breaks this, and exits with 1 where there is one. docs/architecture.md draws the floors.
"""
import pathlib
import re
import sys
import tempfile

# From the ground up. Folders of one floor do not know each other, but where UNDER says so.
FLOORS = [
    {"core"},
    {"gpu"},
    {"compact"},
    {"match"},
    {"parse"},
    {"format"},
    {"arrays", "batch"},
    {"engine"},
    {"pipeline"},
    {"files"},
    {"search", "pages", "evaluate", "api"},
]
# Beside src/: each stands on all of it, and on itself.
ABOVE = ["cli", "nbdkit", "bindings/python/src", "bindings/web"]
KNOW_FORMATS = {"format", "arrays", "batch"}
# The browser's planners have a table of formats of their own, and plan their passes.
STILL_KNOW = [re.compile(r"bindings/web/")]
FLOOR_OF = {folder: number for number, floor in enumerate(FLOORS) for folder in floor}
# The host's side of the runtime knows devices alone; nothing of what runs there.
INCLUDE = re.compile(r'^\s*#\s*(?:include\s+"([^"]+)"|import\s+(\S+))')
SOURCES = {".hpp", ".cpp", ".cu", ".cuh", ".wgsl"}


def includes_of(path):
    """(line number, what it includes)"""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if found := INCLUDE.match(line):
            yield number, found.group(1) or found.group(2)


def sources_below(folder):
    return [path for path in sorted(folder.rglob("*")) if path.suffix in SOURCES]


def names_a_format(name, target):
    """Whether it is in a format's own folder, and the file may not know that."""
    return (target.startswith("format/") and target.count("/") > 1
            and not any(one.match(str(name)) for one in STILL_KNOW))


def wrong_includes(source):
    """(file, line number, what it includes, why that is wrong) for each include that breaks the order."""
    source = pathlib.Path(source)
    root = source / "src"
    for path in sources_below(root):
        name = path.relative_to(source)
        folder = name.parts[1]
        if folder not in FLOOR_OF:
            yield name, 0, folder, "is in no layer: add its folder to FLOORS"
            continue
        for number, target in includes_of(path):
            other = target.split("/")[0]
            if other == "hemstitch":  # the public headers are below all
                continue
            if not (root / target).exists():
                yield name, number, target, "is no file below src/"
            elif other != folder and FLOOR_OF.get(other, -1) >= FLOOR_OF[folder]:
                yield name, number, target, f"points up, from {folder} to {other}"
            elif folder not in KNOW_FORMATS and names_a_format(name, target):
                yield name, number, target, "is a format's own: src/format has what formats have in common"
    for above in ABOVE:
        for path in sources_below(source / above):
            name = path.relative_to(source)
            for number, target in includes_of(path):
                if any(target.startswith(other + "/") for other in ABOVE if other != above):
                    yield name, number, target, f"is beside {above}"
                elif names_a_format(name, target):
                    yield name, number, target, "is a format's own: src/format has what formats have in common"


def circles(source):
    """The folders that include each other, directly or by others, as one sorted list for each such circle."""
    root = pathlib.Path(source) / "src"
    included = {}
    for path in root.rglob("*"):
        if path.suffix not in SOURCES:
            continue
        folder = path.relative_to(root).parent
        for line in path.read_text(errors="replace").splitlines():
            found = INCLUDE.match(line)
            other = pathlib.PurePath(found.group(1) or found.group(2)).parent if found else folder
            if folder not in other.parents and other not in folder.parents:
                included.setdefault(folder, set()).add(other)

    def reached(folder):
        seen, left = set(), [folder]
        while left:
            new = included.get(left.pop(), set()) - seen
            seen |= new
            left += new
        return seen

    reach = {folder: reached(folder) - {folder} for folder in included}
    return sorted({tuple(sorted({str(folder), *(str(other) for other in reach[folder] if folder in reach.get(other, ()))}))
                   for folder in included if any(folder in reach.get(other, ()) for other in reach[folder])})


def planted_arrows_are_found():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {
            "src/core/a.hpp": "",
            "src/gpu/b.hpp": '#include "core/a.hpp"\n',
            "src/match/c.wgsl": "#import gpu/b.hpp\n#import parse/d.wgsl\n",
            "src/parse/d.wgsl": "",
            "src/gpu/e.cpp": '#include "format/f.hpp"\n#include "gone.hpp"\n',
            "src/format/f.hpp": "",
            "src/elsewhere/g.hpp": "",
            "src/format/lz4/h.hpp": "",
            "src/batch/i.cpp": '#include "format/lz4/h.hpp"\n',
            "src/search/j.cpp": '#include "format/f.hpp"\n#include "format/lz4/h.hpp"\n',
            "src/engine/k.cpp": '#include "format/lz4/h.hpp"\n',
            "bindings/web/l.cpp": '#include "format/lz4/h.hpp"\n',
            "cli/m.cpp": '#include "format/f.hpp"\n#include "format/lz4/h.hpp"\n#include "nbdkit/disk.hpp"\n',
            "nbdkit/n.cpp": '#include "disk.hpp"\n#include "format/lz4/h.hpp"\n',
            "bindings/python/src/o.cpp": '#include "format/lz4/h.hpp"\n',
            "src/parse/k/k.hpp": '#include "parse/l/l.hpp"\n',
            "src/parse/l/l.hpp": '#include "parse/m/m.hpp"\n#include "parse/n.hpp"\n',
            "src/parse/m/m.hpp": '#include "parse/k/k.hpp"\n',
            "src/parse/n.hpp": '#include "parse/l/l.hpp"\n',
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        found = {(str(name), number) for name, number, _, _ in wrong_includes(folder)}
        return found == {("src/match/c.wgsl", 2), ("src/gpu/e.cpp", 1), ("src/gpu/e.cpp", 2), ("src/elsewhere/g.hpp", 0),
                         ("src/search/j.cpp", 2), ("src/engine/k.cpp", 1), ("cli/m.cpp", 2), ("cli/m.cpp", 3), ("nbdkit/n.cpp", 2),
                         ("bindings/python/src/o.cpp", 1)} and circles(folder) == [("parse/k", "parse/l", "parse/m")]


def main():
    if not planted_arrows_are_found():
        print("layers: planted arrows that point up, or a planted circle, are not found")
        return 1
    source = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    wrong = list(wrong_includes(source))
    for name, number, target, why in wrong:
        print(f"{name}:{number}: {target} {why}")
    round_and_round = circles(source)
    for folders in round_and_round:
        print(f"src: these folders include each other in a circle: {', '.join(folders)}")
    return 1 if wrong or round_and_round else 0


if __name__ == "__main__":
    sys.exit(main())
