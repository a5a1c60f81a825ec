"""The figures by which `auto` chooses, from the recorded runs: tools/results writes them into src/format/choice_recorded.hpp.

Each comes from rows of the newest run of a series, which stand beside it in the header. Where no row has a figure alone, it is what is left of a
recorded time without the other terms of the model (hemstitch/choice.hpp). tests/unit/choice_test.cpp holds the model to whole recorded runs.
"""

import math

from records.row import is_about, newest_of_each, words_of

SIZES, SPANS, GZIP = "nvidia-h200-device-sizes", "nvidia-h200-device-spans", "nvidia-h200-device-gzip"
FILES, LEVELS_64K, DEFLATE = "nvidia-h200-device-files", "nvidia-h200-lz4-compress-levels", "nvidia-h200-device-deflate-compress"
PAGES, STREAM, FRAMES = "nvidia-h200-device-pages", "nvidia-h200-device-stream", "nvidia-h200-device-frame-files"
LZ4_CPU, LZ4_TWINS, DEFLATE_TWINS = "amd-epyc-2-cores-lz4-cpu", "amd-epyc-2-cores-lz4-twins", "amd-epyc-2-cores-deflate-twins"
CPU_LEVELS = "intel-r-xeon-r-processor-2-cores-cpu-levels"
LARGE, MIDDLE, SMALL, LEAST = 4 << 30, 1 << 30, 256 << 20, 4096  # sizes of "device-sizes"
# The part of the shorter stages that overlaps with the longest one, on a device. No row has it alone; the test holds what it gives.
OVERLAP = 0.6
ASSUMED_RATIO = 2.5  # of the model, where a row does not say it
DIGITS = 4
PATH = ("src", "format", "choice_recorded.hpp")
HEAD = """// Written by tools/results from bench/results (tools/records/choice_figures.py). Rates are GB/s of content, times are seconds.
#pragma once

#include <array>

namespace hemstitch::choice_recorded {

using Levels = std::array<double, 5>;  // kFigureLevels
"""


class MissingRow(Exception):
    """A figure's row that no recorded run has."""


class Rows:
    """The newest rows, and which of them were asked for since told() was called last."""

    def __init__(self, runs, renamed):
        self.newest, self.asked, self.used = newest_of_each(runs, renamed), {}, []

    def all(self, series, **about):
        if series not in self.newest:
            raise MissingRow(f"a figure of `auto` is of {series}, of which no run is recorded")
        name, run = self.newest[series]
        rows = [row for row in run["rows"] if is_about(row, about)]
        if not rows:
            raise MissingRow(f"a figure of `auto` needs a row of {name} with {words_of(about)}")
        self.asked.setdefault(name, []).append(words_of(about))
        self.used.append(("src/engine/choice", name, rows))
        return rows

    def one(self, series, figure, **about):
        """Of several measurements the best."""
        values = [row[figure] for row in self.all(series, **about)]
        return max(values) if figure == "gbps" else min(values)

    def told(self):
        asked, self.asked = self.asked, {}
        return [f"{name}: {'; '.join(dict.fromkeys(rows))}" for name, rows in asked.items()]


def line_through(points):
    """(call, rate): the times seconds = call + bytes / rate that are nearest to the points, by their relative errors."""
    weights = [1 / seconds ** 2 for _, seconds in points]
    ones, sizes, squares, times, products = (
        sum(weight * what(size, seconds) for weight, (size, seconds) in zip(weights, points))
        for what in (lambda size, _: 1, lambda size, _: size, lambda size, _: size ** 2, lambda _, seconds: seconds,
                     lambda size, seconds: size * seconds))
    determinant = ones * squares - sizes ** 2
    return (times * squares - sizes * products) / determinant, determinant / (ones * products - sizes * times)


