#!/usr/bin/python3
"""Calibrates contracts of a manifest: shadows in place of their kernels. Every good shadow must pass, and a faulty one must be
rejected, belong to a gate that the contract does not claim, or be one that no claimed input shows. Prints a line for each contract.
With --keep a run that was stopped goes on where it was: each contract's report is kept there, for the same program and options.
With --record writes the whole: a matrix for each contract of faults and gates, and what cannot be seen, with the reason.
"""
import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

from campaign import revision

WORDS = {
    "sound": "own",
    "rejected_by_another_gate": "other",
    "evidence": "evidence",
    "passes": "PASSES",
    "unseen": "unseen",
    "unclaimed": "unclaimed",
    "unjudged": "UNJUDGED",
    "accused": "ACCUSED",
}
BAD = {"accused", "unjudged", "passes"}


def contracts(manifest, only):
    with open(manifest, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if line.startswith("#") or len(words) < 3 or words[2] != "accepted":
                continue
            if re.search(only, words[1]):
                yield words[0], words[1]


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def calibrate(options, program, file, contract):
    path = os.path.join(options.folder, file)
    key = {"program": program, "file": digest(path), "cases": options.cases, "seed": options.seed}
    kept = os.path.join(options.keep, contract + ".json") if options.keep else None
    if kept and os.path.exists(kept):
        with open(kept, encoding="utf-8") as text:
            before = json.load(text)
        if before["key"] == key:
            return before["report"]
    command = [options.cupel, "calibrate", path, "--contract", contract, "--cases", str(options.cases),
               "--seed", str(options.seed), "--format", "json", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{contract}: exit status {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    if kept:
        os.makedirs(options.keep, exist_ok=True)
        with open(kept + ".new", "w", encoding="utf-8") as out:
            json.dump({"key": key, "report": report}, out)
        os.replace(kept + ".new", kept)
    return report


def faults(report):
    return [s for s in report["shadows"] if not s["good"]]


def complaints(report):
    """What is wrong, a line each; a calibration that shows nothing is wrong too."""
    lines = [f"{s['name']}: {s['outcome']} {s.get('case', '')} {s.get('advice', '')}" for s in report["shadows"]
             if s["outcome"] in BAD]
    if not any(s["outcome"] == "sound" for s in faults(report)):
        lines.append("no faulty shadow was rejected by its own gate")
    if report["verdict"] != "accepted" and not lines:
        lines.append(f"verdict {report['verdict']}")
    return lines


def matrix(report):
    """A column for each gate that rejected a fault: F where it is the fault's own, f where not."""
    gates = sorted({g for s in faults(report) for g in s["rejected_by"]}, key=list(report["shadows"][0]["gates"]).index)
    yield " " * 22 + " ".join(gates)
    for shadow in faults(report):
        cells = [f"{('F' if gate in shadow['own_gates'] else 'f') if gate in shadow['rejected_by'] else '.':^6}" for gate in gates]
        word = {"sound": "", "rejected_by_another_gate": ""}.get(shadow["outcome"], WORDS[shadow["outcome"]])
        yield f"  {shadow['name']:20}" + (" ".join(cells) + "  " + word).rstrip()


def total(reports, word, claim):
    count = sum(WORDS[s["outcome"]] == word for r in reports for s in faults(r))
    return f"#   {count:5} {claim}\n"


def write_record(options, reports):
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    good = sum(s["good"] for r in reports for s in r["shadows"])
    with open(options.record, "w", encoding="utf-8") as out:
        out.write(f"# Calibration of the contracts of seeds/kernels (docs/calibration.md): {date}, revision {revision()}, "
                  f"{options.cases} cases a shadow, seed {options.seed}.\n"
                  f"# {len(reports)} contracts. Of {good} good shadows in place of their kernels all pass every gate. Of the faulty ones\n"
                  + total(reports, "own", "are rejected by the gate that the fault belongs to (F),")
                  + total(reports, "other", "by another (f),")
                  + total(reports, "evidence", "are told as evidence,")
                  + total(reports, "unclaimed", "belong to a gate that the contract does not claim,")
                  + total(reports, "unseen", "cannot be seen under the contract: on the inputs that it claims the fault is none."))
        for report in reports:
            out.write(f"\n{report['contract']}\n" + "\n".join(matrix(report)) + "\n")
            for shadow in faults(report):
                if shadow["outcome"] in ("unseen", "unclaimed"):
                    out.write(f"    {shadow['name']}: {shadow['advice']}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--manifest", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--only", default=".", help="regular expression over contract ids")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder of finished reports")
    parser.add_argument("--record")
    options = parser.parse_args()
    reports, failed, program = [], 0, digest(options.cupel)
    for file, contract in contracts(options.manifest, options.only):
        report = calibrate(options, program, file, contract)
        reports.append(report)
        wrong = complaints(report)
        failed += bool(wrong)
        counts = {word: sum(WORDS[s["outcome"]] == word for s in faults(report)) for word in WORDS.values()}
        told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        print(f"{'not ok' if wrong else 'ok'} {contract}: {told}", flush=True)
        for line in wrong:
            print(f"    {line}")
    if options.record and not failed:
        write_record(options, reports)
    print(f"{len(reports) - failed} passed, {failed} failed")
    return 0 if reports and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
