#!/usr/bin/env python3
"""What it saves that searches leave blocks of large grids out: cases for each processor second (worker, oracle and search together)
with and without, in turn, on kernels of one shape. tests/records/sampling.txt holds its table.

bench_sampling.py CUPEL SEEDS [--cases N] [--rounds N] [--only TEXT]
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

ELEMENTWISE = """/* cupel: 1
id: elementwise
dims: {N: 255900..255900}
inputs: {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "BODY"}
kernel: {entry: k, args: [x, y, N], grid: ["ceil_div(N, 256)"], block: [256]}
*/
__global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = CODE;
}
"""


def shaped(seeds, name, claimed, dims):
    text = (seeds / name).read_text()
    assert claimed in text
    return text.replace(claimed, dims)


def subjects(seeds):
    softmax, transpose = "{M: 1..512, N: 1..8192}", "{M: 1..2048, N: 1..2048}"
    return [
        ("softmax 512 x 64", shaped(seeds, "softmax.cu", softmax, "{M: 512..512, N: 64..64}")),
        ("softmax 512 x 1000", shaped(seeds, "softmax.cu", softmax, "{M: 512..512, N: 1000..1000}")),
        ("transpose 1000 x 1000", shaped(seeds, "transpose.cu", transpose, "{M: 1000..1000, N: 1000..1000}")),
        ("x + 1, 1,000 blocks", ELEMENTWISE.replace("BODY", "x + 1").replace("CODE", "x[i] + 1")),
        ("tanh, 1,000 blocks", ELEMENTWISE.replace("BODY", "tanh(x)").replace("CODE", "tanhf(x[i])")),
    ]


def rate(cupel, kernel, cases, wanted):
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [cupel, "check", str(kernel), "--engine", "draw", "--cases", str(cases), "--seed", "1", "--elements", "4000000", "-q",
                   "--format", "json", "-o", folder, "--sample-blocks", wanted]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False, env=dict(os.environ, CUPEL_SANITIZER="off"))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = json.loads(done.stdout)
        assert report["verdict"] == "accepted", report
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, report["sampled"]


def measure(cupel, kernel, cases, wanted):
    """Without what starting costs: the difference between two checks."""
    short, few = rate(cupel, kernel, cases // 10, wanted)
    long, many = rate(cupel, kernel, cases, wanted)
    return (cases - cases // 10) / (long - short), (many - few) / (cases - cases // 10)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cupel")
    parser.add_argument("seeds")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"{'kernel':24} {'whole':>8} {'sampled':>8} {'gain':>6} {'share of cases sampled':>24}")
    for name, text in subjects(pathlib.Path(options.seeds)):
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            kernel = pathlib.Path(folder) / "kernel.cu"
            kernel.write_text(text)
            rate(options.cupel, kernel, 2, "off")  # compiles it
            both = [[measure(options.cupel, kernel, options.cases, wanted) for wanted in ("off", "on")] for _ in range(options.rounds)]
        whole, sampled = (statistics.median(r[i][0] for r in both) for i in (0, 1))
        print(f"{name:24} {whole:8.0f} {sampled:8.0f} {sampled / whole:6.2f} {both[0][1][1]:24.2f}", flush=True)


if __name__ == "__main__":
    main()
