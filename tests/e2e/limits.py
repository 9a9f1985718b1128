#!/usr/bin/python3
"""Kernels at the limits of devices (limits/): RES-02 names the limit and the smallest shape that breaks it, the bundle is
replayed, correct twins are accepted, and what the compiled kernels need is reported where NVIDIA's compiler is installed.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "limits")

# file: (None, or the signatures that may stand for it and words of the finding's text or case); compiler: needs NVIDIA's
PLANTED = {
    "grid_y": ({"refused-grid.y"}, ["grid.y is 65536", "M=65536 N=1"]),
    "grid_y_loop": None,
    "grid_y_required": None,
    "shared_row": ({"refused-shared"}, ["232452 bytes of dynamic", "M=1 N=58113"]),
    "shared_row_fits": None,
    "shared_row_older": ({"refused-shared"}, ["sm_80", "M=1 N=41729"]),
    "shared_rows": ({"refused-shared", "refused"}, ["237568 bytes of dynamic", "R=29"]),
    "threads": ({"refused-threads", "refused"}, ["1056 threads a block"]),
    "threads_fit": None,
    "bounds": ({"refused-launch-bounds", "refused"}, ["__launch_bounds__ allows 128"]),
    "bounds_fit": None,
    "empty": ({"refused-empty-grid", "refused"}, ["N=0"]),
    "empty_skipped": None,
    "spills": None,
    "registers": ({"refused-registers"}, ["1024 threads a block", "registers each"]),
    "registers_bounded": None,
}
NEEDS_COMPILER = {"registers", "registers_bounded"}


def run(cupel, arguments, folder):
    return subprocess.run([cupel] + arguments, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)


def wrong_finding(cupel, folder, report, signatures, words):
    if len(report["findings"]) != 1:
        return [f"{len(report['findings'])} findings, expected 1"]
    finding, wrong = report["findings"][0], []
    if finding["gate"] != "RES-02" or finding["signature"] not in signatures:
        wrong.append(f"{finding['gate']} {finding['signature']}, expected RES-02 {sorted(signatures)}")
    said = f"{finding['text']} {finding['case']}"
    wrong += [f"'{word}' is not in '{said}'" for word in words if word not in said]
    replayed = run(cupel, ["replay", finding["bundle"]], folder)
    if replayed.returncode != 1 or f"still fails: {finding['signature']}" not in replayed.stdout:
        wrong.append(f"replay: {replayed.returncode} {replayed.stdout[-300:]}{replayed.stderr[-300:]}")
    with open(os.path.join(folder, finding["bundle"], "explain.md"), encoding="utf-8") as text:
        if finding["signature"] != "refused" and "as small as" not in text.read():
            wrong.append("the explanation does not say how small the case is")
    return wrong


def wrong_needs(name, report):
    resources = report["resources"]
    if not resources["compiler"]:
        return [] if resources["missing"] else ["nothing was compiled, and no reason is given"]
    wrong = [f"{k['entry']}: no registers" for k in resources["kernels"] if k["registers"] <= 0]
    if not resources["kernels"]:
        wrong.append("no kernel is told")
    if name == "spills" and not all(k["local"] > 0 and k["max_threads"] == 1024 for k in resources["kernels"]):
        wrong.append(f"no spill is told: {resources['kernels']}")
    if name == "shared_row_older" and {k["architecture"] for k in resources["kernels"]} != {"sm_80", "sm_90"}:
        wrong.append(f"other architectures: {resources['kernels']}")
    return wrong


def check(cupel, name, expected):
    with tempfile.TemporaryDirectory() as folder:
        done = run(cupel, ["check", os.path.join(FOLDER, name + ".cu"), "--cases", "40", "--seed", "1", "--engine", "draw",
                           "--format", "json", "--quiet"], folder)
        try:
            report = json.loads(done.stdout)
        except json.JSONDecodeError:
            return [f"no report: {done.stdout[-300:]}{done.stderr[-300:]}"], None
        if "verdict" not in report:
            return [done.stdout], None
        wrong = wrong_needs(name, report)
        if name in NEEDS_COMPILER and not report["resources"]["compiler"]:
            return [], report["resources"]["missing"]
        if (done.returncode, report["verdict"]) != ((1, "rejected") if expected else (0, "accepted")):
            wrong.append(f"{report['verdict']} {done.returncode}: {[f['signature'] for f in report['findings']]}")
        elif expected:
            wrong += wrong_finding(cupel, folder, report, *expected)
        elif report["resources"]["limits"]["unproven"]:
            wrong.append(f"not proven: {report['resources']['note']}")
        return wrong, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    options = parser.parse_args()
    failed = 0
    for name, expected in PLANTED.items():
        wrong, skipped = check(os.path.abspath(options.cupel), name, expected)
        print(f"{'not ok' if wrong else 'ok'} {name}{f' # skip {skipped}' if skipped else ''}", flush=True)
        for reason in wrong:
            print(f"    {reason}")
        failed += bool(wrong)
    print(f"{len(PLANTED) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
