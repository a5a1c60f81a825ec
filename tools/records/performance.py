"""What docs/performance.md shows of the recorded runs: tables and plots, for tools/results."""

import math

from records.svg_chart import PANEL_WIDTH, Axis, chart, even_axis, speed_axis

SPANS = ("kernel", "pinned", "memory", "file")
LEVELS = (1, 3, 9)
WAYS = ("compress", "restore")
# The peer of what ends in a new file. Older runs have another, which was no bound, and is not shown.
FLOOR = "floor: as many threads fill a new file, the fastest way"
# Places of the same work in these records: nine or seven Silesia files as one, or the harmonic mean over them.
WHOLE = ("corpus", "mean")


def size_text(count):
    for unit, name in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if count >= unit:
            return f"{count / unit:.0f}{name}" if count % unit == 0 or count >= 10 * unit else f"{count / unit:.1f}{name}"
    return str(count)


def speed_text(gbps):
    return "" if gbps is None else f"{gbps:.{0 if gbps >= 100 else 1 if gbps >= 10 else 2}f}"


def markdown_table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def commit_text(run):
    """What was measured; that it has changed since, where bench/stale.json says so."""
    return f"commit {run['commit']}" + (", changed since" if run.get("changed_since") else "")


def source_text(names, runs):
    told = [f"`{name}` ({runs[name]['device']}, {commit_text(runs[name])})" for name in sorted(names, reverse=True)]
    return f"From {'; '.join(told)}."


def level_of(row):
    level = str(row.get("level", 1))  # what liblz4's own blocks have, which some benchmarks restore
    return int(level) if level.isdigit() else None


class Spans:
    """The newest figure of each way, span, backend, level and block size on the device that was measured last."""

    def __init__(self, runs):
        self.cells, dates = {}, {}
        on_gpu = [run for run in runs.values() if any(self.is_one(row) and row["backend"] == "cuda" for row in run["rows"])]
        device = max(on_gpu, key=lambda run: run["date"])["device"] if on_gpu else None
        for name, run in runs.items():
            for row in run["rows"] if run["device"] == device else ():
                if not self.is_one(row):
                    continue
                key = row["what"], row["backend"], row["span"], level_of(row), row["block_bytes"]
                if run["date"] > dates.get(key, "") or \
                        run["date"] == dates[key] and row["gbps"] > self.cells[key][1]["gbps"]:
                    self.cells[key], dates[key] = (name, row), run["date"]

    @staticmethod
    def is_one(row):
        return row["what"] in WAYS and row.get("span") in SPANS and row.get("file") in WHOLE and row.get("format") == "lz4" and \
            "batch_bytes" not in row and "devices" not in row

    def speed(self, *key):
        return self.cells[key][1]["gbps"] if key in self.cells else None

    def sources(self, spans):
        return {name for (_, _, span, _, _), (name, _) in self.cells.items() if span in spans}

    def blocks(self):
        return sorted({key[4] for key in self.cells})


def spans_table(runs):
    spans = Spans(runs)
    columns = [("cuda", "kernel"), ("cuda", "pinned"), ("cuda", "memory"), ("cpu", "memory")]
    rows = []
    for what in WAYS:
        for block in spans.blocks():
            for level in sorted({key[3] for key in spans.cells if key[3] is not None}):
                speeds = [spans.speed(what, backend, span, level, block) for backend, span in columns]
                if any(speed is not None for speed in speeds):
                    rows.append([what, size_text(block), str(level), *map(speed_text, speeds)])
    if not rows:
        return "No run is recorded yet."
    return (markdown_table(["GB/s", "block", "level", *(f"{backend}, {span}" for backend, span in columns)], rows) + "\n\n"
            + source_text(spans.sources(("kernel", "pinned", "memory")), runs))


def files_table(runs):
    """Of the newest run from file to file on a machine with a GPU."""
    found = [(run["date"], name) for name, run in runs.items()
             if any(row.get("span") == "file" and row.get("backend") == "cuda" and row.get("file") == "corpus" and
                    row.get("format") == "lz4" for row in run["rows"])]
    if not found:
        return "No run is recorded yet."
    name = max(found)[1]
    lines = []
    for row in runs[name]["rows"]:
        if row.get("span") != "file" or "gbps" not in row:
            continue
        floor = row.get("peer_gbps") if row.get("peer") == FLOOR else None
        share = f"{100 * row['gbps'] / floor:.0f}%" if floor else ""
        cpu = f"{row['cpu_seconds_per_gb']:.2f}" if "cpu_seconds_per_gb" in row else ""
        lines.append([row["what"], row["backend"], str(row["level"]), f"{row['ratio']:.3f}", speed_text(row["gbps"]),
                      speed_text(floor), share, cpu])
    starts = ", ".join(f"{row['backend']} {1000 * row['seconds']:.0f} ms" for row in runs[name]["rows"]
                       if row["what"] in ("start", "start-up"))
    return (markdown_table(["what", "backend", "level", "ratio", "GB/s", "floor GB/s", "of floor", "CPU s/GB"], lines) + "\n\n"
            + (f"The start: {starts}. " if starts else "") + source_text([name], runs))


