#!/usr/bin/env python3
"""Kernels of seeds/ with a defect that a faulty shadow has too: the report and the bundle name it. Where the sanitizer sees a race in
the case, they name that instead."""
import argparse
import json
import os
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
    "matmul_tf32_undeclared": ("tf32-products", "operands of products rounded to tf32"),
    "softmax_tail_zero": (None, None),
    "nan_sum": (None, None),
    # an element is left out, as by a faulty loop, because two threads count at once
    "shared_scalar": ("race", "Likely cause: a race between accesses that nothing orders."),
    # written below
    "tree_in_half": ("f16-accumulator", "an fp16 accumulator"),
    "stretches_in_half": ("f16-accumulator", "an fp16 accumulator"),
    "stored_as_half": (None, None),
    "cut_to_tf32": ("tf32-cut", "operands of products cut to tf32"),
    "one_cut_to_bf16": ("bf16-cut", "operands of products cut to bf16"),
}
GATES = {"tree_in_half": "PRC-02", "stretches_in_half": "PRC-02", "stored_as_half": "CMP-01", "cut_to_tf32": "PRC-02",
         "one_cut_to_bf16": "PRC-02", "matmul_tf32_undeclared": "PRC-02"}

# Dot products of which the minimal case is a single product: there all of them look alike.
DOT = """/* cupel: 1
id: dot
dims:    {{M: 1..64, K: 1..512}}
inputs:  {{a: {{type: {type}, shape: [M, K], range: [-4, 4]}}, x: {{type: {type}, shape: [K], range: [-4, 4]}}}}
outputs: {{y: "f32[M]"}}
ensures: {{y: "matmul(a, x)"}}
kernel:  {{entry: dot, args: [a, x, y, K], grid: [M], block: [64]}}
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ float wide(float v) {{ return v; }}
__device__ float wide(__half v) {{ return __half2float(v); }}
__device__ float half_of(float v) {{ return __half2float(__float2half(v)); }}
__device__ float cut(float v, unsigned mask) {{ return __uint_as_float(__float_as_uint(v) & mask); }}

__global__ void dot(const {cuda} *a, const {cuda} *x, float *y, int k) {{
    __shared__ float part[64];
    const int t = threadIdx.x, length = (k + 63) / 64;
    float s = 0;
    a += static_cast<size_t>(blockIdx.x) * k;
    for (int i = {begin}; i < {end}; i += {step}) {{
        const float l = wide(a[i]), r = wide(x[i]);
        s = {add};
    }}
    part[t] = s;
    __syncthreads();
    for (int n = 32; n > 0; n /= 2) {{
        if (t < n) part[t] = {join};
        __syncthreads();
    }}
    if (t == 0) y[blockIdx.x] = {store};
}}
"""
PLAIN = {"type": "f32", "cuda": "float", "begin": "t", "end": "k", "step": "64", "add": "s + l * r", "join": "part[t] + part[t + n]",
         "store": "part[0]"}
HALF = {**PLAIN, "type": "f16", "cuda": "__half", "add": "half_of(s + half_of(l * r))", "join": "half_of(part[t] + part[t + n])"}
DOTS = {
    "tree_in_half": HALF,
    "stretches_in_half": {**HALF, "begin": "t * length", "end": "min((t + 1) * length, k)", "step": "1"},
    "stored_as_half": {**PLAIN, "store": "half_of(part[0])"},
    "cut_to_tf32": {**PLAIN, "add": "s + cut(l, 0xffffe000u) * cut(r, 0xffffe000u)"},
    "one_cut_to_bf16": {**PLAIN, "add": "s + l * cut(r, 0xffff0000u)"},
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


def check(cupel, kernel, cases, folder):
    command = [cupel, "check", kernel, "--cases", str(cases), "--seed", "1", "--format", "json", "-o", folder]
    environment = dict(os.environ)
    if "race" in CAUSES[kernel.stem]:
        environment.pop("CUPEL_SANITIZER", None)  # which tells of it
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)["findings"]


def problems(name, findings):
    cause, words = CAUSES[name]
    if not findings:
        return [f"{name}: no finding"]
    first = ([f for f in findings if f["got"]] or findings)[0]
    if first["gate"] != GATES.get(name, first["gate"]):
        return [f"{name}: expected {GATES[name]}, found {first['gate']}"]
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
    parser.add_argument("--cases", type=int, default=300)
    options = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        written = {"nan_sum": pathlib.Path(folder) / "nan_sum.c",
                   "shared_scalar": pathlib.Path(__file__).parent / "reports/shared_scalar.cu"}
        written["nan_sum"].write_text(NAN_SUM)
        for name, parts in DOTS.items():
            written[name] = pathlib.Path(folder) / f"{name}.cu"
            written[name].write_text(DOT.format(**parts))
        for name in CAUSES:
            kernel = written.get(name, pathlib.Path(options.kernels) / f"{name}.cu")
            failures += problems(name, check(options.cupel, kernel, options.cases, folder))
    print("\n".join(failures) if failures else "every cause is named")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
