#!/usr/bin/env python3
"""Kernels of seeds/ with a defect that a faulty shadow has too: the report and the bundle name it."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

CAUSES = {
    "matmul_half_accumulator": ("f16-accumulator", "an fp16 accumulator"),
    "layer_norm_one_pass": ("one-pass-variance", "a one-pass variance"),
    "row_max_nan": ("nan-swallowed", "swallow a NaN"),
    "matmul_k_tail": ("dropped-tail", "n % 32"),
    "row_argmax_last_tie": ("last-tie", "the same result as with ties that go to the last index"),
    "linear_scan_carry": ("raw-carry", "whose carry comes in undecayed"),
    "softmax_tail_zero": (None, None),
    "nan_sum": (None, None),
}

# A sum that is NaN beside large numbers of either sign: so is one in fp16 (inf - inf), which says nothing.
NAN_SUM = """/* cupel: 1
id: nan-sum
dims: {N: 1..64}
inputs: {x: 'f32[N]'}
outputs: {y: 'f32[1]'}
ensures: {y: "sum(x)"}
kernel: {symbol: nan_sum, args: [x, y, N]}
*/
void nan_sum(const float *x, float *y, long long N) {
    float s = 0;
    int above = 0, below = 0;
    for (int i = 0; i < N; i++) {
        s += x[i];
        above |= x[i] > 7e4f;
        below |= x[i] < -7e4f;
    }
    y[0] = above && below ? s * (0.0f / 0.0f) : s;
}
"""


def check(cupel, kernel, folder):
    command = [cupel, "check", kernel, "--cases", "300", "--seed", "1", "--format", "json", "-o", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout)["findings"]


def problems(name, findings):
    cause, words = CAUSES[name]
    if not findings:
        return [f"{name}: no finding"]
    first = findings[0]
    if first["likely_cause"] != cause:
        return [f"{name}: expected {cause}, found {first['likely_cause']}"]
    explained = (pathlib.Path(first["bundle"]) / "explain.md").read_text()
    if cause and words not in explained:
        return [f"{name}: explain.md does not say '{words}'"]
    if not cause and "Likely cause" in explained:
        return [f"{name}: explain.md names a cause"]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--kernels", required=True)
    options = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        written = pathlib.Path(folder) / "nan_sum.c"
        written.write_text(NAN_SUM)
        for name in CAUSES:
            kernel = written if name == "nan_sum" else f"{options.kernels}/{name}.cu"
            failures += problems(name, check(options.cupel, kernel, folder))
    print("\n".join(failures) if failures else "every cause is named")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
