#!/usr/bin/env python3
"""The cases of the tool (tests/cli) that want a GPU, run with the tool of a bundle. tools/device-bundle makes it the test
program tool_device_test there, beside tests/cli; it takes of GoogleTest's options those that device-run gives.

  tool_cases.py [--gtest_output=json:FILE]

HEMSTITCH_REQUIRE, where it names cuda, makes a case that is skipped a failed one.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

BUNDLE = Path(__file__).resolve().parent
CASES = ("backends/cuda", "search/search_on_a_device")
EXIT_SKIPPED = 77


def run_case(name):
    """(COMPLETED or SKIPPED, whether all was well)"""
    environment = {**os.environ, "HEMSTITCH_TOOLS": str(BUNDLE), "HEMSTITCH_SANITIZE": "", "HEMSTITCH_WATCH_LIBRARY": ""}
    status = subprocess.run(["bash", BUNDLE / "tests/cli/run_case.sh", BUNDLE / f"tests/cli/cases/{name}.sh"], check=False,
                            env=environment).returncode
    if status == EXIT_SKIPPED:
        return "SKIPPED", "cuda" not in os.environ.get("HEMSTITCH_REQUIRE", "").split(",")
    return "COMPLETED", status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gtest_output", default="", metavar="json:FILE")
    parser.add_argument("--gtest_color")
    arguments = parser.parse_args()
    cases, all_well = [], True
    for name in CASES:
        start = time.monotonic()
        result, well = run_case(name)
        print(f"{'OK' if well else 'FAILED'} {name} {result}", flush=True)
        cases.append({"classname": "Tool", "name": name, "result": result, "time": f"{time.monotonic() - start:.3f}s"})
        all_well &= well
    if arguments.gtest_output:
        report = Path(arguments.gtest_output.removeprefix("json:"))
        report.write_text(json.dumps({"testsuites": [{"testsuite": cases}]}))
    sys.exit(not all_well)


if __name__ == "__main__":
    main()
