#!/usr/bin/env python3
"""Blocks that searches leave out of large grids: correct kernels stay accepted and are sampled; a defect in one block, in an element
that nobody stores, or across blocks is found all the same; the same seed gives the same report; off means off."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

KERNEL = """/* cupel: 1
id: NAME
dims: {N: 1..6000}
inputs: {x: {type: f32, shape: [N]}}
outputs: {y: "f32[N]"}
ensures: {y: "x * 2"}
kernel: {entry: k, args: [x, y, N], grid: ["ceil_div(N, 32)"], block: [32]}
*/
DEVICE
__global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.x;
    BODY
}
"""

# name, device variables, the kernel's body, verdict, the gate that rejects, is it sampled
CHECKS = [
    ("plain", "", "if (i < n) y[i] = x[i] * 2;", "accepted", None, True),
    ("one-block", "", "if (i < n) y[i] = b == 37 ? x[i] * 3 : x[i] * 2;", "rejected", "CMP", True),
    ("one-block-unwritten", "", "if (i < n && b != 41) y[i] = x[i] * 2;", "rejected", "RES-01", True),
    ("last-block", "", "if (i < n) y[i] = b == gridDim.x - 1 && b > 20 ? x[i] : x[i] * 2;", "rejected", "CMP", True),
    ("stray-store", "", "if (i < n || b > 30) y[i] = i < n ? x[i] * 2 : 0;", "rejected", "RES-01", True),
    ("atomics", "", "if (i < n) atomicExch(&y[i], x[i] * 2);", "accepted", None, False),
    ("variable", "__device__ int last;", "last = b; if (i < n) y[i] = x[i] * 2;", "accepted", None, False),
    # its neighbour's block stores it again, the same value
    ("twice", "", "if (i < n) y[i] = x[i] * 2; if (i + 32 < n) y[i + 32] = x[i + 32] * 2;", "accepted", None, True),
]
CASES = 400


def report_of(cupel, kernel, folder, *more):
    command = [cupel, "check", str(kernel), "--cases", str(CASES), "--seed", "1", "--format", "json", "-q", "-o", folder, *more]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    report = json.loads(done.stdout)
    report.pop("seconds", None)
    return report


def problems(cupel, check):
    name, device, body, verdict, gate, sampled = check
    with tempfile.TemporaryDirectory() as folder:
        kernel = pathlib.Path(folder) / f"{name}.cu"
        kernel.write_text(KERNEL.replace("NAME", name).replace("DEVICE", device).replace("BODY", body))
        report = report_of(cupel, kernel, folder + "/a")
        wrong = []
        if report.get("verdict") != verdict:
            return [f"{name}: {report.get('verdict')}, expected {verdict}: {report}"]
        gates = [g["id"] for g in report["gates"] if g["status"] == "fail"]
        if gate and not any(g.startswith(gate) for g in gates):
            wrong.append(f"{name}: rejected by {gates}, expected {gate}")
        if (report["sampled"] > 0) != sampled or report["sampled"] >= CASES:
            wrong.append(f"{name}: {report['sampled']} cases were sampled")
        if name == "plain":
            wrong += more_problems(cupel, kernel, folder, report)
        return wrong


def more_problems(cupel, kernel, folder, report):
    wrong = []
    if report["sampled"] < CASES // 20:
        wrong.append(f"only {report['sampled']} of {CASES} cases were sampled")
    if report_of(cupel, kernel, folder + "/b") != report:
        wrong.append("the same seed gives another report")
    whole = report_of(cupel, kernel, folder + "/c", "--sample-blocks", "off")
    if whole["sampled"] or whole["verdict"] != "accepted":
        wrong.append(f"off: {whole['sampled']} sampled, {whole['verdict']}")
    if not 0 < report["gates"][0]["judged"] < whole["gates"][0]["judged"]:
        wrong.append("what the blocks that were left out store counts as judged")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    cupel = str(pathlib.Path(parser.parse_args().cupel).resolve())
    wrong = [problem for check in CHECKS for problem in problems(cupel, check)]
    print("\n".join(wrong) or f"{len(CHECKS)} kernels as expected")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
