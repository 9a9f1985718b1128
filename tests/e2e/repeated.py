#!/usr/bin/python3
"""`--seed S --cases N` twice into two empty folders of one name gives the same findings, counts and corpus: the reports (times
aside) and the trees, byte for byte (stats/ aside). Once more with another seed, to see that the comparison can fail."""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def contents(root):
    found = {}
    for folder, _, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, root)
            if relative.startswith("stats" + os.sep):
                continue
            with open(path, "rb") as file:
                found[relative] = file.read()
    return found


def run(options, command, kernel, seed):
    with tempfile.TemporaryDirectory(prefix="cupel-repeated-") as folder:
        done = subprocess.run([options.cupel, command, os.path.abspath(kernel), "-o", "out", "--seed", str(seed), "--cases",
                               str(options.cases), "--format", "json", "-q"], cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"{command} ends with {done.returncode}: {done.stderr}")
        report = json.loads(done.stdout)
        del report["seconds"]
        return report, contents(os.path.join(folder, "out"))


def difference(a, b):
    for name in sorted(a[1].keys() | b[1].keys()):
        if a[1].get(name) != b[1].get(name):
            return f"{name} differs"
    for key in a[0]:
        if a[0][key] != b[0].get(key):
            return f"'{key}' differs:\n{json.dumps(a[0][key])[:2000]}\n{json.dumps(b[0].get(key))[:2000]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("kernels", nargs="+")
    options = parser.parse_args()
    for number, kernel in enumerate(options.kernels):
        command = ("fuzz", "check")[number % 2]
        first = run(options, command, kernel, 7)
        found = difference(first, run(options, command, kernel, 7))
        if found:
            sys.exit(f"{os.path.basename(kernel)} with {command}: {found}")
        if number == 0 and not difference(first, run(options, command, kernel, 8)):
            sys.exit("another seed gives the very same campaign")
        recipes = sum(name.endswith(".recipe") for name in first[1])
        print(f"{command} {os.path.basename(kernel)}: {len(first[0]['findings'])} finding(s), {recipes} recipes, "
              f"{len(first[1])} files, twice the same")
        if not recipes:
            sys.exit("there is no corpus to compare")
    return 0


if __name__ == "__main__":
    sys.exit(main())
