#!/usr/bin/env python3
"""The gate for figures, over made-up runs and over a copy of ours with a mistake in each."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from records import code_hash, falls, first_page, minima, performance, quoted, stale  # noqa: E402

OLD, NEW = "2026-01-01-card-parse.json", "2026-02-01-card-parse.json"


def run_of(date, *rows, device="card", commit="abc"):
    return {"date": date, "device": device, "commit": commit, "rows": list(rows)}


def row(what, gbps, **more):
    return {"what": what, "gbps": gbps, "span": "kernel", "verified": True, **more}


def minimum(rows, figure="gbps", **more):
    bound = more.get("at_least", more.get("at_most"))
    return {"run": "card-parse", "rows": rows, "figure": figure, "promised": f"here: {bound}", **more}


class FirstPage(unittest.TestCase):
    def test_ours_beside_a_peer_is_of_the_newest_run(self):
        def mean(gbps, bytes_of=2 * 10 ** 9, **more):
            return row("compress", gbps, level="1", block_bytes=65536, file="mean", bytes=bytes_of, **more)
        peer = run_of("2026-01-01", {**mean(60, peer="theirs", peer_gbps=20), "level": 1})
        later = run_of("2026-02-01", mean(50, 2 * 10 ** 8), mean(55))
        self.assertEqual([found["gbps"] for found in first_page.ours_since(peer, (later, None))], [55])
        self.assertEqual(first_page.ours_since(peer, (run_of("2025-12-01", mean(55)), run_of("2026-02-01", mean(55), device="other"))), [])


class Minima(unittest.TestCase):
    def broken(self, entry, *rows):
        runs = {OLD: run_of("2026-01-01", row("greedy", 1000)), NEW: run_of("2026-02-01", *rows)}
        return minima.broken_minima([entry], runs)

    def test_the_newest_run_counts(self):
        self.assertEqual(self.broken(minimum({"what": "greedy"}, at_least=100), row("greedy", 100)), [])
        self.assertEqual(len(self.broken(minimum({"what": "greedy"}, at_least=100), row("greedy", 99))), 1)
        self.assertEqual(len(self.broken(minimum({"what": "greedy"}, at_least=100), row("lazy", 200))), 1)

    def test_every_row_that_is_chosen_counts(self):
        rows = row("greedy", 100, file="a"), row("greedy", 90, file="b")
        self.assertEqual(len(self.broken(minimum({"what": "greedy"}, at_least=100), *rows)), 1)
        self.assertEqual(self.broken(minimum({"what": "greedy", "file": "a"}, at_least=100), *rows), [])

    def test_times_may_be_bounded_from_above(self):
        self.assertEqual(self.broken(minimum({"what": "scan"}, "ms", at_most=2), row("scan", 0, ms=2)), [])
        self.assertEqual(len(self.broken(minimum({"what": "scan"}, "ms", at_most=2), row("scan", 0, ms=2.1))), 1)
        self.assertEqual(len(self.broken(minimum({"what": "scan"}, "ms", at_most=2), row("scan", 0))), 1)

    def test_times_are_the_peers(self):
        entry = minimum({"what": "greedy"}, "times", at_least=3)
        self.assertEqual(self.broken(entry, row("greedy", 30, peer_gbps=10)), [])
        self.assertEqual(len(self.broken(entry, row("greedy", 29, peer_gbps=10))), 1)
        self.assertEqual(len(self.broken(entry, row("greedy", 29))), 1)
        scan = {"what": "scan", "microseconds": 2, "peer_microseconds": 6}
        self.assertEqual(self.broken(minimum({"what": "scan"}, "times", at_least=3), scan), [])

    def test_a_bound_is_what_the_words_say(self):
        for words, bound in (("450 GB/s", 450), ("85 % of the floor", 0.85), ("20 ms", 0.02), ("100 MB", 1e8), ("2,000 GB/s", 2000),
                             ("1.3 times the time of reading", 0.769), ("2 times nvCOMP's speed", 2)):
            self.assertEqual(self.broken(minimum({"what": "greedy"}, at_least=bound, promised=words), row("greedy", 1e9)), [], words)
        lowered = self.broken(minimum({"what": "greedy"}, at_least=0.84, promised="85 % of the floor"), row("greedy", 1e9))
        self.assertIn("the bound 0.84 is not what was promised", lowered[0])

    def test_what_is_missed_says_what_was_reached(self):
        def missed(reached, gbps, page="README.md"):
            return self.broken(minimum({"what": "greedy"}, at_least=100, missed={"reached": reached, "explained": page}), row("greedy", gbps))
        self.assertEqual(missed("90", 90.4), [])
        self.assertIn("is 91.2, not 90 as 'missed' says", missed("90", 91.2)[0])
        self.assertIn("drop 'missed'", missed("90", 100)[0])
        self.assertIn("there is no docs/none.md", missed("90", 90, "docs/none.md")[0])

    def test_what_is_unrecorded_is_dropped_once_it_is(self):
        entry = minimum({"what": "greedy"}, at_least=100, unrecorded="no benchmark")
        self.assertEqual(self.broken(entry, row("lazy", 1)), [])
        self.assertIn("drop 'unrecorded'", self.broken(entry, row("greedy", 200))[0])

    def test_a_figure_may_be_a_share_of_other_rows_of_the_same_file(self):
        entry = minimum({"what": "pinned"}, at_least=0.9, over={"rows": {"what": "kernel"}})
        rows = row("pinned", 95, file="a"), row("kernel", 100, file="a"), row("pinned", 8, file="b"), row("kernel", 10, file="b")
        self.assertEqual(self.broken(entry, *rows[:2]), [])
        self.assertIn("gbps is 0.8, promised", self.broken(entry, *rows)[0])
        self.assertIn("is missing", self.broken(entry, rows[0])[0])

    def test_a_promise_does_not_stay_with_a_series_that_has_another_name(self):
        lines = minima.broken_minima([minimum({"what": "greedy"}, at_least=1)], {NEW: run_of("2026-02-01", row("greedy", 2))}, {"card-parse": "card-device"})
        self.assertIn("the series card-parse is card-device now", lines[0])


class Falls(unittest.TestCase):
    def falls(self, before, now):
        return falls.falls(run_of("2026-02-01", now), [run_of("2026-01-01", before)])

    def test_over_five_percent_is_told(self):
        self.assertEqual(self.falls(row("greedy", 100), row("greedy", 95.1)), [])
        self.assertEqual(len(self.falls(row("greedy", 100), row("greedy", 94.9))), 1)
        self.assertEqual(len(self.falls({"what": "scan", "ms": 1.0}, {"what": "scan", "ms": 1.06})), 1)

    def test_every_figure_is_compared(self):
        for name in (*falls.MORE, *falls.LESS):
            better, worse = (10, 9) if name in falls.MORE else (9, 10)
            self.assertEqual(self.falls({"what": "page batch", name: worse}, {"what": "page batch", name: better}), [], name)
            self.assertEqual(len(self.falls({"what": "page batch", name: better}, {"what": "page batch", name: worse})), 1, name)

    def test_only_the_same_work_is_compared(self):
        self.assertEqual(self.falls(row("greedy", 100, file="a"), row("greedy", 10, file="b")), [])
        self.assertEqual(len(self.falls(row("greedy", 100, ratio=2), row("greedy", 10, ratio=3))), 1)

    def test_of_several_measurements_the_best_counts(self):
        before = run_of("2026-01-01", row("load", 90), row("load", 100))
        self.assertEqual(falls.falls(run_of("2026-02-01", row("load", 50), row("load", 99)), [before]), [])

    def test_a_row_may_fall_by_its_own_spread(self):
        def fallen(*before, **more):
            runs = [run_of(f"2026-01-{20 - place:02}", row("scan", gbps)) for place, gbps in enumerate(before)]
            return len(falls.falls(run_of("2026-02-01", row("scan", 88, **more)), runs))
        self.assertEqual(fallen(100, 101, 100), 1)
        self.assertEqual(fallen(100, 85, 100), 0)
        self.assertEqual(fallen(100, 101, 100, 85), 1)  # the fourth is too long ago
        self.assertEqual(fallen(100, spread=0.13), 0)

    def test_the_spread_is_of_the_same_code(self):
        def run(day, gbps, kernels):
            return {**run_of(f"2026-01-{day}", row("scan", gbps)), "kernels": kernels}
        now = run_of("2026-02-01", row("scan", 88))
        self.assertEqual(len(falls.falls(now, [run(20, 100, "new"), run(19, 80, "old"), run(18, 80, "old")])), 1)
        self.assertEqual(len(falls.falls(now, [run(20, 100, "new"), run(19, 80, "new"), run(18, 80, "old")])), 0)

    def test_other_machines_and_others_programs_are_not_compared(self):
        self.assertEqual(falls.falls(run_of("2026-02-01", row("scan", 1)), [run_of("2026-01-01", row("scan", 9), device="another")]), [])
        self.assertEqual(falls.falls(run_of("2026-02-01", row("scan", 1)), [run_of("2026-01-01", row("scan", 9))], lambda row: False), [])

    def test_a_series_is_followed_under_its_old_name(self):
        runs = {"2026-01-01-card-old-name.json": run_of("2026-01-01", row("scan", 100)), "2026-02-01-card-name.json": run_of("2026-02-01", row("scan", 50))}
        before = falls.runs_before("card-name", "2026-02-01", {"card-old-name": "card-name"}, runs)
        self.assertEqual([run["date"] for run in before], ["2026-01-01"])


class CodeHash(unittest.TestCase):
    """What counts as other code."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("src/a/a.cu", '#include "b/b.hpp"\nconst char* url = "http://x";  // a comment\nint f() { return 1; }\n')
        self.write("src/b/b.hpp", "int b;\n")
        self.write("src/c/c.hpp", "int c;\n")
        self.write("bindings/x.py", "def f():\n    return 1  # one\n")
        self.before = self.area()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def area(self, *patterns):
        return code_hash.Tree(self.root).area(patterns or ("src/a/*.cu",))

    def test_comments_and_layout_do_not_count(self):
        self.write("src/a/a.cu", '/* of\n two lines */\n#include "b/b.hpp"\n\nconst char* url =\n    "http://x";\nint f()\n{ return 1; }\n')
        self.write("src/b/b.hpp", "// another comment\nint b;\n")
        self.write("src/c/c.hpp", "int other;\n")
        self.assertEqual(self.area(), self.before)

    def test_code_and_what_is_quoted_count(self):
        self.write("src/a/a.cu", '#include "b/b.hpp"\nconst char* url = "http://y";\nint f() { return 1; }\n')
        self.assertNotEqual(self.area(), self.before)

    def test_an_included_header_counts(self):
        self.write("src/b/b.hpp", "long b;\n")
        self.assertNotEqual(self.area(), self.before)

    def test_in_python_the_layout_counts(self):
        before = self.area("bindings/*.py")
        self.write("bindings/x.py", "# about f\n\ndef f():\n\n    return 1  # one\n")
        self.assertEqual(self.area("bindings/*.py"), before)
        self.write("bindings/x.py", "def f():\n  return 1  # one\n")
        self.assertNotEqual(self.area("bindings/*.py"), before)

    def test_patterns_of_paths(self):
        paths = ["src/a/b/c.cu", "src/a/c.cu", "src/a/d.cu"]
        self.assertEqual(code_hash.chosen(paths, ["src/a/*.cu"]), ["src/a/c.cu", "src/a/d.cu"])
        self.assertEqual(code_hash.chosen(paths, ["src/a/**/*.cu", "!src/**/c.cu"]), ["src/a/d.cu"])

    def test_the_kernels_hash_is_the_builds(self):
        built = subprocess.run([ROOT / "tools" / "kernels-hash"], check=True, capture_output=True, text=True).stdout.strip()
        self.assertEqual(code_hash.Tree().kernels(), built)


