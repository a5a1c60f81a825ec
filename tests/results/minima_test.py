#!/usr/bin/env python3
"""tools/minima.py over made-up runs, and tools/results --check over a copy of ours with a mistake in each."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import minima  # noqa: E402

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
        for name in ("results", "minima.py", "recorded_run.py"):
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


if __name__ == "__main__":
    unittest.main()
