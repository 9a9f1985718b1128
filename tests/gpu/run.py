#!/usr/bin/env python3
"""Everything that needs a GPU, from built binaries: seeds, planted faults, emulator against GPU, leftovers, rates.

Prints one line a step and a table at the end; exit status 0 when every line holds. Needs no compiler: the emulator works
from objects that `cupel build` made (scripts/gpu.sh prepare).
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

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Defects whose effect a GPU's memory or its quiet answer hides: what is accepted there, and why.
HIDDEN = {
    "rms-norm-over-read": "a read past the end that changes no result",
}
# What two threads do to each other shows on a GPU by luck alone: the table says what it showed.
RACES = {"cumsum-carry-race", "row-softmax-missing-barrier", "gemv-missing-barrier", "warp-sum-no-sync"}


def read_manifest(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words:
                yield words


def run(arguments, limit):
    started = time.monotonic()
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=limit)
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, out, err = -1, "", f"no end after {limit} s"
    try:
        report = json.loads(out)
    except json.JSONDecodeError:
        report = None
    return code, report, err, time.monotonic() - started


class Table:
    def __init__(self):
        self.rows = []

    def add(self, part, name, good, text):
        self.rows.append((part, name, good, text))
        print(f"{'ok    ' if good else 'NOT OK'} {part:8} {name:26} {text}", flush=True)

    def summary(self):
        print("\npart       lines   not ok")
        for part in dict.fromkeys(row[0] for row in self.rows):
            rows = [row for row in self.rows if row[0] == part]
            print(f"{part:10} {len(rows):5} {sum(not row[2] for row in rows):8}")
        for row in self.rows:
            if not row[2]:
                print("not ok:", *row[:2], row[3])
        return all(row[2] for row in self.rows)


def describe(code, report, err):
    if report is None:
        return f"no report (status {code}): {err.strip()[-200:]}"
    if "verdict" not in report:
        return f"error: {json.dumps(report)[:200]}"
    gates = ",".join(sorted({f["gate"] for f in report["findings"]}))
    return f"{report['verdict']} {gates} {report['cases']} cases in {report['seconds']:.1f} s"


def judge_check(wanted, gates, signature, report):
    if report is None or report.get("verdict") != wanted:
        return False
    proofs = [f for f in report["findings"] if f["standing"] == "proof"]
    if wanted == "accepted":
        return any(g["judged"] for g in report["gates"])
    named = [f for f in proofs if f["gate"] in gates]
    return bool(named) and (not signature or any(re.search(signature, f["signature"]) for f in named))


def check(options, path, contract, cases, executor="cuda", engine=None):
    with tempfile.TemporaryDirectory() as folder:
        arguments = [options.cupel, "check", path, "--contract", contract, "--on", executor, "--cases", str(cases), "--seed", "1",
                     "--format", "json", "-q", "-o", folder]
        if engine:
            arguments += ["--engine", engine]
        if executor == "emu" and options.objects:
            arguments += ["--objects", options.objects]
        return run(arguments, options.limit)


def seeds(options, pool, table):
    jobs = []
    for file, contract, verdict, gates, *_ in read_manifest(os.path.join(ROOT, "seeds", "manifest.txt")):
        path = os.path.join(ROOT, "seeds", "kernels", file)
        jobs.append((contract, verdict, set(gates.split(",")), pool.submit(check, options, path, contract, options.cases)))
    for contract, verdict, gates, job in jobs:
        code, report, err, seconds = job.result()
        hidden = HIDDEN.get(contract)
        text = describe(code, report, err) + f" ({seconds:.0f} s in all)" + (f" (the GPU hides it: {hidden})" if hidden else "")
        good = judge_check("accepted" if hidden else verdict, gates, None, report)
        if contract in RACES:
            good, text = report is not None and "verdict" in report, text + " (a race)"
        table.add("seeds", contract, good, text)


def agreement(options, pool, table):
    jobs = []
    for file, contract, verdict, *_ in read_manifest(os.path.join(ROOT, "seeds", "manifest.txt")):
        if verdict != "accepted":
            continue
        path = os.path.join(ROOT, "seeds", "kernels", file)
        arguments = [options.cupel, "diff", path, "--contract", contract, "--on", "emu,cuda", "--cases", str(options.recipes),
                     "--for", f"{options.limit * 0.8:.0f}s", "--seed", "2", "--format", "json", "-q"]
        if options.objects:
            arguments += ["--objects", options.objects]
        jobs.append((contract, pool.submit(run, arguments, options.limit)))
    for contract, job in jobs:
        code, r, err, seconds = job.result()
        if r is None or "verdict" not in r:
            table.add("emu=cuda", contract, False, describe(code, None, err or json.dumps(r)))
            continue
        good = r["verdict"] == "same" and r["exact"] == r["exact_equal"] and r["cases"] + r["unsupported"] >= options.recipes
        table.add("emu=cuda", contract, good,
                  f"{r['cases']} recipes, {r['elements']} elements, {r['equal']} equal; exact {r['exact_equal']} of {r['exact']}; "
                  f"others at most {r['neither_wrong_ulp']:.0f} ulp apart; {r['different']} cases wrong; {seconds:.0f} s"
                  + "".join(f" | {c['case'][:80]} {c['where']} {c['sides'][0]['got']} {c['sides'][1]['got']} {c['right']} "
                            f"{c['sides'][0]['why'][:60]} {c['sides'][1]['why'][:60]}" for c in r["examples"][:1]))


def faults(options, pool, table):
    # One after the other: a kernel that never ends takes the GPU's time from every other process.
    jobs, alone = [], concurrent.futures.ThreadPoolExecutor(1)
    for file, contract, verdict, gates, signature, there in read_manifest(os.path.join(HERE, "faults", "manifest.txt")):
        path = os.path.join(HERE, "faults", file)
        cases = 50 if verdict == "rejected" else options.cases
        jobs.append((contract, verdict, gates, signature, there, alone.submit(check, options, path, contract, cases),
                     pool.submit(check, options, path, contract, 150, "emu")))
    for contract, verdict, gates, signature, there, job, emulated in jobs:
        code, report, err, seconds = job.result()
        table.add("faults", contract, judge_check(verdict, set(gates.split(",")), signature if signature != "-" else None, report),
                  describe(code, report, err) + "".join(f" | {f['signature']}" for f in (report or {}).get("findings", [])[:2])
                  + f" ({seconds:.0f} s in all)")
        code, report, err, seconds = emulated.result()
        table.add("emulated", contract, report is not None and report.get("verdict") == there, describe(code, report, err))


def gpu_memory():
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True,
                              text=True, check=False)
    except FileNotFoundError:
        return -1
    return int(done.stdout.split()[0]) if done.returncode == 0 and done.stdout.split() else -1


def workers():
    count = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        count += b"--worker" in words and words[0].endswith(b"cupel")
    return count


def leftovers(before, table):
    time.sleep(1)
    memory, tasks, files = gpu_memory(), workers(), set(os.listdir("/tmp")) - before["files"]
    files = {f for f in files if f.startswith("cupel") and f != "cupel-rates"}
    table.add("left", "processes", tasks == 0, f"{tasks} workers")
    table.add("left", "device memory", memory == before["memory"], f"{memory} MiB, {before['memory']} before")
    table.add("left", "files", not files, f"{len(files)} in /tmp: {sorted(files)[:3]}")


def rates(options, table):
    kernels = [os.path.join(HERE, "rates", name) for name in ("elementwise.cu", "softmax.cu")]
    done = subprocess.run([os.path.join(os.path.dirname(options.cupel), "gpu_rates")] + kernels, capture_output=True, text=True,
                          check=False)
    for line in done.stdout.splitlines():
        words = line.split("\t")
        table.add("rates", words[1], True, ", ".join(words[2:]) or words[0])
    if done.returncode:
        table.add("rates", "gpu_rates", False, done.stderr.strip()[-200:])
    for path, contract in zip(kernels, ("rate-elementwise", "rate-softmax")):
        code, report, err, _ = check(options, path, contract, 5000, engine="draw")
        good = report is not None and report.get("verdict") == "accepted"
        rate = f"{report['cases'] / report['seconds']:.0f} cases a second with oracle and gates; " if good else ""
        table.add("rates", contract + " (check)", good, rate + describe(code, report, err))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--objects", help="folder that cupel build filled; without it the emulator needs clang")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--recipes", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=min(6, os.cpu_count() or 1),
                        help="processes that share the GPU, whose turns get longer with each")
    parser.add_argument("--limit", type=float, default=280, help="seconds for one step")
    parser.add_argument("--parts", default="rates,agreement,seeds,faults", help="which parts, in this order")
    options = parser.parse_args()
    options.cupel = os.path.abspath(options.cupel)
    before = {"memory": gpu_memory(), "files": set(os.listdir("/tmp"))}
    table = Table()
    parts = {"seeds": seeds, "faults": faults, "agreement": agreement}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if "rates" in options.parts.split(","):
            rates(options, table)
        for part in options.parts.split(","):
            if part in parts:
                parts[part](options, pool, table)
    leftovers(before, table)
    sys.exit(0 if table.summary() else 1)


if __name__ == "__main__":
    main()