class Stale(unittest.TestCase):
    class Sources:
        areas = {"kernel": [], "host": []}
        renamed = {}

        @staticmethod
        def areas_of(_, one):
            return ["kernel"] if one["span"] == "kernel" else ["host", "kernel"]

        def areas_of_run(self, series, rows):
            return sorted({area for one in rows for area in self.areas_of(series, one)})

        @staticmethod
        def hashes(_):
            return {"kernel": "k", "host": "h"}

        @staticmethod
        def faults(_):
            return []

    def setUp(self):
        self.code = stale.Code(self.Sources(), tree=self)
        self.run = {**run_of("2026-01-01", row("a", 100), row("b", 100, file="x"), row("c", 50)), "code": {"kernel": "k", "host": "old"}}

    def lines(self, *rows, listed=()):
        return stale.stale_uses([("a page", OLD, rows)], {OLD: self.run}, self.code, list(listed))

    def test_a_row_of_other_code_is_told_unless_it_is_listed(self):
        pinned = row("a", 1) | {"span": "pinned"}
        self.assertEqual(self.lines(row("a", 1)), [])
        self.assertIn(f"{OLD} was measured with other code (host) and is used by a page", self.lines(pinned)[0])
        entry = {"runs": [OLD], "areas": ["host"], "reason": "changed", "date": "2026-02-01"}
        self.assertEqual(self.lines(pinned, listed=[entry]), [])
        self.assertIn("lacks its reason or date", self.lines(pinned, listed=[entry | {"reason": ""}])[0])
        self.assertIn("drop that from the list", self.lines(row("a", 1), listed=[entry])[0])

    def carry(self, *rows):
        self.run["code"]["kernel"] = "before the move"
        self.run["carried"] = [{"commit": "abc", "proof": "the same machine code", "code": {"kernel": "k"}, "rows": list(rows)}]
        return self.code.faults({OLD: self.run})

    def test_a_run_is_carried_on_by_three_repeated_rows(self):
        self.assertEqual(self.carry(row("a", 102), row("b", 98, file="x"), row("c", 50)), [])
        self.assertEqual(self.lines(row("a", 1)), [])
        self.assertIn("carried on to abc without three repeated rows", self.carry(row("a", 102), row("b", 98, file="x"), row("c", 52))[0])
        self.assertIn("carried on to abc without three repeated rows", self.carry(row("a", 102), row("b", 98, file="x"))[0])


