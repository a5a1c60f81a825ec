#!/usr/bin/env python3
"""Reads what `ctest --output-junit` wrote, for tools/check.

  tools/ctest_report.py REPORT NAME

The first line is the counts of passed, failed and skipped tests. A line for each skipped test follows, with its
reason; then each failed test with the end of its output.
"""

import re
import sys
import xml.etree.ElementTree

OUTPUT_LINES = 40


def skip_reason(output):
    """The test's own words: a line that begins with "skipped", or the one after GoogleTest's "Skipped"."""
    found = re.search(r"^(?:\S+: Skipped\n(?:skipped:? *)?|skipped:? *)(.+)$", output, re.MULTILINE | re.IGNORECASE)
    return found.group(1) if found else "no reason given"


def main():
    report, name = sys.argv[1:]
    tests = xml.etree.ElementTree.parse(report).getroot().findall("testcase")
    skipped = [test for test in tests if test.find("skipped") is not None]
    failed = [test for test in tests if test.find("failure") is not None]
    print(len(tests) - len(skipped) - len(failed), len(failed), len(skipped))
    for test in skipped:
        print(f"left out {name}: {test.get('name')}: {skip_reason(test.findtext('system-out') or '')}")
    for test in failed:
        print(f"-- {name}: {test.get('name')} FAILED")
        print("\n".join((test.findtext("system-out") or "").splitlines()[-OUTPUT_LINES:]))


if __name__ == "__main__":
    main()
