#!/usr/bin/python3
"""Runs `cupel check` on every contract of a manifest and compares verdict, gates and signatures with it.

A manifest line: file, contract id, verdict, gates (comma separated, - for none) and, optionally, a regular expression
that every finding's signature must match, and another one for its minimal case, in which a dot stands for a space. The
gates of a rejected kernel are those that may be named; the gates of an accepted one are those before which it looks
guilty: the report must say that they were put to the test. A rejected kernel is tried with few cases first, and with
up to --cases-rejected where the few find nothing of what the manifest says. Prints one line a contract and a summary in
TAP-like form; exit status 0 when everything is as the manifest says.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time

FEW_CASES = (30, 100, 300, 1000)


def read_manifest(path):
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.split("#")[0].split()
            if not line:
                continue
            if len(line) not in (4, 5, 6):
                sys.exit(f"{path}:{number}: expected 4 to 6 columns, found {len(line)}")
            line += [None] * (6 - len(line))
            yield line[:3] + [set(line[3].split(",")) - {"-"}, line[4], line[5]]


def check(cupel, path, contract, arguments, folder, variables=()):
    """Exit status, report or None, text, seconds. variables: of the environment, a map."""
    command = [cupel, "check", path, "--contract", contract, "--format", "json", "-o", folder] + arguments
    started = time.monotonic()
    environment = dict(os.environ, **dict(variables))
    environment.setdefault("CUPEL_SANITIZER", "off")  # sanitizer.py is about that
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment, check=False)
    seconds = time.monotonic() - started
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        report = {}
    if "verdict" in report:
        return done.returncode, report, done.stderr, seconds
    return done.returncode, None, done.stdout + done.stderr, seconds


def needs_a_compiler(gate):
    """RES-02 is not available where NVIDIA's run-time compiler is not installed."""
    return gate["id"] == "RES-02" and gate["status"] == "not_available"


def complaints(verdict, gates, signature, case, code, report, folder):
    if report is None:
        return ["no JSON report"]
    found = []
    if report["verdict"] != verdict:
        found.append(f"verdict {report['verdict']}, expected {verdict}")
    wanted_code = {"accepted": 0, "rejected": 1, "inconclusive": 3}[verdict]
    if code != wanted_code:
        found.append(f"exit status {code}, expected {wanted_code}")
    proofs = [f for f in report["findings"] if f["standing"] == "proof"]
    if verdict == "rejected" and not any(f["gate"] in gates for f in proofs):
        found.append(f"named {sorted({f['gate'] for f in proofs})}, expected one of {sorted(gates)}")
    if verdict == "accepted" and not any(g["judged"] for g in report["gates"]):
        found.append("nothing was judged")
    if verdict == "accepted":
        found += [f"{g['id']} is {g['status']}, expected pass" for g in report["gates"]
                  if g["id"] in gates and g["status"] != "pass" and not needs_a_compiler(g)]
    for f in proofs:
        if signature and not re.search(signature, f["signature"]):
            found.append(f"signature {f['signature']} does not match {signature}")
        if case and not re.search(case, f["case"]):
            found.append(f"the minimal case {f['case']} does not match {case}")
        bundle = f.get("bundle")
        if not bundle or not os.path.exists(os.path.join(folder, bundle, "case.yaml")) and not os.path.exists(
                os.path.join(bundle, "case.yaml")):
            found.append(f"finding {f['signature']} has no bundle")
    return found


def numbers_of_cases(options, verdict):
    """What to try in turn, as arguments of cupel check."""
    if verdict == "accepted":
        return [["--cases", options.cases_accepted]]
    if options.cases_rejected == "default":
        return [[]]
    most = int(options.cases_rejected)
    return [["--cases", str(cases)] for cases in FEW_CASES if cases < most] + [["--cases", str(most)]]


def run_line(options, folder, line):
    """One contract of the manifest: whether it came out as it says, and the text to print."""
    file, contract, verdict, gates, signature, case = line
    for cases in numbers_of_cases(options, verdict):
        with tempfile.TemporaryDirectory() as out:
            code, report, text, seconds = check(options.cupel, os.path.join(folder, file), contract,
                                                ["--seed", options.seed] + cases, out)
            wrong = complaints(verdict, gates, signature, case, code, report, out)
        if not wrong:
            break
    if options.limit and verdict == "rejected" and seconds > options.limit:
        wrong.append(f"took {seconds:.1f} s, more than {options.limit:g}")
    cases = report["cases"] if report else 0
    named = ",".join(sorted({f["gate"] for f in report["findings"]})) if report else ""
    lines = [f"{'not ok' if wrong else 'ok'} {contract}: {verdict} {named} {cases} cases {seconds:.1f} s"]
    lines += [f"    {reason}" for reason in wrong]
    if wrong and report is None:
        lines.append("    " + text[-2000:].replace("\n", "\n    "))
    if wrong and report:
        lines += [f"    finding {f['gate']} {f['signature']}: {json.dumps(f)[:600]}" for f in report["findings"]]
    return not wrong, "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--manifest", required=True)
    parser.add_argument("--folder", help="where the files of the manifest lie; default: beside it")
    parser.add_argument("--cases-accepted", default="3000")
    parser.add_argument("--cases-rejected", default="default", help="a number, or default: the default budget of 20 seconds")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", help="regular expression over contract ids")
    parser.add_argument("--limit", type=float, default=0, help="a rejection slower than this many seconds fails")
    parser.add_argument("--jobs", type=int, default=1, help="checks side by side; one where they are limited by time")
    options = parser.parse_args()
    folder = options.folder or os.path.dirname(options.manifest)
    lines = [line for line in read_manifest(options.manifest) if not options.only or re.search(options.only, line[1])]
    passed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for good, text in pool.map(lambda line: run_line(options, folder, line), lines):
            print(text, flush=True)
            passed += good
    print(f"{passed} passed, {len(lines) - passed} failed")
    return 0 if lines and passed == len(lines) else 1


if __name__ == "__main__":
    sys.exit(main())
