"""What the rows of recorded runs say: their figures, and what they are of.

A run belongs to a series, its name without the date. A row's identity is all that says what was done; what was measured is not part of it.
"""

import json

# What is more where it is better, and what is less.
MORE = ("gbps", "effective_gbps", "gitems", "ratio", "least_factor", "of_better", "share_of_peer", "times_as_fast")
LESS = ("seconds", "milliseconds", "microseconds", "ms", "microseconds_launched_alone", "write_seconds", "start_seconds", "seconds_with_transfers",
        "first_call_ms", "fastest_ms", "warm_ms", "upload_ms", "kernel_ms", "download_ms", "cpu_ms", "p50_microseconds", "p99_microseconds",
        "compressed_bytes", "peak_bytes", "memory_bytes", "scratch_bytes_per_byte", "moved_bytes_per_byte", "instructions_per_byte", "cost", "cost_all_lengths", "c9", "cpu_seconds_per_gb",
        "share_of_match_time")
# What is told beside them: of others' programs, of the data, and of how it was measured.
BESIDE = ("peer", "peer_gbps", "peer_ratio", "peer_compressed_bytes", "peer_microseconds", "worst_file", "rounds", "verified", "clock", "lines",
          "matches", "matched_bytes", "literals", "links_forward", "links_not_exact", "same_filled_share", "fallback_pages", "times_taken",
          "optimum_4k", "optimum_64k", "without_stitch", "a_byte", "moved_gbps", "latency_bytes", "by_distance", "by_length", "spread")
MEASURED = {*MORE, *LESS, *BESIDE}


def series(name):
    """What a run is one of, without its date: 2026-11-21-nvidia-h200-device-parse.json -> nvidia-h200-device-parse"""
    return name[len("2026-11-21-"):-len(".json")]


def identity(row):
    return tuple(sorted((key, json.dumps(value)) for key, value in row.items() if key not in MEASURED))


def is_about(row, about):
    return all(row.get(key) == value for key, value in about.items())


def figure(row, name):
    """A field of a row, or "times": how much faster it is than the peer of the same run."""
    if name != "times":
        return row.get(name)
    if "peer_gbps" in row:
        return row["gbps"] / row["peer_gbps"]
    return row["peer_microseconds"] / row["microseconds"] if "peer_microseconds" in row else None


def words_of(about):
    return ", ".join(f"{key} {value}" for key, value in about.items())


def words_of_row(row):
    said = ", ".join(str(row[field]) for field in ("what", "backend", "level", "finder", "parse", "file") if field in row)
    sizes = ", ".join(f"{field} {row[field]}" for field in ("block_bytes", "items", "bytes", "span") if field in row)
    return f"{said} ({sizes})"


def newest_of_each(runs, renamed=None):
    """The newest run of each series, under its name of today and under its old ones."""
    newest = {}
    for name, run in runs.items():
        key = (renamed or {}).get(series(name), series(name))
        if key not in newest or run["date"] > newest[key][1]["date"]:
            newest[key] = name, run
    return newest
