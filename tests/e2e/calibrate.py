#!/usr/bin/python3
"""Calibrates contracts of a manifest: shadows in place of their kernels. Every good shadow must pass, and a faulty one must be
rejected, change no judged element, belong to a gate that the contract does not claim, or pass for a clause of the contract that is
named. Prints a line for each contract, and with --record writes the whole table: how each faulty shadow ended.
"""
import argparse
import json
import os
import re
import subprocess
import sys

LETTERS = {
    "sound": "own",
    "rejected_by_another_gate": "other",
    "evidence": "evidence",
    "passes": "PASSES",
    "unseen": "unseen",
    "unclaimed": "unclaimed",
    "unjudged": "UNJUDGED",
    "accused": "ACCUSED",
}
BAD = {"accused", "unjudged"}


def contracts(manifest, only):
    with open(manifest, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if line.startswith("#") or len(words) < 3 or words[2] != "accepted":
                continue
            if re.search(only, words[1]):
                yield words[0], words[1]


def calibrate(options, file, contract):
    command = [options.cupel, "calibrate", os.path.join(options.folder, file), "--contract", contract, "--cases", str(options.cases),
               "--seed", "1", "--format", "json", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{contract}: exit status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def faults(report):
    return [s for s in report["shadows"] if not s["good"]]


def complaints(report):
    """What is wrong, a line each; a calibration that shows nothing is wrong too."""
    lines = [f"{s['name']}: {s['outcome']} {s.get('case', '')} {s.get('advice', '')}" for s in report["shadows"]
             if s["outcome"] in BAD or (s["outcome"] == "passes" and "no clause" in s["advice"])]
    if not any(s["outcome"] == "sound" for s in faults(report)):
        lines.append("no faulty shadow was rejected by its own gate")
    under_specified = any(s["outcome"] == "passes" for s in report["shadows"])
    if report["verdict"] != ("rejected" if under_specified else "accepted") and not lines:
        lines.append(f"verdict {report['verdict']}")
    return lines


def write_record(path, cases, reports):
    names = sorted({s["name"] for r in reports for s in faults(r)})
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"# Faulty shadows in place of the kernels of seeds/, {cases} cases each, seed 1 (docs/calibration.md). own: rejected by\n"
                  "# the gate that the fault belongs to; other: by another, which is named; unseen: no judged element of any case changes;\n"
                  "# unclaimed: the contract does not claim that gate. The good shadows of every contract pass.\n")
        for name in names:
            out.write(f"\n{name}\n")
            for report in reports:
                for shadow in (s for s in faults(report) if s["name"] == name):
                    word = LETTERS[shadow["outcome"]]
                    gates = " ".join(shadow["rejected_by"])
                    out.write(f"  {report['contract']:32} {word:9} {gates}".rstrip() + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--manifest", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--only", default=".", help="regular expression over contract ids")
    parser.add_argument("--record")
    options = parser.parse_args()
    reports, failed = [], 0
    for file, contract in contracts(options.manifest, options.only):
        report = calibrate(options, file, contract)
        reports.append(report)
        wrong = complaints(report)
        failed += bool(wrong)
        counts = {word: sum(LETTERS[s["outcome"]] == word for s in faults(report)) for word in LETTERS.values()}
        told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        print(f"{'not ok' if wrong else 'ok'} {contract}: {told}", flush=True)
        for line in wrong:
            print(f"    {line}")
    if options.record and not failed:
        write_record(options.record, options.cases, reports)
    print(f"{len(reports) - failed} passed, {failed} failed")
    return 0 if reports and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
