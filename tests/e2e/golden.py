#!/usr/bin/python3
"""Command-line tests: each cli/NAME.sh is run in an empty folder, and what it prints (both streams) is compared with
cli/NAME.expected. In a script, `try COMMAND ..` shows the command, what it prints and its exit status; `cupel` is the program
under test, $KERNELS the folder of the seed kernels. Times, rates, temporary paths and the tool's counts of tries vary and are
masked. --rewrite writes the expected files anew: review the difference before committing it.
"""
import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile

PROLOGUE = """
set -u
try() { echo "\\$ $*"; "$@" 2>&1; echo "-> $?"; }
"""

MASKS = [
    (re.compile(r"\b\d+(\.\d+)? s\b"), "TIME s"),
    (re.compile(r"\(\d+ a second\)"), "(RATE a second)"),
    (re.compile(r"\"seconds\": [0-9.e+-]+"), '"seconds": TIME'),
    (re.compile(r"tries     \d+, of which \d+"), "tries     N, of which N"),
    (re.compile(r"^note: .*\n", re.MULTILINE), ""),
    # what NVIDIA's compiler says, where there is one
    (re.compile(r"^resources .*\n", re.MULTILINE), ""),
    (re.compile(r"^RES-02( resource limits)? +(pass|not.available)\b.*$", re.MULTILINE), r"RES-02 WITHOUT A FINDING"),
]


def run(cupel, kernels, script):
    with open(script, encoding="utf-8") as text, tempfile.TemporaryDirectory() as folder:
        bin_folder = os.path.join(folder, "bin")
        work = os.path.join(folder, "work")
        os.mkdir(bin_folder)
        os.mkdir(work)
        os.symlink(os.path.abspath(cupel), os.path.join(bin_folder, "cupel"))
        os.symlink(os.path.abspath(kernels), os.path.join(work, "kernels"))
        environment = dict(os.environ, PATH=bin_folder + ":" + os.environ["PATH"], KERNELS="kernels", LC_ALL="C")
        done = subprocess.run(["bash", "-c", PROLOGUE + text.read()], cwd=work, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        output = done.stdout.replace(folder, "FOLDER")
    for pattern, mask in MASKS:
        output = pattern.sub(mask, output)
    return output


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("--only", default=".", help="regular expression over names")
    options = parser.parse_args()
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cli")
    passed = failed = 0
    for name in sorted(n[:-3] for n in os.listdir(folder) if n.endswith(".sh")):
        if not re.search(options.only, name):
            continue
        output = run(options.cupel, options.kernels, os.path.join(folder, name + ".sh"))
        expected_path = os.path.join(folder, name + ".expected")
        if options.rewrite:
            with open(expected_path, "w", encoding="utf-8") as expected:
                expected.write(output)
        with open(expected_path, encoding="utf-8") as expected:
            wanted = expected.read()
        good = wanted == output
        print(f"{'ok' if good else 'not ok'} {name}")
        if not good:
            sys.stdout.writelines(difflib.unified_diff(wanted.splitlines(True), output.splitlines(True), "expected", "found"))
        passed, failed = passed + good, failed + (not good)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
