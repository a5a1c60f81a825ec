#!/usr/bin/env python3
"""tools/device-run in a bundle of stand-ins: what fails and what has no time are told apart, and the limits leave room."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import stat
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BACKENDS = {"backends": [{"name": "cuda", "state": "usable", "description": "kernels on Stand-in (compute capability 9.0)"}]}
REPORT = {"testsuites": [{"testsuite": [{"classname": "A", "name": "b", "time": "0.1s", "result": "COMPLETED"}]}]}
PASS = f"""for word in "$@"; do case $word in --gtest_output=json:*) echo '{json.dumps(REPORT)}' > "${{word#*json:}}" ;; esac; done"""
SLOW = "sleep 20"


def load():
    sys.path.insert(0, str(ROOT / "tools"))
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("device_run", str(ROOT / "tools" / "device-run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("device_run", loader))
    loader.exec_module(module)
    return module


class DeviceRun(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.bundle = Path(self.folder.name)
        self.tool = load()
        self.tool.BUNDLE, self.tool.CORPORA = self.bundle, self.bundle / "corpora"
        self.tool.find_sanitizer = lambda: self.bundle / "compute-sanitizer"
        self.program("hemstitch", f"echo '{json.dumps(BACKENDS)}'")
        self.program("compute-sanitizer", 'while [ "${1%_device_test}" = "$1" ]; do shift; done; exec "$@"')
        (self.bundle / "built.json").write_text('{"commit": "0", "kernels": "0"}')

    def tearDown(self):
        self.folder.cleanup()

    def program(self, name, text):
        path = self.bundle / name
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def run_tool(self, *words):
        """(exit status, what was printed, the names of what was recorded)"""
        output = io.StringIO()
        sys.argv = ["device-run", *words]
        with contextlib.redirect_stdout(output):
            status = self.tool.main()
        return status, output.getvalue(), [path.name for path in (self.bundle / "results").glob("*.json")]

    def test_all_well(self):
        self.program("a_device_test", PASS)
        self.program("b_device_bench", """echo '{"verified": true}'""")
        status, output, recorded = self.run_tool()
        self.assertEqual((status, len(recorded)), (0, 3), output)
        self.assertIn(f"tests: 1 programs, at most 180 s each and {self.tool.STEP_SECONDS['tests']} s together", output)
        self.assertIn("6 ok, 0 failed, 0 had no time", output)

    def test_programs_run_beside_each_other(self):
        # Each waits for what the other one leaves.
        for name, other in ("ab", "ba"):
            self.program(f"{name}_device_test", f"touch {self.bundle}/{name}.here\n"
                         f"while [ ! -e {self.bundle}/{other}.here ]; do sleep 0.01; done\n{PASS}")
        status, output, _ = self.run_tool("tests")
        self.assertEqual(status, 0, output)
        self.assertIn("2 ok, 0 failed, 0 had no time", output)

    def test_what_takes_all_memory_runs_alone(self):
        self.tool.TESTS_ALONE = ("a",)
        busy = f"mkdir {self.bundle}/busy || exit 1\n"
        self.program("a_device_test", f"{busy}{PASS}")
        for name in "bc":
            self.program(f"{name}_device_test", f"touch {self.bundle}/{name}.here\n[ ! -e {self.bundle}/busy ] || exit 1\nsleep 0.2\n{PASS}")
        status, output, _ = self.run_tool("tests")
        self.assertEqual(status, 0, output)

    def test_webgpu_is_recorded_with_its_adapter(self):
        self.program("finders_webgpu_test", PASS)
        described = {"name": "webgpu", "state": "usable", "description": "Stand-in, through WebGPU"}
        for description, words, count in ((described["description"], "ok      test finders_webgpu", 1),
                                          ("llvmpipe (software), through WebGPU", "its adapter is llvmpipe", 0)):
            listed = {"backends": BACKENDS["backends"] + [described | {"description": description}]}
            self.program("hemstitch", f"echo '{json.dumps(listed)}'")
            status, output, recorded = self.run_tool("--results", str(self.bundle / str(count)), "webgpu")
            self.assertEqual(status, 0, output)
            self.assertIn(words, output)
            recorded = list((self.bundle / str(count)).glob("*.json"))
            self.assertEqual(len(recorded), count, output)
            if count:
                self.assertEqual(json.loads(recorded[0].read_text())["rows"][0]["adapter"], "Stand-in")

    def test_what_fails_has_failed(self):
        self.program("a_device_test", PASS)
        self.program("b_device_test", f"{PASS}; exit 1")
        self.program("c_device_test", "exit 124")  # of its own will
        status, output, recorded = self.run_tool("tests")
        self.assertEqual((status, recorded), (1, []), output)
        self.assertIn("FAILED  test b", output)
        self.assertIn("FAILED  test c", output)
        self.assertIn("1 ok, 2 failed, 0 had no time", output)

    def test_a_program_at_its_limit_had_no_time(self):
        self.tool.TEST_SECONDS = 0.5
        self.program("a_device_test", SLOW)
        self.program("b_device_test", PASS)
        status, output, recorded = self.run_tool("tests")
        self.assertEqual((status, recorded), (3, []), output)
        self.assertRegex(output, "no time test a .*--only a runs it alone")
        self.assertNotIn("FAILED", output)
        self.assertIn("ok      test b", output)

    def test_programs_behind_the_limit_of_the_step_had_no_time(self):
        self.tool.TESTS_AT_ONCE = 1
        self.tool.STEP_SECONDS = {"tests": 1}
        self.program("a_device_test", PASS)
        self.program("b_device_test", SLOW)
        self.program("c_device_test", PASS)
        status, output, _ = self.run_tool("tests")
        self.assertEqual(status, 3, output)
        self.assertIn("1 ok, 0 failed, 2 had no time", output)

    def test_sanitizers_and_benchmarks_at_their_limits(self):
        self.tool.SANITIZER_SECONDS = self.tool.BENCH_SECONDS = 0.5
        self.program("b_device_bench", SLOW)
        self.program("a_device_test", f"""{PASS}; case "$*" in *filter*) {SLOW} ;; esac""")
        status, output, _ = self.run_tool()
        self.assertEqual(status, 3, output)
        self.assertIn("1 ok, 0 failed, 5 had no time", output)

    def test_long_benchmarks_run_only_when_they_are_named(self):
        self.tool.BENCH_SECONDS, self.tool.LONG_BENCHES = 0.2, {"sizes": 20}
        self.program("b_device_bench", """echo '{"verified": true}'""")
        self.program("sizes_device_bench", """sleep 0.5; echo '{"verified": true, "file": "corpus"}'""")
        corpora = self.bundle / "corpora" / "silesia"
        corpora.mkdir(parents=True)
        (corpora / "dickens").write_text("It was")
        status, output, recorded = self.run_tool("benches")
        self.assertEqual((status, [name[-len("device-b.json"):] for name in recorded]), (0, ["device-b.json"]), output)
        status, output, recorded = self.run_tool("--only", "sizes", "benches")
        self.assertEqual(status, 0, output)
        self.assertIn("benches: 1 programs, at most 20 s each", output)
        run = json.loads((self.bundle / "results" / next(name for name in recorded if "sizes" in name)).read_text())
        self.assertEqual(run["command"], "tools/device-run --only sizes benches")
        self.assertEqual([entry["name"] for entry in run["files"]], ["dickens"])

    def test_rates_of_webgpu_are_those_of_hardware(self):
        self.program("webgpu_device_bench", """echo '{"verified": true, "file": "samba"}'""")
        corpora = self.bundle / "corpora" / "silesia"
        corpora.mkdir(parents=True)
        for name in ("dickens", "samba"):
            (corpora / name).write_text("It was")
        for description, words, files in (("llvmpipe (software), through WebGPU", "left out: bench webgpu; its adapter is llvmpipe", []),
                                          ("Stand-in, through WebGPU", "ok      bench webgpu", ["samba"])):
            listed = {"backends": BACKENDS["backends"] + [{"name": "webgpu", "state": "usable", "description": description}]}
            self.program("hemstitch", f"echo '{json.dumps(listed)}'")
            status, output, recorded = self.run_tool("--only", "webgpu", "benches")
            self.assertEqual(status, 0, output)
            self.assertIn(words, output)
            entries = [entry["name"] for name in recorded
                       for entry in json.loads((self.bundle / "results" / name).read_text())["files"]]
            self.assertEqual(entries, files)

    def test_passes_of_webgpu_keep_their_series(self):
        self.program("webgpu_find_device_bench", """echo '{"verified": true, "file": "samba"}'""")
        listed = {"backends": BACKENDS["backends"] + [{"name": "webgpu", "state": "usable", "description": "Stand-in, through WebGPU"}]}
        self.program("hemstitch", f"echo '{json.dumps(listed)}'")
        status, output, recorded = self.run_tool("--only", "webgpu_find", "benches")
        self.assertEqual((status, [name[len("2026-01-01-"):] for name in recorded]), (0, ["stand-in-webgpu-find.json"]), output)

    def test_benchmarks_keep_their_series(self):
        series = {"coop": "device-cooperative-finders", "engine": "lz4-engine", "search_tree": "device-search-trees", "lz4_compress": "device-lz4-compress"}
        for bench in series:
            self.program(f"{bench}_device_bench", """echo '{"verified": true}'""")
        status, output, recorded = self.run_tool("benches")
        self.assertEqual((status, sorted(name[len("2026-01-01-stand-in-"):-len(".json")] for name in recorded)), (0, sorted(series.values())), output)
        for name in series.values():
            self.assertTrue(list((ROOT / "bench" / "results").glob(f"*-{name}.json")), name)

    def test_limits_leave_room_for_the_last_recorded_tests(self):
        recorded = sorted((ROOT / "bench" / "results").glob("*-device-tests.json"))[-1]
        seconds = [row["seconds"] for row in json.loads(recorded.read_text())["rows"] if row["what"] == "test"]
        self.assertGreater(self.tool.TEST_SECONDS, 2 * max(seconds))
        self.assertGreater(self.tool.STEP_SECONDS["tests"], 2 * sum(seconds))


if __name__ == "__main__":
    unittest.main()
