"""Figures that people typed into pages, against the records that the pages name.

A comment in a page binds the figures of its paragraph, or of the table or paragraph above it, to the newest run of a series:

  <!-- recorded: nvidia-h200-device-find
  31.2 gbps what=find+parse level=d1s file=corpus
  39 gbps finder=near-1k over finder=hash_chain
  40.1 100*(cost/optimum_4k.cost-1) file=alice29.txt -->

Each line is a figure as it stands in the text, what it is (a field of the row, "times" the peer, or a sum of these), and the fields that choose the
one row; `part["name"].part` is a part of a field. `over` divides by the row that has other values in the fields behind it (an empty value: not
that field), unless the figure speaks of `other.field`. A name with its date is that run, not the newest: it tells what was measured then, with the code of
then.

Every paragraph and table with a speed or a time must have such a comment, be made by tools/results, or say "not recorded" and how it was measured.
A page of docs/decisions may say that once, in a paragraph that begins with "Figures here that name no record". The comment "not measured" is
for times that the code sets, or that others state. docs/man has none but such.
"""

import ast
import operator
import re
import shlex

from records.minima import is_shown
from records.recorded_run import ROOT
from records.row import figure, identity, newest_of_each

COMMENT = re.compile(r"<!-- recorded: (.*?)-->", re.DOTALL)
MADE = re.compile(r"<!-- (\S+): written by tools/results -->.*?<!-- end of \1 -->", re.DOTALL)
FENCE = re.compile(r"^[ \t]*```.*?^[ \t]*```$", re.DOTALL | re.MULTILINE)
SPEED = re.compile(r"\d ?(?:[GTM]B/s|us\b|µs|ms\b|microseconds|milliseconds)|^\|.*(?:[GTM]B/s|\bms\b|microseconds)", re.MULTILINE)
UNIT = re.compile(r"[GTM]B/s|\bms\b|milliseconds|microseconds")
TABLE = re.compile(r"^\|.*\d\.\d", re.MULTILINE)
SAYS_SO = ("not recorded", "<!-- not measured -->")
SAYS_FOR_PAGE = re.compile(r"^Figures here that name no record\b[^\n]*\n?[^\n]*not recorded", re.MULTILINE)
OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


class Wrong(Exception):
    """What is wrong with a line of a comment."""


def pages():
    return [ROOT / "README.md", ROOT / "SECURITY.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "man")]


def computed(words, row, other=None):
    """The value of a figure's words for a row, beside another row if they speak of it."""
    def value(node):
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
            return OPERATIONS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Name):
            found = other if node.id == "other" else figure(row, node.id)
        elif isinstance(node, ast.Attribute):
            found = value(node.value).get(node.attr)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            found = value(node.value).get(node.slice.value)
        else:
            raise Wrong(f"'{words}' is no figure")
        if found is None:
            raise Wrong(f"the row has no '{words}'")
        return found
    try:
        return value(ast.parse(words, mode="eval").body)
    except SyntaxError as error:
        raise Wrong(f"'{words}' is no figure") from error


def fields(words):
    pairs = [word.partition("=") for word in words]
    if not all(equals for _, equals, _ in pairs):
        raise Wrong(f"'{' '.join(words)}' does not choose a row: write field=value")
    return {name: value for name, _, value in pairs}


def the_row(run, about):
    rows = [row for row in run["rows"] if all(name in row and str(row[name]) == value for name, value in about.items())]
    if len({identity(row) for row in rows}) != 1:
        raise Wrong(f"{len(rows)} rows have {', '.join(f'{name} {value}' for name, value in about.items())}")
    return max(rows, key=lambda row: row.get("gbps", 0))  # of several measurements the best


def read_line(line, run):
    """(the figure as text, its value in the run, its rows)"""
    shown, what, *words = shlex.split(line)
    place = words.index("over") if "over" in words else len(words)
    about = fields(words[:place])
    row = the_row(run, about)
    if place < len(words):
        other = the_row(run, {name: value for name, value in {**about, **fields(words[place + 1:])}.items() if value})
        value = computed(what, row, other) if "other." in what else computed(what, row) / computed(what, other)
        return shown, value, [row, other]
    return shown, computed(what, row), [row]


def stands_in(shown, text):
    return re.search(rf"(?<![\d.,]){re.escape(shown)}(?!\d|[.,]\d)", text) is not None


def blocks(text):
    """Paragraphs, and lists and tables as a whole."""
    return [block for block in re.split(r"\n[ \t]*\n", text) if block.strip()]


def read_page(name, text, newest, runs):
    """([(name of the page, name of a run, rows)], [line for each fault])"""
    text = FENCE.sub("", MADE.sub("", text))
    used, faults, above = [], [], ""
    for_page = name.startswith("docs/decisions/") and SAYS_FOR_PAGE.search(text)
    parts = blocks(text)
    for place, block in enumerate(parts):
        words = COMMENT.sub("", block)
        below = parts[place + 1] if place + 1 < len(parts) else ""
        has_record = COMMENT.search(block) or (COMMENT.match(below) and not COMMENT.sub("", below).strip())
        has_figures = SPEED.search(words) or TABLE.search(words) and UNIT.search(above)
        said = words + (above if TABLE.search(words) else "")
        if has_figures and not has_record and not any(one in said for one in SAYS_SO) and not for_page:
            faults.append(f"{name}: a figure names no record: {' '.join(words.split())[:90]}...")
        about = words if words.strip() else above
        for comment in COMMENT.findall(block):
            head, *lines = [line.strip() for line in comment.strip().splitlines()]
            file, run = newest.get(head) or (head, runs.get(head))
            if run is None:
                faults.append(f"{name}: there is no recorded run '{head}'")
                continue
            for line in lines:
                try:
                    shown, value, rows = read_line(line, run)
                except Wrong as wrong:
                    faults.append(f"{name}: {line}: {wrong}, in {file}")
                    continue
                if head in newest:
                    used.append((name, file, rows))
                if not is_shown(shown, value):
                    faults.append(f"{name}: {shown} is {value:.5g} in {file}: {line}")
                if not stands_in(shown, about):
                    faults.append(f"{name}: the text has no {shown}, of which a comment speaks: {line}")
        if words.strip():
            above = words
    return used, faults


def read_pages(runs, renamed):
    newest = newest_of_each(runs, renamed)
    used, faults = [], []
    for path in pages():
        uses, wrong = read_page(str(path.relative_to(ROOT)), path.read_text(), newest, runs)
        used += uses
        faults += wrong
    return used, faults
