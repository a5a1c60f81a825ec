"""Which rows of recorded runs are of other code than the tree's, and which of those may be used nevertheless (bench/stale.json).

A row is of this code if each of its areas (bench/sources.json) has the hash that the run keeps, or that of a commit to which the run was
carried on. bench/stale.json lists, by areas and runs, what is used although it is not: with the reason, and the date on which that was said.
"""

import difflib
import json
import re
from pathlib import Path

from records.code_hash import SOURCES, CommitTree, Sources, Tree
from records.recorded_run import ROOT
from records.row import LESS, MORE, identity, series, words_of_row

STALE = ROOT / "bench" / "stale.json"
MOST_APART = 0.03  # repeated rows, where a run is carried on over a move


def rows_repeated(run, rows):
    """Those rows that are in the run too, with each figure of time and speed within 3 %."""
    known = {identity(row): row for row in run["rows"]}
    speeds = [name for name in (*MORE, *LESS) if name not in ("ratio", "least_factor", "of_better")]
    return [row for row in rows if (old := known.get(identity(row))) is not None and
            all(abs(row[name] / old[name] - 1) <= MOST_APART for name in speeds if row.get(name) and old.get(name))]


class Code:
    """The tree's code beside that of recorded runs."""

    def __init__(self, sources=None, tree=None):
        self.sources, self.tree = sources or Sources(SOURCES), tree or Tree()
        self.here = self.sources.hashes(self.tree)

    def faults(self, runs):
        """What is wrong with the hashes themselves."""
        lines = self.sources.faults(self.tree)
        for name, run in runs.items():
            for row in run["rows"]:
                areas = self.sources.areas_of(series(name), row)
                if areas is None:
                    lines.append(f"bench/sources.json: nothing says which code {name} measures in {words_of_row(row)}")
                elif any(area not in run.get("code", {}) for area in areas):
                    lines.append(f"{name} keeps no hash of its code; run tools/code-hash --restate")
                    break
            for move in run.get("carried", []):
                if not move["proof"] or len(rows_repeated(run, move["rows"])) < min(3, len(run["rows"])):
                    lines.append(f"{name} is carried on to {move['commit']} without three repeated rows within {100 * MOST_APART:g} %")
        return lines

    def stale_areas(self, name, run, rows=None):
        """The areas of these rows (default: all) that are not as they were."""
        areas = self.sources.areas_of_run(series(name), run["rows"] if rows is None else rows)
        hashes = [run.get("code", {}), *(move["code"] for move in run.get("carried", []))]
        return [area for area in areas if all(one.get(area) != self.here.get(area) for one in hashes)]


def read_stale():
    return json.loads(STALE.read_text())["stale"]


def used_stale(uses, runs, code):
    """{(name of a run, area): who uses it} of what is of other code; `uses` is [(who, name of the run, rows or None for all)]."""
    found = {}
    for who, name, rows in uses:
        for area in code.stale_areas(name, runs[name], rows):
            found.setdefault((name, area), []).append(who)
    return found


def change(area, before, code):
    """What differs in an area between a tree and this one, in words."""
    old, new = (set(tree.files_of(code.sources.areas[area])) for tree in (before, code.tree))
    if len(new - old) > len(new) / 2:
        return f"{area}: the sources were sorted into other folders, and changed"
    changed = {path: changed_lines(before.lines(path), code.tree.lines(path)) for path in old & new if before.code(path)[0] != code.tree.code(path)[0]}
    most = sorted(changed, key=lambda path: (-changed[path], path))
    words = []
    if changed:
        more = f" and {len(most) - 2} more" if len(most) > 2 else ""
        words.append(f"{sum(changed.values())} lines of {', '.join(Path(path).name for path in most[:2])}{more}")
    words += [f"{len(files)} {what}" for files, what in ((new - old, "new files"), (old - new, "files gone")) if files]
    return f"{area}: {', '.join(words)}"


def changed_lines(old, new):
    return sum(line[:1] in "+-" and line[:3] not in ("+++", "---") for line in difflib.unified_diff(old, new, lineterm="", n=0))


def entries(uses, runs, code, listed, date):
    """Entries for bench/stale.json of what is used of other code and not in it, with what has changed; a person adds why that may be."""
    excused = {(name, area) for entry in listed for name in entry["runs"] for area in entry["areas"]}
    areas = {}
    for name, area in sorted(set(used_stale(uses, runs, code)) - excused):
        areas.setdefault(name, []).append(area)
    found = []
    for name, of_run in areas.items():
        commit = runs[name]["commit"]
        before = CommitTree(commit)
        reason = f"changed since commit {commit}: {'; '.join(change(area, before, code) for area in of_run)}"
        found.append({"runs": [name], "areas": of_run, "reason": reason, "date": date})
    return found


def stale_uses(uses, runs, code, listed):
    """A line for each used row of other code that is not listed, and for each listed one that need not be."""
    found, lines = used_stale(uses, runs, code), []
    excused = set()
    for entry in listed:
        if not entry.get("reason") or not re.fullmatch(r"\d{4}-\d\d-\d\d", entry.get("date", "")):
            lines.append(f"bench/stale.json: an entry for {', '.join(entry['areas'])} lacks its reason or date")
        for name in entry["runs"]:
            for area in entry["areas"]:
                excused.add((name, area))
                if (name, area) not in found:
                    lines.append(f"bench/stale.json: no stale row of {name} with the area '{area}' is used; drop that from the list")
    for (name, area), users in sorted(found.items()):
        if (name, area) not in excused:
            lines.append(f"{name} was measured with other code ({area}) and is used by {', '.join(sorted(set(users)))}: "
                         "measure again, or name it in bench/stale.json")
    return lines
