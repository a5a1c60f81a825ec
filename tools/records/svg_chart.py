"""Line charts as SVG: panels side by side over the same axes, readable on light and on dark pages, the same bytes for the same data.

A series is told by its colour, its dashes and its marker, so that no reader depends on colours.
"""

import math
from html import escape

PANEL_WIDTH, PANEL_HEIGHT = 300, 260
LEFT, TOP, GAP, BOTTOM, RIGHT = 64, 84, 28, 56, 20
LEGEND_WIDTH, CHARACTER_WIDTH = 34, 6.6
STROKES = (("#0550ae", "#6cb6ff"), ("#bc4c00", "#f69d50"), ("#1a7f37", "#6bc46d"), ("#8250df", "#dcbdfb"),
           ("#57606a", "#adbac7"), ("#bf3989", "#fc8dc7"))
DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4", "10 4")


def style():
    def rules(ink, faint, paper, which):
        return (f"text{{fill:{ink};font:12px sans-serif}}.title{{font-size:15px}}.paper{{fill:{paper}}}"
                f".frame{{fill:none;stroke:{ink}}}.grid{{stroke:{faint}}}.mark{{fill:none;stroke:{ink};stroke-width:1.5}}"
                + "".join(f".s{number}{{stroke:{pair[which]};fill:none;stroke-width:2}}.m{number}{{fill:{pair[which]}}}"
                          for number, pair in enumerate(STROKES)))
    return (f"<style>{rules('#1f2328', '#d8dee4', '#ffffff', 0)}"
            f"@media(prefers-color-scheme:dark){{{rules('#e6edf3', '#373e47', '#0d1117', 1)}}}</style>")


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def marker(number, x, y):
    shape = number % 3
    if shape == 0:
        return f'<circle class="m{number}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    if shape == 1:
        return f'<rect class="m{number}" x="{x - 3.2:.1f}" y="{y - 3.2:.1f}" width="6.4" height="6.4"/>'
    return f'<path class="m{number}" d="M{x:.1f} {y - 4.5:.1f}l4.5 8h-9z"/>'


def line(number, points):
    dashes = f' stroke-dasharray="{DASHES[number]}"' if DASHES[number] else ""
    return f'<polyline class="s{number}"{dashes} points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


class Axis:
    """Values, all above 0, to places by their logarithms, or evenly."""

    def __init__(self, ticks, labels, length, even=False):
        self.ticks, self.labels, self.length, self.even = ticks, labels, length, even
        self.low, self.high = self.scaled(min(ticks)), self.scaled(max(ticks))

    def scaled(self, value):
        return value if self.even else math.log(value)

    def place(self, value):
        return self.length * (self.scaled(value) - self.low) / ((self.high - self.low) or 1)


def speed_axis(values):
    """1, 2, 5, 10, ... around the values."""
    steps = [digit * 10.0 ** power for power in range(-7, 6) for digit in (1, 2, 5)]
    low = max(step for step in steps if step <= min(values))
    high = min(step for step in steps if step >= max(values))
    ticks = [step for step in steps if low <= step <= high]
    if len(ticks) > 9:
        ticks = [step for step in ticks if f"{step:e}"[0] == "1" or step in (low, high)]
    return Axis(ticks, [f"{step:g}" for step in ticks], PANEL_HEIGHT)


def even_axis(values, length):
    ticks = list(range(1, math.ceil(max(values)) + 1))
    return Axis(ticks, [str(tick) for tick in ticks], length, even=True)