def gzip_peer_table(runs):
    """DEFLATE's kernels beside another library's, of the newest run of both: all files by the sum of their seconds."""
    found = [(run["date"], name) for name, run in runs.items() if name.endswith("-deflate-peer.json")]
    if not found:
        return "No run is recorded yet."
    name = max(found)[1]
    speeds = {}  # of each way, writer and level, by what the row is about
    for row in runs[name]["rows"]:
        speeds.setdefault((row["what"], row.get("peer", "Hemstitch"), row["level"]), {})[row["file"]] = row
    lines = [[what, who, level, f"{rows['total']['ratio']:.3f}", *(speed_text(rows[file]["gbps"]) for file in ("total", "mean", "worst"))]
             for (what, who, level), rows in speeds.items() if "total" in rows]
    return (markdown_table(["what", "by", "level or setting", "ratio", "GB/s in total", "mean", "worst file"], lines) + "\n\n" +
            source_text([name], runs))


def cores_table(runs):
    """The tool on the processor beside what people with files have, of the newest run: a line for each program, level and count of threads."""
    found = [(run["date"], name) for name, run in runs.items() if name.endswith("-cores.json")]
    if not found:
        return "No run is recorded yet."
    name = max(found)[1]
    ways = {}
    for row in runs[name]["rows"]:
        ways.setdefault((row["peer"], row["level"], row["threads"]), {})[row["what"]] = row
    lines = []
    for (who, level, threads), rows in ways.items():
        written, restored = rows["compress to /dev/null"], rows["test"]
        lines.append([who, str(level), str(threads), f"{written['ratio']:.3f}", *(text for row in (written, restored) for text in
                                                                                  (speed_text(row["gbps"]), f"{row['cpu_seconds_per_gb']:.1f}"))])
    return (markdown_table(["program", "level", "threads", "ratio", "GB/s written", "CPU s/GB", "GB/s restored", "CPU s/GB"], lines) + "\n\n" +
            source_text([name], runs))


def gzip_table(runs):
    """gzip and BGZF over the tool's spans, and others' programs, of the newest run on a machine with a GPU."""
    found = [(name.endswith("-device-gzip.json"), run["date"], name) for name, run in runs.items() if name.endswith("-gzip.json")]
    if not found:
        return "No run is recorded yet."
    name = max(found)[2]
    lines = []
    for row in runs[name]["rows"]:
        has_floor = row.get("peer") == FLOOR
        who = row["backend"] or f"{row['peer']}, {row['threads']} threads"
        cpu = f"{row['cpu_seconds_per_gb']:.2f}" if "cpu_seconds_per_gb" in row else ""
        lines.append([row["what"], who, row["format"], str(row["level"]), row["span"], f"{row['ratio']:.3f}", speed_text(row["gbps"]),
                      f"{100 * row['gbps'] / row['peer_gbps']:.0f}%" if has_floor else "", cpu])
    return (markdown_table(["what", "by", "format", "level", "span", "ratio", "GB/s", "of floor", "CPU s/GB"], lines) + "\n\n" +
            source_text([name], runs))


class Sizes:
    """The newest run over sizes, of a machine with a GPU where there is one."""

    def __init__(self, runs):
        found = [(name.endswith("-device-sizes.json"), run["date"], name) for name, run in runs.items()
                 if name.endswith("-sizes.json")]
        self.name = max(found)[2] if found else None
        self.milliseconds = {}
        for row in runs[self.name]["rows"] if found else ():
            self.milliseconds[row["what"], row["level"], row["backend"], row["bytes"]] = row["milliseconds"]
            if "peer_gbps" in row:
                self.milliseconds[row["what"], row["level"], "lz4", row["bytes"]] = row["bytes"] / row["peer_gbps"] / 1e6

    def backends(self):
        return [one for one in ("cpu", "cuda", "auto", "lz4") if any(key[2] == one for key in self.milliseconds)]

    def sizes(self):
        return sorted({key[3] for key in self.milliseconds})

    def points(self, what, level, backend):
        """[(bytes, GB/s)]"""
        return [(size, size / self.milliseconds[what, level, backend, size] / 1e6) for size in self.sizes()
                if (what, level, backend, size) in self.milliseconds]

    def crossings(self, what, level, ones="cpu", others="cuda"):
        """[(bytes, GB/s, name of who is faster above)], between sizes by their logarithms."""
        first, second = dict(self.points(what, level, ones)), dict(self.points(what, level, others))
        both = [size for size in self.sizes() if size in first and size in second]
        found = []
        for below, above in zip(both, both[1:]):
            before, after = (math.log(second[size] / first[size]) for size in (below, above))
            if before * after < 0:
                part = before / (before - after)
                found.append((below * (above / below) ** part, first[below] * (first[above] / first[below]) ** part,
                              others if after > 0 else ones))
        return found


