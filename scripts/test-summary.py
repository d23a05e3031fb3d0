#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sums up what `meson test` did in the given build folders, from their testlog.json.

Prints the end of each failing test's log, each suite's seconds and one closing line; exits with 1 when a test failed,
a build is broken or nothing ran.
"""
import argparse
import json
import pathlib
import sys
from collections import defaultdict

TAIL = 40
WIDTH = 240  # of a line; some tests print whole kernels
PASSED = {"OK", "EXPECTEDFAIL"}
SKIPPED = {"SKIP"}


def read_log(folder):
    """The tests of a build folder as (suite, name, outcome, seconds, output)."""
    log = pathlib.Path(folder, "meson-logs", "testlog.json")
    if not log.exists():
        return
    for line in log.read_text().splitlines():
        test = json.loads(line)
        # Meson's name is "project:suite+suite / test"; the first part is missing when there is only one suite.
        suite, _, name = test["name"].rpartition(" / ")
        suite = suite.partition(":")[2] or suite or "-"
        yield suite, name, test["result"], test["duration"], test.get("stdout", "") + test.get("stderr", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", help="build folders")
    parser.add_argument("--broken", action="append", default=[], help="a build folder whose build failed")
    args = parser.parse_args()

    seconds, count = defaultdict(float), defaultdict(int)
    passed, failed, skipped = 0, 0, []
    for folder in args.folders:
        for suite, name, outcome, duration, output in read_log(folder):
            seconds[folder, suite] += duration
            count[folder, suite] += 1
            if outcome in PASSED:
                passed += 1
            elif outcome in SKIPPED:
                skipped.append(f"{folder}: {name}")
            else:
                failed += 1
                print(f"\n---- {folder}: {suite} / {name}: {outcome}; the last {TAIL} lines of its log:")
                for line in output.splitlines()[-TAIL:]:
                    print(line if len(line) <= WIDTH else f"{line[:WIDTH - 80]} … {line[-77:]}")
                if outcome == "TIMEOUT":
                    print(f"On a slow or busy machine: meson test -C {folder} --timeout-multiplier 4 {name}")

    print(f"\n{'build':<16} {'suite':<24} {'tests':>5} {'seconds':>8}")
    for folder, suite in sorted(seconds):
        print(f"{folder:<16} {suite:<24} {count[folder, suite]:>5} {seconds[folder, suite]:>8.1f}")
    if skipped:
        print("skipped: " + ", ".join(skipped))
    for folder in args.broken:
        print(f"{folder}: the build failed; none of its tests ran")
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped")
    return 1 if failed or args.broken or not passed + failed + len(skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