class Quoted(unittest.TestCase):
    """Figures in pages."""

    RUN = run_of("2026-02-01", row("greedy", 31.24, file="a", part={"of a": 5, "b": 2}), row("greedy", 10, file="b", seconds=0.0204), row("lazy", 5, peer_gbps=2))

    def faults(self, text, name="docs/page.md", date="card-parse"):
        return quoted.read_page(name, text.replace("RUN", f"<!-- recorded: {date}"), {"card-parse": (NEW, self.RUN)}, {NEW: self.RUN})

    def wrong(self, *arguments):
        return self.faults(*arguments)[1]

    def test_a_figure_is_compared_at_its_digits(self):
        self.assertEqual(self.wrong("It takes 31.2 GB/s.\n\nRUN\n31.2 gbps what=greedy file=a -->"), [])
        self.assertIn("31.3 is 31.24 in", self.wrong("It takes 31.3 GB/s.\n\nRUN\n31.3 gbps what=greedy file=a -->")[0])
        self.assertIn("the text has no 31.2", self.wrong("It takes 131.2 GB/s.\n\nRUN\n31.2 gbps what=greedy file=a -->")[0])

    def test_figures_may_be_computed(self):
        text = "20 ms, 2.5 times, 3.1 times the other, 40 % of it.\n\nRUN\n20 1000*seconds file=b\n2.5 times what=lazy\n3.1 gbps file=a over file=b\n"
        self.assertEqual(self.wrong(text + "40 '100*part.b/part[\"of a\"]' file=a -->"), [])
        self.assertEqual(self.wrong("68 % less.\n\nRUN\n68 100*(1-other.gbps/gbps) file=a over file=b -->"), [])
        self.assertIn("is no figure", self.wrong("1 us\n\nRUN\n1 __import__('os') file=a -->")[0])

    def test_one_row_is_chosen(self):
        self.assertIn("2 rows have what greedy", self.wrong("31.2\n\nRUN\n31.2 gbps what=greedy -->")[0])
        self.assertIn("0 rows have what none", self.wrong("31.2\n\nRUN\n31.2 gbps what=none -->")[0])
        self.assertIn("there is no recorded run 'card-find'", self.wrong("31.2\n\nRUN\n31.2 gbps file=a -->", "docs/page.md", "card-find")[0])

    def test_a_speed_names_its_record_or_says_that_there_is_none(self):
        for text in ("It takes 31.2 GB/s.", "It takes 3 ms.", "| | GB/s |\n|---|---|\n| a | 3 |", "In GB/s:\n\n| | a |\n|---|---|\n| b | 3.1 |"):
            self.assertEqual(len(self.wrong(text)), 1, text)
        for text in ("It takes 31.2 GB/s, once by hand, not recorded.", "At least 3 ms pass.<!-- not measured -->", "```\n31.2 GB/s\n```",
                     "<!-- figures: written by tools/results -->\n31.2 GB/s\n<!-- end of figures -->", "In GB/s, not recorded:\n\n| | a |\n|---|---|\n| b | 3.1 |"):
            self.assertEqual(self.wrong(text), [], text)
        for_page = "Figures here that name no record were tried, and are not recorded.\n\nIt takes 31.2 GB/s."
        self.assertEqual(self.wrong(for_page, "docs/decisions/page.md"), [])
        self.assertEqual(len(self.wrong(for_page)), 1)

    def test_rows_are_used_of_the_newest_run_alone(self):
        text = "It takes 31.2 GB/s.\n\nRUN\n31.2 gbps what=greedy file=a -->"
        self.assertEqual(self.faults(text)[0], [("docs/page.md", NEW, self.RUN["rows"][:1])])
        self.assertEqual(self.faults(text, "docs/page.md", NEW), ([], []))