def choices_table(runs):
    sizes = Sizes(runs)
    if sizes.name is None:
        return "No run is recorded yet."
    lines = []
    for what in WAYS:
        for level in LEVELS:
            behind = [(sizes.milliseconds[what, level, "auto", size] /
                       min(sizes.milliseconds[what, level, one, size] for one in ("cpu", "cuda")
                           if (what, level, one, size) in sizes.milliseconds), size)
                      for size in sizes.sizes() if (what, level, "auto", size) in sizes.milliseconds]
            if not behind:
                continue
            faster = "; ".join(f"{winner} from {size_text(round(size))}" for size, _, winner in sizes.crossings(what, level))
            cells = [faster or "none"] if "cuda" in sizes.backends() else []
            lines.append([what, str(level), *cells, f"{max(behind)[0]:.2f} times, at {size_text(max(behind)[1])}"])
    head = ["what", "level", *(["the faster of cpu and cuda changes"] if "cuda" in sizes.backends() else []),
            "auto's time over the better, at worst"]
    return markdown_table(head, lines) + "\n\n" + source_text([sizes.name], runs)


def sizes_plots(runs):
    sizes = Sizes(runs)
    plots = {}
    ticks = sizes.sizes()
    for level in LEVELS:
        panels = [(what, {one: sizes.points(what, level, one) for one in sizes.backends()},
                   [(size, gbps, size_text(round(size))) for size, gbps, _ in sizes.crossings(what, level)]) for what in WAYS]
        values = [gbps for _, series, _ in panels for points in series.values() for _, gbps in points]
        if values:
            labels = [size_text(size) if index % 2 == 0 else "" for index, size in enumerate(ticks)]
            plots[f"sizes-level-{level}.svg"] = chart(
                f"Whole processes, level {level}: speed over the size of the file", sizes.name,
                "bytes of content", "GB/s", Axis(ticks, labels, PANEL_WIDTH), speed_axis(values), sizes.backends(), panels)
    return plots


def spans_plots(runs):
    spans = Spans(runs)
    lines = [(backend, span) for backend in ("cuda", "cpu") for span in SPANS[:3]]
    plots = {}
    for what in WAYS:
        panels, used = [], set()
        for level in LEVELS:
            series = {}
            for backend, span in lines:
                points = [(block, spans.speed(what, backend, span, level, block)) for block in spans.blocks()
                          if spans.speed(what, backend, span, level, block) is not None]
                if points:
                    series[f"{backend}, {span}"] = points
            used |= set(series)
            if series:
                panels.append((f"level {level}", series, []))
        values = [gbps for _, series, _ in panels for points in series.values() for _, gbps in points]
        if values:
            names = [f"{backend}, {span}" for backend, span in lines if f"{backend}, {span}" in used]
            blocks = spans.blocks()
            plots[f"spans-{what}.svg"] = chart(
                f"{what}: speed by span, block size and level", "the newest figures of one device; docs/performance.md names their runs",
                "block size", "GB/s", Axis(blocks, [size_text(block) for block in blocks], PANEL_WIDTH), speed_axis(values), names,
                panels)
    return plots


def devices_plot(runs):
    """Speed over that of one GPU, of the newest run whose rows say how many they used."""
    found = [(run["date"], name) for name, run in runs.items() if any("devices" in row for row in run["rows"])]
    if not found:
        return {}
    name = max(found)[1]
    speeds = {}
    for row in runs[name]["rows"]:
        if "devices" in row and level_of(row) == LEVELS[0]:
            speeds.setdefault((row["what"], row["span"]), {})[row["devices"]] = row["gbps"]
    panels = [(what, {span: [(count, gbps / of[1]) for count, gbps in of.items()] for (one, span), of in speeds.items()
                      if one == what and 1 in of}, []) for what in WAYS]
    names = list(dict.fromkeys(span for _, series, _ in panels for span in series))
    counts = [count for of in speeds.values() for count in of]
    axis = even_axis(counts, PANEL_WIDTH)
    return {"gpus.svg": chart("Speed over that of one GPU", name, "GPUs", "times one", axis,
                              even_axis(counts, 260), names, panels)}


def plots(runs):
    """{name of a file: SVG}"""
    return {**sizes_plots(runs), **spans_plots(runs), **devices_plot(runs)}


def sections(runs):
    """{name of a place in docs/performance.md: what stands there}"""
    def pictures(names):
        return "\n\n".join(f"![{name}](plots/{name})" for name in names)
    drawn = {"spans": spans_plots(runs), "sizes": sizes_plots(runs), "gpus": devices_plot(runs)}
    return {"spans": "\n\n".join(filter(None, [spans_table(runs), pictures(drawn["spans"])])),
            "files": files_table(runs),
            "gzip": gzip_table(runs),
            "gzip-peers": gzip_peer_table(runs),
            "cores": cores_table(runs),
            "sizes": "\n\n".join(filter(None, [choices_table(runs), pictures(drawn["sizes"])])),
            "gpus": pictures(drawn["gpus"]) or "No run is recorded yet."}
