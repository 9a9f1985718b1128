#!/usr/bin/python3
"""Every contract of a manifest in front of the sanitizer: accepted kernels give no report of a race or of a misaligned
access, listed racy ones give one with the lines of both accesses.

A line of the list: file, contract id, and the two lines by their comments or numbers (a text that the source line holds,
without spaces: a dot stands for one). Prints one line a contract in TAP-like form; exit status 0 when all is as it should
be. --record writes what was seen, a JSON object a line.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile


def lines_of(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.split("#")[0].split()
            if line:
                yield line


def check(options, path, contract):
    with tempfile.TemporaryDirectory() as out:
        command = [options.cupel, "check", path, "--contract", contract, "--format", "json", "-o", out, "--seed", "1",
                   "--cases", options.cases, "--sanitizer", "on", "-q"]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"error": done.stdout + done.stderr}


def races(report):
    return [f["race"] for f in report.get("findings", []) if f.get("race")]


def misaligned(report):
    return [f["text"] for f in report.get("findings", []) if f["text"].startswith("misaligned")]


def matches(path, number, pattern):
    with open(path, encoding="utf-8") as lines:
        text = lines.readlines()[number - 1]
    return re.search(pattern, text) is not None


def complain(options, path, report, patterns):
    """What is wrong with a report; patterns: None for a kernel that is correct."""
    if "sanitizer" not in report or report["sanitizer"] is None:
        return [f"no report of the sanitizer: {report.get('error', '')}"]
    seen = report["sanitizer"]
    if seen["missing"] or seen["inputs"] == 0:
        return [f"nothing was sanitized: {seen}"]
    found = races(report)
    if patterns is None:
        return [f"a report: {json.dumps(r)}" for r in found] + misaligned(report)
    for race in found:
        numbers = race["earlier"]["line"], race["later"]["line"]
        for one, two in (numbers, numbers[::-1]):
            if matches(path, one, patterns[0]) and matches(path, two, patterns[1]):
                return []
    return [f"no race between the lines {patterns}: {json.dumps(found)}"]


def run_one(options, task):
    file, contract, patterns = task
    path = os.path.join(options.folder, file)
    report = check(options, path, contract)
    wrong = complain(options, path, report, patterns)
    text = f"{'not ok' if wrong else 'ok'} {contract} ({file})"
    row = {"contract": contract, "file": file, "racy": patterns is not None, "ok": not wrong,
           "sanitizer": report.get("sanitizer"), "races": races(report)}
    return not wrong, "\n".join([text] + ["  " + w for w in wrong]), row


def tasks_of(options):
    racy = {line[1]: line[2:4] for line in lines_of(options.racy)}
    for file, contract, verdict, *_ in lines_of(options.manifest):
        if options.only and not re.search(options.only, contract):
            continue
        if contract in racy:
            yield file, contract, racy[contract]
        elif verdict == "accepted" and not options.racy_only:
            yield file, contract, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("cupel", "manifest", "folder", "racy"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--cases", default="100")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--racy-only", action="store_true")
    parser.add_argument("--record")
    options = parser.parse_args()
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for good, text, row in pool.map(lambda task: run_one(options, task), tasks_of(options)):
            print(text, flush=True)
            rows.append(row)
    if options.record:
        with open(options.record, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)
    bad = sum(not row["ok"] for row in rows)
    print(f"{len(rows) - bad} passed, {bad} failed")
    return 0 if rows and not bad else 1


if __name__ == "__main__":
    sys.exit(main())
