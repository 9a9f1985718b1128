#!/usr/bin/python3
"""Kernels with the defects of public bug reports: `cupel check` gives the verdict, the gate and the source lines of a manifest.

Columns: file, contract id, verdict, gates of which one must be named (- for none), a regular expression that the signature of a
finding at one of these gates must match (-: any), and the marks whose lines a finding must name (comma separated, - for none; a/b: one of them).
A mark is a comment "// line: NAME" in the kernel's file. Exit status 0 when every line holds.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile


def read_manifest(path):
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split("#")[0].split()
            if words and len(words) != 6:
                sys.exit(f"{path}:{number}: expected 6 columns, found {len(words)}")
            if words:
                yield words


def marked_lines(path):
    marks = {}
    with open(path, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            for mark in re.findall(r"// line: (\w+)", line):
                marks[mark] = number
    return marks


def names_line(finding, file, number):
    """Whether a finding names the line: file:12 in a text, file-12 in a signature, or either access of a race."""
    race = finding.get("race") or {}
    places = [race.get("earlier") or {}, race.get("later") or {}]
    if any(place.get("line") == number and os.path.basename(place.get("file", "")) == file for place in places):
        return True
    return re.search(rf"{re.escape(file)}[:-]{number}\b", json.dumps(finding)) is not None


def complaints(words, report, marks):
    file, _, verdict, gates, signature, lines = words
    findings = report["findings"]
    if report["verdict"] != verdict:
        yield f"verdict {report['verdict']}, expected {verdict}"
    at_gates = [f for f in findings if f["gate"] in gates.split(",") and f["standing"] == "proof"]
    if gates != "-" and not any(signature == "-" or re.search(signature, f["signature"]) for f in at_gates):
        yield f"no proof at {gates} that matches {signature}"
    for choice in lines.split(",") if lines != "-" else []:
        unknown = [mark for mark in choice.split("/") if mark not in marks]
        if unknown:
            yield f"the file has no mark '{unknown[0]}'"
        elif not any(names_line(f, file, marks[mark]) for f in findings for mark in choice.split("/")):
            yield f"no finding names the line of {choice}"


def run_line(options, folder, words):
    file, contract = words[:2]
    path = os.path.join(folder, file)
    with tempfile.TemporaryDirectory() as out:
        command = [options.cupel, "check", path, "--contract", contract, "--format", "json", "--seed", "1", "--cases",
                   str(options.cases), "-o", out]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    try:
        report = json.loads(done.stdout)
        wrong = list(complaints(words, report, marked_lines(path)))
    except (json.JSONDecodeError, KeyError):
        return False, f"not ok {contract}: no report\n    {done.stdout[-800:]}{done.stderr[-800:]}"
    text = [f"{'not ok' if wrong else 'ok'} {contract}: {report['verdict']}, {report['seconds']:.1f} s"]
    text += [f"    {reason}" for reason in wrong]
    if wrong:
        text += [f"    {f['gate']} {f['standing']} {f['signature']} {f['case']} {f['place']}" for f in report["findings"]]
    return not wrong, "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--manifest", required=True)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--only", help="regular expression over contract ids")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    folder = os.path.dirname(os.path.abspath(options.manifest))
    rows = list(read_manifest(options.manifest))
    missing = set(f for f in os.listdir(folder) if f.endswith(".cu")) - {row[0] for row in rows}
    for file in sorted(missing):
        print(f"not ok {file}: not in the manifest")
    rows = [row for row in rows if not options.only or re.search(options.only, row[1])]
    passed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for good, text in pool.map(lambda words: run_line(options, folder, words), rows):
            print(text, flush=True)
            passed += good
    print(f"{passed} passed, {len(rows) - passed + len(missing)} failed")
    return 0 if rows and passed == len(rows) and not missing else 1


if __name__ == "__main__":
    sys.exit(main())
