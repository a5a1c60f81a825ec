"""What fell: the figures of the newest run of each series against the run before, on the same machine and cards.

A figure falls if it is worse than before by more than 5 % and by more than its row's own spread: how far its last three measurements of the same
code lie apart. A run says under "slower" why rows of it fell: [{"rows": what they have in common, "why": words}].
"""

import json
import subprocess
from functools import lru_cache

from records.recorded_run import RESULTS, ROOT, git_blobs
from records.row import LESS, MORE, identity, is_about, newest_of_each, series, words_of, words_of_row

FALL = 0.05
RUNS_BEFORE = 8  # of a series, in what the folder held before
SPREAD_RUNS = 3


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def has_history():
    """Whether all that the folder held before can be seen: not without a clone, or in a shallow one."""
    return git("rev-parse", "--is-shallow-repository").strip() == "false"


@lru_cache(maxsize=None)
def history():
    """{a series: its runs in what the folder held before}"""
    wanted = {}
    for line in git("log", "--format=", "--raw", "--no-abbrev", "--", str(RESULTS)).splitlines():
        what, _, path = line.partition("\t")
        name, blob = path.rsplit("/", 1)[-1], what.split()[3]
        if name.endswith(".json") and blob.strip("0"):
            of_series = wanted.setdefault(series(name), {})
            if len(of_series) < RUNS_BEFORE:
                of_series[blob] = None
    names = [blob for of_series in wanted.values() for blob in of_series]
    blobs = dict(zip(names, git_blobs(names))) if names else {}
    return {key: [json.loads(blobs[blob]) for blob in of_series] for key, of_series in wanted.items()}


def runs_before(key, date, renamed, runs):
    """The runs of the series, of its old names too, that are older than `date`: from the folder, and from what it held before. Newest first."""
    names = [key, *(old for old, new in renamed.items() if new == key)]
    found = {run["date"]: run for name, run in runs.items() if series(name) in names}
    for run in (run for name in names for run in history().get(name, [])):
        found.setdefault(run["date"], run)
    return [run for when, run in sorted(found.items(), reverse=True) if when < date]


def best(one, other, name):
    return max(one, other) if name in MORE else min(one, other)


def figures_by_row(run):
    """{a row's identity: (its figures, of several measurements the best; the row)}; a test's time is no figure."""
    found = {}
    for row in run["rows"]:
        if "name" in row:
            continue
        figures, first = found.setdefault(identity(row), ({}, row))
        for name in (*MORE, *LESS):
            if isinstance(row.get(name), (int, float)) and row[name] > 0:
                figures[name] = best(figures.get(name, row[name]), row[name], name)
    return found


def same_code(one, other):
    return one["code"] == other["code"] if "code" in one and "code" in other else one.get("kernels") == other.get("kernels")


def spread(values):
    return (max(values) - min(values)) / max(values)


def worse_by(name, now, before):
    """The part by which a figure is worse."""
    return 1 - now / before if name in MORE else 1 - before / now


def falls(now, before, is_ours=lambda row: True):
    """[(row, name of the figure, the part it fell by, the run it fell from)]: for each of our rows what fell most. `before` is newest first."""
    earlier = [(run, figures_by_row(run)) for run in before if run["device"] == now["device"]]
    found = []
    for key, (figures, row) in figures_by_row(now).items():
        with_row = [(run, table[key][0]) for run, table in earlier if key in table]
        if not with_row or not is_ours(row):
            continue
        last, old = with_row[0]
        fallen = []
        for name, value in figures.items():
            if name not in old:
                continue
            part = worse_by(name, value, old[name])
            if part <= FALL:
                continue
            alike = [of[name] for run, of in with_row if name in of and same_code(run, last)][:SPREAD_RUNS]
            if part > max(FALL, spread(alike), row.get("spread", 0)):
                fallen.append((part, name))
        if fallen:
            part, name = max(fallen)
            found.append((row, name, part, last))
    return found


def all_falls(runs, sources):
    """(lines for falls that the newer run does not explain, lines for those that it does, lines for explanations of nothing)"""
    open_lines, told_lines, idle_lines, judge_idle = [], [], [], has_history()
    for key, (name, run) in sorted(newest_of_each(runs, sources.renamed).items()):
        earlier, told = runs_before(key, run["date"], sources.renamed, runs), run.get("slower", [])
        fallen = falls(run, earlier, lambda row: sources.areas_of(key, row))
        for row, what, part, before in fallen:
            line = (f"{name}: {words_of_row(row)}: {what} is {100 * part:.0f} % worse than on {before['date'][:10]}, "
                    f"commit {before['commit']}")
            why = next((entry["why"] for entry in told if entry["why"] and is_about(row, entry["rows"])), None)
            if why:
                told_lines.append(f"{line}: {why}")
            else:
                open_lines.append(line)
        since_any = [row for one in (earlier if told and judge_idle else ()) for row, *_ in falls(run, [one])]
        idle_lines += [f"{name} explains why rows with {words_of(entry['rows'])} are slower, but none is" for entry in told
                       if judge_idle and not any(is_about(row, entry["rows"]) for row in since_any)]
    return open_lines, told_lines, idle_lines
