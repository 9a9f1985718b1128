#!/usr/bin/env python3
"""Contracts under which a kernel that computes nothing would pass: the gates that judge values are not exercised, with the reason, and
the check is inconclusive. And contracts that ask for little, where that is right."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

KERNEL = """/* cupel: 1
id: NAME
dims: {N: 1..64}
inputs: {x: {type: f32, shape: [N]INPUT}}
outputs: {y: "f32[N]"}
ensures: {y: "ENSURES"}
TOLERANCE
kernel: {symbol: f, args: [x, y, N]}
*/
void f(const float *x, float *y, long long N) {
    for (int i = 0; i < N; i++) y[i] = RESULT;
}
"""

# Zeros are told from others by the sign of a zero, where x is one; a copy is not.
# name, range of x, postcondition, tolerance, the kernel's expression, verdict, words of the reason of CMP-01
CHECKS = [
    ("plain", "", "x * 2", "", "x[i] * 2", "accepted", None),
    ("wide_tolerance", ", range: [-10, 10]", "x * 2", "tolerance: {y: {abs: 1e6}}", "x[i] * 2", "inconclusive", "a copy of an input"),
    ("zero_inputs", ", range: [0, 0]", "x * 2", "", "x[i] * 2", "inconclusive", "a copy of an input"),
    ("constant_result", ", range: [2, 3]", "clamp(x, 0, 1)", "", "1", "inconclusive", "one constant"),
    ("identity", "", "x", "", "x[i]", "accepted", None),
    ("copy_in_range", ", range: [1, 2]", "relu(x)", "", "x[i]", "inconclusive", "a copy of an input"),
]


def problems(cupel, folder, check):
    name, values, ensures, tolerance, result, verdict, words = check
    text = KERNEL.replace("NAME", name.replace("_", "-")).replace("INPUT", values).replace("ENSURES", ensures)
    kernel = pathlib.Path(folder) / f"{name}.c"
    kernel.write_text(text.replace("TOLERANCE\n", tolerance + "\n" if tolerance else "").replace("RESULT", result))
    command = [cupel, "check", str(kernel), "--cases", "200", "--seed", "1", "--format", "json", "-o", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    if "verdict" not in report:
        return [f"{name}: {done.stdout}"]
    wrong = []
    if report["verdict"] != verdict:
        wrong.append(f"{name}: {report['verdict']}, expected {verdict}")
    for gate in report["gates"]:
        if gate["id"] not in ("CMP-01", "CMP-03", "PRC-01"):
            continue
        vacuous = gate["status"] == "not_exercised" and (gate["why"] or "").startswith("vacuous")
        if vacuous != (words is not None) or (words and words not in gate["why"]):
            wrong.append(f"{name}: {gate['id']} is {gate['status']}: {gate['why']}")
    if words and words not in report.get("reason", ""):
        wrong.append(f"{name}: the reason is '{report.get('reason')}'")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    options = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for check in CHECKS:
            failures += problems(options.cupel, folder, check)
    print("\n".join(failures) or f"{len(CHECKS)} contracts")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
