#!/usr/bin/python3
"""listed.py ROOT RUN_FEATURES: docs/device-features.md has a row for every test of a feature, and every row has a test.

A row's third column names FILE/KERNEL of run_features --list, refused/KERNEL for a marked kernel of refused.cu, or a path in
the tree.
"""
import os
import re
import subprocess
import sys


def refused_kernels(path):
    names, kernel = set(), None
    with open(path, encoding="utf-8") as source:
        for line in source:
            head = re.match(r"__global__ void (?:__\w+__\([^)]*\) )?(\w+)\(", line)
            kernel = head.group(1) if head else kernel
            if "// refused: " in line:
                names.add(f"refused/{kernel}")
    return names


def rows(path):
    found = []
    with open(path, encoding="utf-8") as document:
        for number, line in enumerate(document, 1):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if line.startswith("| ") and len(cells) >= 3 and cells[0] not in ("feature", "---"):
                found.append((number, cells))
    return found


def main():
    root, program = sys.argv[1:3]
    listed = subprocess.run([program, "-", "-", "--list"], capture_output=True, text=True, check=True).stdout.split()
    tests = set(listed) | refused_kernels(os.path.join(root, "tests/features/refused.cu"))
    wrong, seen = [], set()
    for number, cells in rows(os.path.join(root, "docs/device-features.md")):
        test = cells[2]
        if test in seen and test in tests:
            wrong.append(f"line {number}: {test} has two rows")
        seen.add(test)
        if test not in tests and not os.path.exists(os.path.join(root, test)):
            wrong.append(f"line {number}: no test '{test}'")
    wrong += [f"no row for {test}" for test in sorted(tests - seen)]
    if len(seen & tests) < 60:
        wrong.append(f"only {len(seen & tests)} features are listed")
    print("\n".join(wrong) or f"{len(seen & tests)} features, each with its test")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
