"""The gate for figures: what was promised (bench/minima.json) against the newest recorded runs.

A promise names a run without its date ("nvidia-h200-device-parse"), the fields that choose its rows, the figure, and the least or the most that
it may be. It holds for every row that is chosen, and at least one must be. `promised` says it in words, in which the bound stands, so that
nobody lowers one without the other. With `over`, {"run": another or none, "rows": fields}, the figure is divided by that of the other rows, each
by the one of the same file.

A promise that is not kept stays, with `missed`: {"reached": the figure, as text, "explained": where}. One of which nothing is recorded stays too, with
`unrecorded`: what is known instead. Both are told in docs/performance.md. Once one is kept, or recorded, the word must go.
"""

import json
import re

from records.recorded_run import ROOT
from records.row import figure, is_about, newest_of_each, words_of

MINIMA = ROOT / "bench" / "minima.json"
STATED = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*(%|ms\b|microseconds|MB\b|times the time)?")
UNITS = {"%": 0.01, "ms": 1e-3, "MB": 1e6}


def selector_text(minimum):
    over = minimum.get("over")
    against = f" over {over.get('run', 'the run')}: {words_of(over['rows'])}" if over else ""
    return f"{minimum['run']}: {words_of(minimum['rows'])}{against}"


def rows_of(minimum, newest):
    """The promised rows, and those that they are divided by."""
    def chosen(run, about):
        return [row for row in newest[run][1]["rows"] if is_about(row, about)] if run in newest else []
    over = minimum.get("over")
    return chosen(minimum["run"], minimum["rows"]), chosen(over.get("run", minimum["run"]), over["rows"]) if over else []


def values(minimum, newest):
    """The figure of each row that is promised."""
    rows, others = rows_of(minimum, newest)
    found = []
    for row in rows:
        value = figure(row, minimum["figure"])
        if "over" in minimum:
            by = [figure(one, minimum["figure"]) for one in others if one.get("file") == row.get("file")]
            value = value / max(by) if value is not None and by and max(by) else None
        found.append(value)
    return found


def keeps(minimum, value):
    return value is not None and value >= minimum.get("at_least", value) and value <= minimum.get("at_most", value)


def worst(minimum, found):
    """The figure that is furthest from its bound."""
    return min(found) if "at_least" in minimum else max(found)


def stated_bounds(words):
    """What a bound may be by its words: "450 GB/s", "20 ms" of seconds, "85 % of", "100 MB", "1.3 times the time of"."""
    found = []
    for number, unit in STATED.findall(words):
        value = float(number.replace(",", ""))
        found += [value, value * UNITS.get(unit, 1)]
        if unit == "times the time" and value:
            found.append(1 / value)
    return found


def promise_faults(minimum, found):
    """What is wrong with one promise; `found` are its figures."""
    where, name = selector_text(minimum), minimum["figure"]
    bound = minimum.get("at_least", minimum.get("at_most"))
    if not any(abs(one - bound) <= 1e-3 * bound for one in stated_bounds(minimum["promised"])):
        return [f"{where}: the bound {bound:g} is not what was promised: {minimum['promised']}"]
    if "unrecorded" in minimum:
        return [f"{where}: {name} is recorded now; drop 'unrecorded'"] if found else []
    if not found:
        return [f"{where}: no such row is recorded"]
    asked = f"at {'least' if 'at_least' in minimum else 'most'} {bound:g}"
    if any(value is None for value in found):
        return [f"{where}: {name} is missing, promised is {asked} ({minimum['promised']})"]
    value = worst(minimum, found)
    missed = minimum.get("missed")
    if missed is None:
        return [] if keeps(minimum, value) else [f"{where}: {name} is {value:.4g}, promised is {asked} ({minimum['promised']})"]
    if keeps(minimum, value):
        return [f"{where}: {name} is {value:.4g}, as promised; drop 'missed'"]
    lines = []
    if not is_shown(missed["reached"], value):
        lines.append(f"{where}: {name} is {value:.4g}, not {missed['reached']} as 'missed' says")
    if not (ROOT / missed["explained"].split("#")[0]).is_file():
        lines.append(f"{where}: there is no {missed['explained']} to explain what was missed")
    return lines


def is_shown(text, value):
    """Whether a text is the value, rounded to its digits."""
    text = text.replace(",", "")
    digits = len(text.split(".")[1]) if "." in text else 0
    return abs(float(text) - value) <= 0.5000001 * 10 ** -digits


def broken_minima(minima, runs, renamed=None):
    """A line for each promise that the newest runs do not keep, and does not say so, or that says so and is kept."""
    newest = newest_of_each(runs, renamed)
    lines = []
    for minimum in minima:
        old = [name for name in (minimum["run"], minimum.get("over", {}).get("run")) if name in (renamed or {})]
        lines += [f"{selector_text(minimum)}: the series {name} is {renamed[name]} now" for name in old]
        if not old:
            lines += promise_faults(minimum, values(minimum, newest))
    return lines


def uses(minima, runs, renamed):
    """[(who, name of the run, its rows)] of all promises"""
    newest, found = newest_of_each(runs, renamed), []
    for minimum in minima:
        rows, others = rows_of(minimum, newest)
        for run, of in ((minimum["run"], rows), (minimum.get("over", {}).get("run", minimum["run"]), others)):
            if of:
                found.append(("bench/minima.json", newest[run][0], of))
    return found


def read_minima():
    return json.loads(MINIMA.read_text())["minima"]
