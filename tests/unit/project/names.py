#!/usr/bin/python3
"""names.py ROOT ARCHIVE..: every symbol that a library exports starts with cupel_, and no two source files bear one name."""
import collections
import os
import subprocess
import sys

# called by compiled code under names that the compiler chose, and by libFuzzer under names that it chose
COMPILER_CALLBACKS = ("__sanitizer_cov_", "__asan_", "__ubsan_", "__odr_asan")
ENGINE_CALLBACKS = ("LLVMFuzzerCustomMutator", "LLVMFuzzerCustomCrossOver")


def main():
    root, archives = sys.argv[1], sys.argv[2:]
    wrong = []
    seen = 0
    for archive in archives:
        listing = subprocess.run(["nm", "-g", "--defined-only", "--format=posix", archive], capture_output=True, text=True,
                                 check=True).stdout
        for line in listing.splitlines():
            words = line.split()
            if len(words) < 2 or words[1] not in "TDBRVW":
                continue
            if "." in words[0]:
                continue  # made by the compiler (function multiversioning); no C program can name it
            seen += 1
            if not words[0].startswith(("cupel_",) + COMPILER_CALLBACKS + ENGINE_CALLBACKS):
                wrong.append(f"{os.path.basename(archive)} exports {words[0]}")
    files = collections.defaultdict(list)
    for folder in ("oracles", "mutators", "gates", "harness"):
        for path, _, names in os.walk(os.path.join(root, folder)):
            if path.startswith(os.path.join(root, "harness/emulator/include")):
                continue  # named as CUDA names them
            for name in names:
                if name.endswith((".c", ".h")):
                    files[name].append(os.path.relpath(path, root))
    wrong += [f"{name} stands in {' and '.join(places)}" for name, places in files.items() if len(places) > 1]
    if seen == 0 or not files:
        wrong.append("nothing was looked at")
    print("\n".join(wrong) or f"{seen} exported names, {len(files)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