class Performance(unittest.TestCase):
    def sizes(self, *rows):
        return {"2026-01-01-card-device-sizes.json": run_of("2026-01-01", *rows)}

    @staticmethod
    def times(backend, *milliseconds):
        return [{"what": "compress", "level": 1, "backend": backend, "bytes": 1000 * 4 ** index, "milliseconds": one}
                for index, one in enumerate(milliseconds)]

    def test_the_crossing_lies_where_both_are_as_fast(self):
        # Times of 1, 4, 16 and of 8, 8, 8: equal where the first is 8, in the middle of 4 and 16 by its logarithm.
        runs = self.sizes(*self.times("cpu", 1, 4, 16), *self.times("cuda", 8, 8, 8), *self.times("auto", 1, 6, 8))
        (size, gbps, faster), = performance.Sizes(runs).crossings("compress", 1)
        self.assertAlmostEqual(size, 8000)
        self.assertAlmostEqual(gbps, 1e-3)
        self.assertEqual(faster, "cuda")
        self.assertIn("| compress | 1 | cuda from 7.8K | 1.50 times, at 3.9K |", performance.sections(runs)["sizes"])

    def test_backends_that_never_change_places_have_no_crossing(self):
        runs = self.sizes(*self.times("cpu", 1, 4, 16), *self.times("cuda", 8, 8, 17), *self.times("auto", 1, 4, 16))
        self.assertEqual(performance.Sizes(runs).crossings("compress", 1), [])
        self.assertIn("| compress | 1 | none |", performance.sections(runs)["sizes"])

    def test_of_spans_the_newest_figure_of_the_newest_device_is_shown(self):
        def one(gbps, **more):
            return row("compress", gbps, backend="cuda", format="lz4", level="1", block_bytes=65536, file="mean", **more)
        runs = {"old": run_of("2026-01-01", one(10), one(11)), "new": run_of("2026-02-01", one(5), one(6), one(99, devices=2)),
                "other": run_of("2026-01-15", one(20), device="another")}
        self.assertIn("| compress | 64K | 1 | 6.00 |", performance.sections(runs)["spans"])

    def test_gpus_are_told_by_the_times_of_one(self):
        rows = [row(what, gbps, level=1, devices=count) for what in ("compress", "restore") for count, gbps in ((1, 5), (2, 9))]
        self.assertEqual(performance.sections({"run": run_of("2026-01-01", *rows)})["gpus"], "![gpus.svg](plots/gpus.svg)")

    def test_plots_are_sound_xml_for_light_and_dark_pages(self):
        runs = self.sizes(*self.times("cpu", 1, 4, 16), *self.times("cuda", 8, 8, 8))
        runs["run"] = run_of("2026-01-01", row("compress", 5, level=1, devices=1), row("compress", 9, level=1, devices=2))
        runs["spans"] = run_of("2026-01-01", row("restore", 5, backend="cuda", format="lz4", block_bytes=4096, file="corpus"))
        drawn = performance.plots(runs)
        self.assertEqual(sorted(drawn), ["gpus.svg", "sizes-level-1.svg", "spans-restore.svg"])
        for name, svg in drawn.items():
            root = xml.etree.ElementTree.fromstring(svg)
            size = [float(root.get(side)) for side in ("width", "height")]
            for point in " ".join(line.get("points") for line in root.iter("{http://www.w3.org/2000/svg}polyline")).split():
                x, y = map(float, point.split(","))
                self.assertTrue(0 <= x <= size[0] and 0 <= y <= size[1], (name, point))
            self.assertIn("prefers-color-scheme:dark", svg)


