#!/usr/bin/python3
"""`cupel replay --gdb`: gdb stops at the kernel's line, with its thread, for a wrong store, a bad access, an element that is
never written, and a fault. Exit status 77 where gdb is not installed or may not trace."""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

# kernel, bundle, what gdb must print in this order
STOPS = [
    ("softmax_tail_zero.cu", "*wrong-value*",
     [r"cupel: .*store 1 of 1 to the element", r"blockIdx \(0, 0, 0\), threadIdx \(0, 0, 0\)",
      r"softmax_tiled \(x=.*, N=\d+\) at .*softmax_tail_zero\.cu:59", r"^59\s.*y\[i\] = expf"]),
    ("rms_norm_over_read.cu", "*bad-access*",
     [r"cupel: out of bounds read", r"rms_norm_warp \(.*\) at .*rms_norm_over_read\.cu:25", r"^25\s.*in\[i\]"]),
    ("transpose_square.cu", "*unwritten*",
     [r"cupel: there is no store to stop at", r"transpose_tiled.*transpose_square\.cu:\d+"]),
    ("transpose_square.cu", "*fault-out-of-bounds*",
     [r"cupel_emu_watch_hit", r"blockIdx", r"transpose_tiled.* at .*transpose_square\.cu:33"]),
]


def run(command, folder):
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=300, check=False).stdout


def in_order(patterns, text):
    for pattern in patterns:
        found = re.search(pattern, text, re.MULTILINE)
        if not found:
            return pattern
        text = text[found.end():]
    return None


def may_trace():
    return "exited" in run(["gdb", "-nx", "-batch", "-ex", "set startup-with-shell off", "-ex", "run", "/bin/true"], "/")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--kernels", required=True)
    options = parser.parse_args()
    if not shutil.which("gdb") or not may_trace():
        print("skipped: gdb is not installed, or may not trace")
        sys.exit(77)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for kernel, pattern, expected in STOPS:
            path = os.path.join(os.path.abspath(options.kernels), kernel)
            out = os.path.join(folder, kernel)
            if not os.path.exists(out):
                run([options.cupel, "check", path, "--seed", "1", "--cases", "100", "--quiet", "-o", out], folder)
            bundles = glob.glob(os.path.join(out, "crashes", "*", pattern))
            text = run([options.cupel, "replay", "--gdb", bundles[0]], folder) if bundles else ""
            missing = in_order(expected, text)
            failed += missing is not None
            print(f"{'not ok' if missing else 'ok'} {kernel} {pattern}" + (f"\nno '{missing}' in:\n{text}" if missing else ""))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
