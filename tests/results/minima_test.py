#!/usr/bin/env python3
"""tools/minima.py and tools/performance.py over made-up runs, and tools/results --check over a copy of ours with a mistake in each."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import minima  # noqa: E402
import performance  # noqa: E402

OLD, NEW = "2026-01-01-card-parse.json", "2026-02-01-card-parse.json"


def run_of(date, *rows, device="card", commit="abc"):
    return {"date": date, "device": device, "commit": commit, "rows": list(rows)}


def row(what, gbps, **more):
    return {"what": what, "gbps": gbps, "span": "kernel", "verified": True, **more}


def minimum(rows, figure="gbps", **limit):
    return {"run": "card-parse", "rows": rows, "figure": figure, "promised": "here", **limit}


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


class Falls(unittest.TestCase):
    def falls(self, before, now):
        return minima.falls(run_of("2026-02-01", now), run_of("2026-01-01", before))

    def test_over_five_percent_is_told(self):
        self.assertEqual(self.falls(row("greedy", 100), row("greedy", 95.1)), [])
        self.assertEqual(len(self.falls(row("greedy", 100), row("greedy", 94.9))), 1)
        self.assertEqual(len(self.falls({"what": "scan", "ms": 1.0}, {"what": "scan", "ms": 1.06})), 1)

    def test_only_the_same_work_is_compared(self):
        self.assertEqual(self.falls(row("greedy", 100, file="a"), row("greedy", 10, file="b")), [])
        self.assertEqual(len(self.falls(row("greedy", 100, ratio=2), row("greedy", 10, ratio=3))), 1)

    def test_of_several_measurements_the_best_counts(self):
        before = run_of("2026-01-01", row("load", 90), row("load", 100))
        self.assertEqual(minima.falls(run_of("2026-02-01", row("load", 50), row("load", 99)), before), [])


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
        shutil.copytree(ROOT / "bench" / "results", self.root / "bench" / "results")
        shutil.copy(ROOT / "bench" / "minima.json", self.root / "bench")
        shutil.copy(ROOT / "README.md", self.root)
        (self.root / "tools").mkdir()
        shutil.copytree(ROOT / "docs" / "plots", self.root / "docs" / "plots")
        shutil.copy(ROOT / "docs" / "performance.md", self.root / "docs")
        for name in ("results", "first_page.py", "minima.py", "performance.py", "recorded_run.py", "svg_chart.py"):
            shutil.copy(ROOT / "tools" / name, self.root / "tools")

    def check(self):
        return subprocess.run([self.root / "tools" / "results", "--check"], capture_output=True, text=True, check=False)

    def change(self, ending, change):
        path = next((self.root / "bench" / "results").glob(f"*{ending}.json"))
        run = json.loads(path.read_text())
        change(run)
        path.write_text(json.dumps(run))
        subprocess.run([self.root / "tools" / "results"], check=True)

    def test_ours_hold(self):
        done = self.check()
        self.assertEqual((done.returncode, done.stderr), (0, ""))

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
        readme.write_text(readme.read_text().replace("| restore | 4K |", "| restore | 4 KB |"))
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("README.md is not what the recorded runs give", done.stderr)

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
        subprocess.run([self.root / "tools" / "results"], check=True)
        self.assertEqual(self.check().returncode, 0)


if __name__ == "__main__":
    unittest.main()