class Check(unittest.TestCase):
    """The program as a whole, in a copy of what it reads."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("bench/results", "docs"):
            shutil.copytree(ROOT / name, self.root / name)
        for name in ("minima", "sources", "stale"):
            shutil.copy(ROOT / "bench" / f"{name}.json", self.root / "bench")
        for name in ("README.md", "SECURITY.md"):
            shutil.copy(ROOT / name, self.root)
        (self.root / "tools").mkdir()
        shutil.copy(ROOT / "tools" / "results", self.root / "tools")
        shutil.copytree(ROOT / "tools" / "records", self.root / "tools" / "records")
        # Sources are links, and what tools/results writes among them is a copy.
        for name in code_hash.TOPS:
            shutil.copytree(ROOT / name, self.root / name, copy_function=os.symlink, ignore=shutil.ignore_patterns("__pycache__"))
        for name in code_hash.MADE:
            (self.root / name).unlink()
            shutil.copy(ROOT / name, self.root / name)
        # The copy has the history of ours.
        found = subprocess.run(["git", "rev-parse", "--absolute-git-dir"], cwd=ROOT, capture_output=True, text=True, check=False)
        self.environment = {**os.environ, "GIT_DIR": found.stdout.strip(), "GIT_WORK_TREE": folder.name} if found.returncode == 0 else None

    def run_results(self, *arguments):
        return subprocess.run([self.root / "tools" / "results", *arguments], capture_output=True, text=True, check=False, env=self.environment)

    def check(self):
        return self.run_results("--check")

    def newest(self, ending):
        return max((self.root / "bench" / "results").glob(f"*{ending}.json"))

    def change(self, ending, change):
        path = self.newest(ending)
        run = json.loads(path.read_text())
        change(run)
        path.write_text(json.dumps(run))
        self.assertEqual(self.run_results().returncode, 0)

    def replace(self, name, old, new):
        path = self.root / name
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))

    def refused(self, words):
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn(words, done.stderr)

    def test_ours_hold(self):
        done = self.check()
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_row_of_other_code_is_refused(self):
        kernel = "src/match/hash_chain/hash_chain.cu"
        source = (self.root / kernel).read_text()
        (self.root / kernel).unlink()
        (self.root / kernel).write_text(f"// another comment\n\n{source}")
        self.assertEqual(self.check().stderr, "")
        (self.root / kernel).write_text(f"{source}\nstatic int planted = 0;\n")
        name = self.newest("-device-find").name
        self.refused(f"{name} was measured with other code (hash_chain, CUDA) and is used by bench/minima.json")
        if self.environment is None:
            self.skipTest("no history here")
        found = [json.loads(line.rstrip(",")) for line in self.run_results("--stale").stdout.splitlines()]
        mine = next(entry for entry in found if entry["runs"] == [name])
        self.assertRegex(mine["reason"], r"^changed since commit \w+: hash_chain, CUDA: 1 lines of hash_chain.cu$")
        listed = json.loads((self.root / "bench" / "stale.json").read_text())
        (self.root / "bench" / "stale.json").write_text(json.dumps({"stale": listed["stale"] + found}))
        self.run_results()  # which marks what has changed
        self.assertEqual(self.check().stderr, "")
        (self.root / kernel).write_text(source)
        self.refused(f"no stale row of {name} with the area 'hash_chain, CUDA' is used")

    def test_a_fall_that_nobody_explains_is_refused(self):
        def slower(run):
            for one in run["rows"]:
                if one["level"] == "lazy" and one["file"] == "corpus" and one["block_bytes"] == 65536:
                    one["gbps"] *= 0.9
        self.change("-device-parse", slower)
        self.refused("parse, cuda, lazy, corpus (block_bytes 65536")
        fallen = r"parse, cuda, lazy, corpus \(block_bytes 65536, .*gbps is \d+ % worse than on"
        self.assertRegex(self.check().stderr, fallen)
        self.change("-device-parse", lambda run: run.update(slower=[{"rows": {"level": "lazy"}, "why": "planted"}]))
        done = self.check()
        self.assertNotIn("% worse", done.stderr)
        self.assertRegex(done.stdout, fallen)

    def test_an_explanation_of_no_fall_is_refused(self):
        if self.environment is None:
            self.skipTest("no history here")
        self.change("-device-parse", lambda run: run.update(slower=[{"rows": {"level": "lazy"}, "why": "planted"}]))
        self.refused("explains why rows with level lazy are slower, but none is")

    def test_a_lower_promise_is_refused(self):
        self.replace("bench/minima.json", '"at_least": 0.85, "promised"', '"at_least": 0.84, "promised"')
        self.refused("the bound 0.84 is not what was promised")

    def test_another_figure_in_a_page_is_refused(self):
        figure = re.search(r"finds and parses (\d+\.\d) GB/s", (self.root / "docs/founding.md").read_text())[1]
        self.replace("docs/founding.md", f"finds and parses {figure} GB/s", "finds and parses 99.9 GB/s")
        self.refused(f"docs/founding.md: the text has no {figure}")
        self.replace("docs/founding.md", f"\n{figure} gbps what=find+parse", "\n99.9 gbps what=find+parse")
        self.refused("docs/founding.md: 99.9 is ")

    def test_a_figure_without_a_record_is_refused(self):
        page = self.root / "docs" / "pages.md"
        page.write_text(page.read_text() + "\nAn H200 does this at 99 GB/s.\n")
        self.refused("docs/pages.md: a figure names no record: An H200 does this at 99 GB/s")

    def test_a_row_of_which_no_sources_are_told_is_refused(self):
        self.change("-device-parse", lambda run: run["rows"].append({"what": "new", "backend": "cuda", "span": "kernel", "verified": True, "gbps": 1}))
        self.assertEqual(self.check().returncode, 0)
        self.newest("-device-parse").rename(self.root / "bench" / "results" / "2026-11-30-nvidia-h200-device-new.json")
        self.refused("nothing says which code 2026-11-30-nvidia-h200-device-new.json measures")

    def test_a_run_without_hashes_is_refused(self):
        self.change("-device-parse", lambda run: run.pop("code"))
        self.refused("-device-parse.json keeps no hash of its code; run tools/code-hash --restate")

    def test_the_hashes_are_those_of_the_runs_commits(self):
        for path in list((ROOT / "bench" / "results").glob("*.json"))[::20]:
            run = json.loads(path.read_text())
            try:
                tree = code_hash.CommitTree(run["commit"])
            except KeyError:
                self.skipTest(f"this clone has no commit {run['commit']}")
            sources = code_hash.Sources()
            areas = sources.areas_of_run(stale.series(path.name), run["rows"])
            self.assertEqual({area: run["code"][area] for area in areas}, sources.hashes(tree, areas), path.name)

    def test_a_run_of_a_changed_tree_is_refused(self):
        self.change("-device-parse", lambda run: run.update(commit=run["commit"] + "-dirty"))
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("-device-parse.json was recorded from a tree with changes", done.stderr)

    def test_a_figure_below_its_minimum_is_refused(self):
        def slow(run):
            for one in run["rows"]:
                one["gbps"] /= 2
        self.change("-device-parse", slow)
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("promised is at least 110", done.stderr)

    def test_a_table_of_other_figures_is_refused(self):
        readme = self.root / "README.md"
        readme.write_text(readme.read_text().replace("| an array on the GPU |", "| an array on a GPU |"))
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("README.md is not what the recorded runs give", done.stderr)

    def test_other_figures_of_the_choice_are_refused(self):
        self.replace("src/format/choice_recorded.hpp", "kOverlap = 0.6;", "kOverlap = 0.7;")
        self.refused("src/format/choice_recorded.hpp is not what the recorded runs give")
        self.assertEqual(self.run_results().returncode, 0)
        self.assertEqual(self.check().stderr, "")

    def test_the_choice_is_by_the_newest_run(self):
        def slow_down(run):
            for row in run["rows"]:
                if row["what"] == "page batch: restore":
                    row["microseconds"] *= 2
        self.change("-device-pages", slow_down)
        text = (self.root / "src/format/choice_recorded.hpp").read_text()
        ours = (ROOT / "src/format/choice_recorded.hpp").read_text()
        rates = [float(re.search(r"kCpuPagesRestore = ([0-9.]+);", one).group(1)) for one in (ours, text)]
        self.assertAlmostEqual(rates[0], 2 * rates[1], delta=0.01)

    def test_a_table_of_the_page_on_speed_is_held_too(self):
        page = self.root / "docs" / "performance.md"
        page.write_text(page.read_text().replace("| compress | 4K |", "| compress | 4 KB |"))
        self.assertIn("docs/performance.md is not what the recorded runs give", self.check().stderr)

    def test_a_run_that_lacks_what_a_picture_shows_is_told(self):
        path = max((self.root / "bench" / "results").glob("*-gzip-cpu.json"))
        run = json.loads(path.read_text())
        run["rows"] = [one for one in run["rows"] if one["peer"] != "gzip"]
        path.write_text(json.dumps(run))
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^results: a picture of README.md needs a row with what compress, peer gzip; the run of tools/bench [^\n]*\n$")

    def test_a_plot_of_other_figures_is_refused(self):
        plot = self.root / "docs" / "plots" / "spans-compress.svg"
        plot.write_text(plot.read_text().replace("<circle", "<circle ", 1))
        self.assertIn("docs/plots/spans-compress.svg is not what the recorded runs give", self.check().stderr)
        plot.with_name("of-nothing.svg").write_text("")
        self.assertIn("docs/plots/of-nothing.svg is of no recorded run", self.check().stderr)
        self.run_results()
        self.assertEqual(self.check().returncode, 0)


if __name__ == "__main__":
    unittest.main()
