#!/usr/bin/env python3
"""A mean that is off by a part in twenty thousand: over 4,096 numbers that is inside the sound radius, whatever the numbers, and
far beyond what good kernels do. It is evidence: printed, and no reason to reject unless that is asked for; the last line says so."""
import argparse
import json
import subprocess
import sys
import tempfile

KERNEL = """/* cupel: 1
id: loose-mean
dims:    {M: 1..4, N: 4096}
inputs:  {x: {type: f32, shape: [M, N], range: [-100, 100]}}
outputs: {y: "f32[M]"}
ensures: {y: "mean(x, axis=-1)"}
kernel:
  entry: loose_mean
  args:  [x, y, N]
  grid:  [M]
  block: [1]
*/
extern "C" __global__ void loose_mean(const float *x, float *y, int N) {
    float sum = 0;
    for (int i = 0; i < N; i++) sum += x[blockIdx.x * N + i];
    y[blockIdx.x] = sum / N * FACTOR;
}
"""


def check(cupel, folder, factor, standing):
    kernel = f"{folder}/loose_mean.cu"
    with open(kernel, "w", encoding="utf-8") as out:
        out.write(KERNEL.replace("FACTOR", factor))
    command = [cupel, "check", kernel, "--cases", "60", "--seed", "1", "--standing", standing, "--format", "json",
               "-o", f"{folder}/{standing}{factor}"]
    done = subprocess.run(command, capture_output=True, text=True)
    report = json.loads(done.stdout)
    return done.returncode, report["verdict"], [(f["kind"], f["standing"], f["minimised"]) for f in report["findings"]]


def last_line(cupel, folder, factor):
    command = [cupel, "check", f"{folder}/loose_mean.cu", "--cases", "60", "--seed", "1", "-o", f"{folder}/text{factor}"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip().split("\n")[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    options = parser.parse_args()
    found = [("far less accurate than good kernels", "evidence", True)]
    expected = {
        ("1.00005f", "proof"): (0, "accepted", found),
        ("1.00005f", "evidence"): (1, "rejected", found),
        ("1.0f", "evidence"): (0, "accepted", []),
    }
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for (factor, standing), wanted in expected.items():
            got = check(options.cupel, folder, factor, standing)
            if got != wanted:
                print(f"factor {factor}, standing {standing}: expected {wanted}, found {got}")
                failures += 1
            words = ", with 1 finding as evidence: CMP-01 " + found[0][0] if wanted[2] else ""
            expected_line = f"ACCEPTED{words} (60 cases, "
            line = last_line(options.cupel, folder, factor)
            if not line.startswith(expected_line):
                print(f"factor {factor}: expected '{expected_line}..', found '{line}'")
                failures += 1
    print("evidence changes nothing unless asked" if not failures else f"{failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
