#!/usr/bin/env python3
"""tools/kernel-lint on kernels with planted faults (kernels.cu): each is found, where it is, and nothing else is.

Needs nvcc and cuobjdump, no GPU. Exit 77: skipped, one of them is missing and HEMSTITCH_REQUIRE does not name nvcc.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LINT = ROOT / "tools" / "kernel-lint"
SOURCE = HERE / "kernels.cu"
VARIANTS = ("NO_FAULT", "ONE_ERROR", "THREE_ERRORS", "ALL_FAULTS")


def find_nvcc():
    return subprocess.run([ROOT / "tools" / "find-nvcc"], capture_output=True, text=True, check=False).stdout.strip()


def lint(*arguments):
    done = subprocess.run([LINT, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def findings(output):
    """{(kind, kernel)} of a report, and its lines by that key."""
    lines = {}
    for line in output.splitlines():
        if match := re.match(r"(?:critical|error|note): ([\w-]+): ([\w.:<>]+): ", line):
            lines.setdefault(match.groups(), []).append(line)
    return lines


def fault_lines(kind):
    return {number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if f"// FAULT {kind}" in line}


class KernelLint(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = Path(cls.folder.name)

        def compile_variant(variant):
            subprocess.run([find_nvcc(), "-std=c++20", "-lineinfo", f"-D{variant}", "-I", ROOT / "src", "-gencode",
                            "arch=compute_90,code=[sm_90,compute_90]", "-c", SOURCE, "-o", cls.work / f"{variant}.o"],
                           check=True)
            return variant, lint(cls.work / f"{variant}.o")

        with ThreadPoolExecutor(2) as pool:
            cls.results = dict(pool.map(compile_variant, VARIANTS))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_code_without_fault_has_no_finding(self):
        status, output, _ = self.results["NO_FAULT"]
        self.assertEqual(findings(output), {})
        self.assertEqual(status, 0)
        self.assertIn("7 kernels of ours, 1 of libraries passed over; score 100", output)

    def test_every_fault_is_found_and_nothing_else(self):
        status, output, _ = self.results["ALL_FAULTS"]
        self.assertEqual(set(findings(output)), {
            ("divergent-barrier", "barrier_of_some"), ("divergent-barrier", "barrier_after_loop"),
            ("generic-shared", "generic_shared"), ("missing-entry", "tests.absent"),
            ("spill", "spilling"), ("local-array", "local_array"), ("no-budget", "without_budget"),
            ("over-budget", "too_many_registers"), ("over-budget", "too_much_shared"),
            ("over-budget", "turned<128u>"),
            ("wide-access", "unproved_access")})
        self.assertEqual(status, 3)

    def test_barriers_are_reported_at_their_line(self):
        lines = findings(self.results["ALL_FAULTS"][1])
        reported = {int(re.search(r"kernels\.cu:(\d+): bar", line).group(1)) for (kind, _), group in lines.items()
                    if kind == "divergent-barrier" for line in group}
        self.assertEqual(reported, fault_lines("divergent-barrier"))

    def test_budgets_are_held_to_the_number(self):
        lines = findings(self.results["ALL_FAULTS"][1])
        self.assertIn("1024 bytes of shared memory, and the budget of tests.too_much_shared is 512",
                      lines["over-budget", "too_much_shared"][0])
        self.assertRegex(lines["over-budget", "too_many_registers"][0], r"\d+ registers, and the budget .* is 16$")

    def test_instantiations_are_held_to_their_own_budgets(self):
        table = self.results["NO_FAULT"][1]
        self.assertRegex(table, r"turned<128u> .* 512 of 512 .*tests\.turned\n")
        self.assertRegex(table, r"turned<256u> .* 1024 of 1024 .*tests\.turned_wide\n")
        lines = findings(self.results["ALL_FAULTS"][1])
        self.assertIn("512 bytes of shared memory, and the budget of tests.turned is 256",
                      lines["over-budget", "turned<128u>"][0])

    def test_wide_accesses_name_size_and_what_is_proved(self):
        lines = findings(self.results["ALL_FAULTS"][1])
        self.assertTrue(any("16 bytes, alignment proved only to 1" in line
                            for line in lines["wide-access", "unproved_access"]))

    def test_one_error_leaves_85_points_and_exit_1(self):
        status, output, _ = self.results["ONE_ERROR"]
        self.assertEqual(status, 1)
        self.assertIn("score 85", output)

    def test_three_errors_leave_55_points_and_exit_2(self):
        status, output, _ = self.results["THREE_ERRORS"]
        self.assertEqual(status, 2)
        self.assertIn("score 55", output)

    def test_the_least_score_may_be_another(self):
        def status(variant, score):
            return lint("--min-score", str(score), self.work / f"{variant}.o")[0]
        self.assertEqual(status("ONE_ERROR", 85), 0)
        self.assertEqual(status("ONE_ERROR", 86), 1)
        self.assertEqual(status("THREE_ERRORS", 55), 0)
        self.assertEqual(status("THREE_ERRORS", 56), 2)
        self.assertEqual(status("NO_FAULT", 100), 0)
        self.assertEqual(status("ALL_FAULTS", 0), 3)

    def test_what_cannot_be_looked_at_exits_4(self):
        self.assertEqual(lint(SOURCE)[0], 4)
        status, _, errors = lint(self.work / "absent.o")
        self.assertEqual(status, 4)
        self.assertIn("kernel-lint: ", errors)

    def test_dump_and_html(self):
        page, folder = self.work / "page.html", self.work / "dump"
        lint("--html", page, "--dump", folder, self.work / "ONE_ERROR.o")
        self.assertIn("<h1>Kernels: score 85</h1>", page.read_text())
        self.assertIn("<td>no-budget</td><td>without_budget</td>", page.read_text())
        for suffix, text in ((".ptx", "ret"), (".sass", "EXIT"), (".resources", "REG ")):
            dumped = [path for path in folder.glob(f"*{suffix}") if "without_budget" in path.name]
            self.assertEqual(len(dumped), 1)
            self.assertIn(text, dumped[0].read_text())


if __name__ == "__main__":
    absent = re.search(r"(\w+) is not here", lint(SOURCE)[2])
    missing = "nvcc" if not find_nvcc() else absent.group(1) if absent else None
    if missing and "nvcc" in os.environ.get("HEMSTITCH_REQUIRE", "").split(","):
        sys.exit(f"FAILED: HEMSTITCH_REQUIRE names nvcc, and {missing} is not here (tools/setup nvcc installs it)")
    if missing:
        print(f"skipped: {missing} is not here (tools/setup nvcc installs it)")
        sys.exit(77)
    unittest.main()
