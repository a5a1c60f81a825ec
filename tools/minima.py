"""The gate for figures: what was promised (bench/minima.json) against the newest recorded runs, and what fell.

A minimum names a run without its date ("nvidia-h200-device-parse"), the fields that choose its rows, the figure, and the
least or the most that it may be. It holds for every row that is chosen, and at least one must be. `promised` says where the
promise was made, so that one knows whom to ask before lowering it.

A figure is a field of a row ("gbps", "milliseconds", ...) or "times": how much faster than the peer of the same run.
"""

import json
import subprocess

from recorded_run import RESULTS, ROOT

MINIMA = ROOT / "bench" / "minima.json"
FALL = 0.05
# What a row was measured to be; all its other fields say what was done, and make the row's identity.
MEASURED = {"gbps", "effective_gbps", "peer_gbps", "gitems", "ratio", "peer_ratio", "compressed_bytes",
            "peer_compressed_bytes", "seconds", "milliseconds", "microseconds", "ms", "microseconds_launched_alone",
            "peer_microseconds", "write_seconds", "start_seconds", "seconds_with_transfers", "first_call_ms", "fastest_ms",
            "warm_ms", "least_factor", "of_better", "worst_file", "rounds", "verified", "cost", "c9", "peak_bytes", "clock", "peer", "lines",
            "matches", "scratch_bytes_per_byte", "share_of_match_time", "cpu_seconds_per_gb", "links_forward", "links_not_exact"}
TIMES = ("microseconds", "milliseconds", "ms", "seconds")


def series(name):
    """What a run is one of, without its date: 2026-11-21-nvidia-h200-device-parse.json -> nvidia-h200-device-parse"""
    return name[len("2026-11-21-"):-len(".json")]


def newest_of_each(runs):
    newest = {}
    for name, run in runs.items():
        key = series(name)
        if key not in newest or run["date"] > newest[key]["date"]:
            newest[key] = run
    return newest


def figure(row, name):
    if name != "times":
        return row.get(name)
    if "peer_gbps" in row:
        return row["gbps"] / row["peer_gbps"]
    return row["peer_microseconds"] / row["microseconds"] if "peer_microseconds" in row else None


def selector_text(minimum):
    return f"{minimum['run']}: " + ", ".join(f"{key} {value}" for key, value in minimum["rows"].items())


def broken_minima(minima, runs):
    """A line for each minimum that the newest runs do not meet."""
    newest, broken = newest_of_each(runs), []
    for minimum in minima:
        rows = [row for row in newest.get(minimum["run"], {"rows": []})["rows"]
                if all(row.get(key) == value for key, value in minimum["rows"].items())]
        if not rows:
            broken.append(f"{selector_text(minimum)}: no such row is recorded")
        for row in rows:
            value, name = figure(row, minimum["figure"]), minimum["figure"]
            least, most = minimum.get("at_least"), minimum.get("at_most")
            if value is None or (least is not None and value < least) or (most is not None and value > most):
                asked = f"at least {least}" if least is not None else f"at most {most}"
                seen = "missing" if value is None else f"{value:.4g}"
                broken.append(f"{selector_text(minimum)}: {name} is {seen}, promised is {asked} ({minimum['promised']})")
    return broken


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def run_before(key, date):
    """The newest run of the series that is older than `date`, from the folder or from what it held before."""
    blobs = dict.fromkeys(line.split()[3] for line in
                          git("log", "--format=", "--raw", "--no-abbrev", "-8", "--", f"{RESULTS}/*-{key}.json").splitlines())
    runs = [json.loads(text) for blob in blobs if (text := git("cat-file", "blob", blob))]
    return max((run for run in runs if run["date"] < date), key=lambda run: run["date"], default=None)


def identity(row):
    return tuple(sorted((key, json.dumps(value)) for key, value in row.items() if key not in MEASURED))


def speed(row):
    """What is more where it is better: GB/s, or one over the time."""
    if row.get("gbps"):
        return row["gbps"]
    return next((1 / row[key] for key in TIMES if row.get(key)), None)


def best_speeds(run):
    """{a row's identity: (the best that was measured, the row)}; a test's time is no figure."""
    best = {}
    for row in run["rows"]:
        if "name" not in row and (value := speed(row)) and value > best.get(identity(row), (0, None))[0]:
            best[identity(row)] = value, row
    return best


def falls(now, before):
    """A line for each row that is over 5 % slower than the row of the same identity before it."""
    old, lines = best_speeds(before), []
    for key, (value, row) in best_speeds(now).items():
        if key in old and value < (1 - FALL) * old[key][0]:
            said = ", ".join(str(row[field]) for field in ("what", "backend", "level", "finder", "parse", "file") if field in row)
            sizes = ", ".join(f"{field} {row[field]}" for field in ("block_bytes", "items", "bytes", "span") if field in row)
            lines.append(f"{said} ({sizes}): {100 * (value / old[key][0] - 1):.0f}% since {before['date'][:10]}, "
                         f"commit {before['commit']}")
    return lines


def all_falls(runs):
    lines = []
    for key, run in sorted(newest_of_each(runs).items()):
        before = run_before(key, run["date"])
        if before and before["device"] == run["device"]:
            lines += [f"{key}: {line}" for line in falls(run, before)]
    return lines


def read_minima():
    return json.loads(MINIMA.read_text())["minima"]
