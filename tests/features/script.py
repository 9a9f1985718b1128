#!/usr/bin/python3
"""script.py ROOT RUN_FEATURES: tests/gpu/features.sh goes on after a file that kills its process, and says how it ended."""
import os
import subprocess
import sys
import tempfile

# lists as run_features does; runs nothing: a file's status is its digit in STATUSES, and "k" is a process that is killed
FAKE = """#!/bin/sh
case "$*" in *--list*) exec {program} "$@" ;; esac
echo "ran $5"
case " $STATUSES " in *" $5=k "*) kill -9 $$ ;; *" $5=1 "*) exit 1 ;; *" $5=3 "*) exit 3 ;; esac
exit 0
"""
FILES = ["votes", "integers", "atomics"]  # in run_features' order
CASES = [("", 0), ("votes=k", 1), ("votes=1 atomics=k", 1), ("integers=3", 1), ("votes=3 integers=3 atomics=3", 3)]


def main():
    root, program = sys.argv[1:]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        fake = os.path.join(folder, "fake")
        with open(fake, "w", encoding="utf-8") as out:
            out.write(FAKE.format(program=program))
        os.chmod(fake, 0o755)
        for statuses, expected in CASES:
            done = subprocess.run([os.path.join(root, "tests/gpu/features.sh")] + FILES, stdout=subprocess.PIPE, text=True,
                                  env=dict(os.environ, RUN_FEATURES=fake, STATUSES=statuses), check=False)
            ran = [line[4:] for line in done.stdout.splitlines() if line.startswith("ran ")]
            if done.returncode != expected or ran != FILES:
                print(f"not ok with '{statuses}': status {done.returncode}, expected {expected}; ran {ran}\n{done.stdout}")
                failed += 1
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