def figures(rows):
    """[(name, value or values, what it is, the rows)]"""
    found = {}
    lines = [("kOverlap", OVERLAP, "of a device's stages: no row has it alone", []),
             ("kAssumedRatio", ASSUMED_RATIO, "if only one of the two sizes is known; level 1 to 12 give 2.3 to 3.0", [])]

    def add(name, value, words):
        found[name] = value
        lines.append((name, value, words, rows.told()))

    def process(what, backend, level, size):
        """(seconds, GB of content, GB compressed) of a recorded process"""
        row = rows.all(SIZES, what=what, backend=backend, level=level, bytes=size)[0]
        return row["milliseconds"] / 1000, size / 1e9, size / 1e9 / row["ratio"]

    add("kCpuStart", process("compress", "cpu", 1, LEAST)[0], "a process that compresses 4 KB")
    add("kCudaStart", process("compress", "cuda", 1, LEAST)[0], "the same on a device: until it has started")
    pairs = [(process(what, "cuda", level, SMALL)[0] - process(what, "cuda", level, LEAST)[0])
             for what in ("compress", "restore") for level in (1, 3, 9)]
    add("kPinned256M", sum(pairs) / len(pairs), "what 256 MB take longer there than 4 KB: memory is pinned, nearly all of it")
    large, middle = ([process("restore", "cuda", level, size) for level in (1, 3, 9)] for size in (LARGE, MIDDLE))
    add("kWriteGbps", (sum(one[1] for one in large) - sum(one[1] for one in middle)) / (sum(one[0] for one in large) - sum(one[0] for one in middle)),
        "a new file in memory: the time of what 4 GiB restored by a device have more than 1 GiB")
    add("kReadGbps", rows.all(FRAMES, what="load", level=1)[0]["peer_gbps"], "a file that is read and uploaded; reading bounds it")
    add("kBusGbps", rows.one(SPANS, "gbps", what="restore", backend="cuda", span="pinned", block_bytes=262144, level=3),
        "one way: restored content comes down at the bus's speed")

    add("kUnpinnedGbps", max(row["gbps"] for row in rows.all(FILES, what="load, again", backend="cpu")),
        "between a device and memory that is not pinned: files that the cores read and upload")

    def of_processor(times):
        """The rate of the cores: what is left of the processes without their starts, reading and writing, which do not overlap."""
        left = sum(seconds - found["kCpuStart"] - read / found["kReadGbps"] - written / found["kWriteGbps"] for seconds, _, read, written in times)
        return sum(content for _, content, _, _ in times) / left

    def compressing(level):
        seconds, content, compressed = process("compress", "cpu", level, LARGE)
        return of_processor([(seconds, content, content, compressed)])

    def share(form, level, other):
        """A level's speed on the cores as a part of another's, by the cores' time."""
        def cost(one):
            return rows.one(CPU_LEVELS, "cpu_seconds_per_gb", what="compress", backend="cpu", format=form, level=one)
        return cost(other) / cost(level)

    one, three, nine = (compressing(level) for level in (1, 3, 9))
    add("kLz4CpuCompress", [one, three, three * share("lz4", 6, 3), nine, nine * share("lz4", 12, 9)],
        "16 cores: 4 GiB without the time for the files; levels 6 and 12 by their cost beside 3 and 9")
    add("kLz4CpuRestore", of_processor([(seconds, content, compressed, content) for seconds, content, compressed in
                                        (process("restore", "cpu", level, LARGE) for level in (1, 3, 9))]), "the same, of three levels")
    add("kCoresExponent", math.log(one / rows.one(LZ4_CPU, "gbps", what="compress", block_bytes=262144, level=1, threads=2)) / math.log(8),
        "16 cores against 2, whose speed to the power of this is that of one")

    def kernel(what, level):
        return rows.one(SPANS, "gbps", what=what, backend="cuda", span="kernel", block_bytes=262144, level=level)

    def at_64k(level):
        return rows.one(LEVELS_64K, "gbps", level=str(level), file="mean")

    three, nine = kernel("compress", 3), kernel("compress", 9)
    add("kLz4CudaCompress", [kernel("compress", 1), three, three * at_64k(6) / at_64k(3), nine, nine * at_64k(12) / at_64k(9)],
        "an H200's kernels; levels 6 and 12 as in blocks of 64K beside 3 and 9")
    add("kLz4CudaRestore", kernel("restore", 3), "")
    # From memory to memory, copying restored content is the longest stage, and copying compressed data overlaps as the rest does.
    copied = rows.all(SPANS, what="restore", backend="cuda", span="memory", block_bytes=262144, level=3)[0]
    rest = (1 - OVERLAP) * (1 / found["kLz4CudaRestore"] + (1 + 1 / copied["ratio"]) / found["kBusGbps"])
    add("kCopyGbps", (1 + (1 - OVERLAP) / copied["ratio"]) / (1 / copied["gbps"] - rest), "memory to memory: what is left of restoring there")

    add("kLz4ReferenceCompress", [rows.one(LZ4_TWINS, "gbps", file="corpus", block_bytes=65536, level=level) for level in (1, 3, 6, 9, 12)],
        "the twins on one core")
    add("kLz4ReferenceRestore", 1 / rows.one(CPU_LEVELS, "cpu_seconds_per_gb", what="restore", backend="reference", format="lz4"), "")

    def gzip(what, backend, span, level):
        return rows.one(GZIP, "gbps", what=what, backend=backend, span=span, format="bgzf", level=level)

    six = gzip("compress", "cpu", "memory", 6)
    add("kDeflateCpuCompress", [gzip("compress", "cpu", "memory", 1), *(six * share("bgzf", level, 6) if level != 6 else six for level in (3, 6, 9, 12))],
        "16 cores, BGZF; levels 3, 9 and 12 by their cost beside 6")
    add("kDeflateCpuRestore", gzip("restore", "cpu", "memory", 6), "")
    add("kDeflateReferenceCompress", [rows.one(DEFLATE_TWINS, "gbps", file="total", block_bytes=1048576, level=level) for level in (1, 3, 6, 9, 12)], "")
    add("kDeflateReferenceRestore", 1 / rows.one(CPU_LEVELS, "cpu_seconds_per_gb", what="restore", backend="reference", format="bgzf"), "")
    one, six, nine = (gzip("compress", "cuda", "kernel", level) for level in (1, 6, 9))
    twelve, beside = (rows.one(DEFLATE, "gbps", what="compress", file="nine files", block_bytes=1048576, level=level) for level in ("12", "9"))
    add("kDeflateCudaCompress", [one, one * (six / one) ** 0.4, six, nine, nine * twelve / beside],
        "an H200's kernels, BGZF; level 3 lies between 1 and 6, level 12 is as in blocks of 1M beside 9")
    add("kDeflateCudaRestore", gzip("restore", "cuda", "kernel", 6), "")
    stream = rows.all(STREAM, file="mixed, pigz -6", span="file")[0]
    add("kStreamCpuRestore", stream["peer_gbps"], "one stream of gzip, 16 cores")
    add("kStreamCudaRestore", rows.one(STREAM, "gbps", file="mixed, pigz -6, 20 GB", span="file"), "in pieces, from a file in memory")

    def batch(what, backend):
        return line_through([(row["items"] * 4096, row["microseconds"] / 1e6)
                             for row in rows.all(PAGES, what=f"page batch: {what}", backend=backend)])

    for what in ("compress", "restore"):
        name = what.capitalize()
        call, rate = batch(what, "cpu")
        add(f"kCpuPages{name}Call", call, "a call of PageBatch takes this and its bytes over the rate: through 100 to 100,000 pages of 4 KB")
        add(f"kCpuPages{name}", rate / 1e9, "")
        call, rate = batch(what, "cuda")
        add(f"kCudaPages{name}Call", call, "")
        # The transfers are terms of their own, and overlap in part with the rest.
        add(f"kCudaPages{name}", 1 / (1e9 / rate - (1 - OVERLAP) * (1 + 1 / ASSUMED_RATIO) / found["kBusGbps"]), "without the transfers")
    return lines


def number(value):
    return f"{value:.{DIGITS}g}"


def wrapped(words):
    """As comments of at most 110 characters."""
    lines, line = [], "//"
    for word in words.split():
        if len(line) + 1 + len(word) > 110:
            lines.append(line)
            line = "//  "
        line += f" {word}"
    return [*lines, line]


def header(runs, renamed):
    """(the header's text, [(who, name of a run, rows)] of what it uses)"""
    rows = Rows(runs, renamed)
    parts = []
    for name, value, words, told in figures(rows):
        comment = [line for text in ([words[0].upper() + words[1:] + "."] if words else []) + told for line in wrapped(text)]
        kind, text = ("Levels", "{" + ", ".join(map(number, value)) + "}") if isinstance(value, list) else ("double", number(value))
        parts.append("\n".join([*comment, f"inline constexpr {kind} {name} = {text};"]))
    return HEAD + "\n" + "\n\n".join(parts) + "\n\n}  // namespace hemstitch::choice_recorded\n", rows.used