def chart(title, subtitle, x_name, y_name, x_axis, y_axis, names, panels):
    """`panels`: [(name, {name of a series: [(x, y), ...]}, [(x, y, words) of points to be marked])]. `names`: the series, in order."""
    width = LEFT + len(panels) * (PANEL_WIDTH + GAP) - GAP + RIGHT
    height = TOP + PANEL_HEIGHT + BOTTOM
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
             f"<title>{escape(title)}</title>", style(), f'<rect class="paper" width="{width}" height="{height}"/>',
             text(12, 22, title, more=' class="title"'), text(12, 40, subtitle)]
    at = LEFT
    for number, name in enumerate(names):
        parts += [line(number, [(at, 56), (at + 24, 56)]), marker(number, at + 12, 56), text(at + 30, 60, name)]
        at += LEGEND_WIDTH + 16 + CHARACTER_WIDTH * len(name)
    for index, (name, series, marks) in enumerate(panels):
        left, bottom = LEFT + index * (PANEL_WIDTH + GAP), TOP + PANEL_HEIGHT
        parts.append(text(left + PANEL_WIDTH / 2, TOP - 6, name, "middle"))
        for tick, label in zip(y_axis.ticks, y_axis.labels):
            y = bottom - y_axis.place(tick)
            parts.append(f'<path class="grid" d="M{left} {y:.1f}h{PANEL_WIDTH}"/>')
            if index == 0:
                parts.append(text(left - 6, y + 4, label, "end"))
        for tick, label in zip(x_axis.ticks, x_axis.labels):
            x = left + x_axis.place(tick)
            parts += [f'<path class="grid" d="M{x:.1f} {TOP}v{PANEL_HEIGHT}"/>', text(x, bottom + 17, label, "middle")]
        parts.append(f'<rect class="frame" x="{left}" y="{TOP}" width="{PANEL_WIDTH}" height="{PANEL_HEIGHT}"/>')
        for number, one in enumerate(names):
            points = [(left + x_axis.place(x), bottom - y_axis.place(y)) for x, y in sorted(series.get(one, ()))]
            if points:
                parts += [line(number, points), *(marker(number, *point) for point in points)]
        for x, y, words in marks:
            place = left + x_axis.place(x), bottom - y_axis.place(y)
            parts += [f'<circle class="mark" cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="8"/>',
                      text(place[0], place[1] + 22, words, "middle")]
    parts += [text(LEFT + (width - LEFT - RIGHT) / 2, height - 14, x_name, "middle"),
              text(16, TOP + PANEL_HEIGHT / 2, y_name, "middle", f' transform="rotate(-90 16 {TOP + PANEL_HEIGHT / 2:.0f})"'),
              "</svg>"]
    return "\n".join(parts) + "\n"


BAR_LABEL_WIDTH, BAR_WIDTH, BAR_STEP, BAR_HEAD = 230, 300, 20, 34


def bars(title, subtitle, unit, panels):
    """Speeds side by side. `panels`: [(name, [(label, value, whether it is ours)])], in two columns, each with a scale of its own."""
    rows = [panels[at:at + 2] for at in range(0, len(panels), 2)]
    heights = [BAR_HEAD + BAR_STEP * max(len(entries) for _, entries in row) for row in rows]
    column = BAR_LABEL_WIDTH + BAR_WIDTH + GAP + 40
    width, height = 12 + 2 * column, 56 + sum(heights) + 12
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
             f"<title>{escape(title)}</title>", style(), f'<rect class="paper" width="{width}" height="{height}"/>',
             text(12, 22, title, more=' class="title"'), text(12, 40, subtitle)]
    top = 56
    for row, row_height in zip(rows, heights):
        for number, (name, entries) in enumerate(row):
            left = 12 + number * column + BAR_LABEL_WIDTH
            longest = max(value for _, value, _ in entries)
            parts.append(text(left - BAR_LABEL_WIDTH, top + 20, f"{name}, {unit}", more=' font-weight="bold"'))
            for index, (label, value, ours) in enumerate(entries):
                y = top + BAR_HEAD + BAR_STEP * index
                length = BAR_WIDTH * value / longest
                parts += [text(left - 6, y + 11, label, "end"),
                          f'<rect class="m{0 if ours else 4}" x="{left}" y="{y}" width="{length:.1f}" height="14"/>',
                          text(left + length + 5, y + 11, f"{value:.3g}")]
        top += row_height
    return "\n".join([*parts, "</svg>"]) + "\n"
