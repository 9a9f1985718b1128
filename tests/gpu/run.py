#!/usr/bin/env python3
"""Everything that needs a GPU, from built binaries: seeds, variants, planted faults, limits, emulator against GPU, replays,
leftovers, rates.

Prints one line a step as soon as it is done and a summary at the end; exit status 0 when every line holds. Needs no compiler:
the emulator works from objects that `cupel build` made (scripts/gpu.sh prepare). Each part has its share of the time that is
left; what does not get its turn is a line that does not hold.
"""
import argparse
import concurrent.futures
import glob
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
HIDDEN = {"rms-norm-over-read": "a read past the end that changes no result"}
# What two threads do to each other shows on a GPU by luck alone: the table says what it showed.
RACES = {"cumsum-carry-race", "row-softmax-missing-barrier", "gemv-missing-barrier", "warp-sum-no-sync", "hgemm-mma-no-wait",
         "grid-softmax-no-sync", "lookback-scan-no-wait", "block-total-race", "block-pipeline-no-wait"}
HANGS = {"gpu-infinite-loop"}
# Shares of the time, and how many steps share the GPU. Turns get longer with each process, and one that hangs takes nearly all
# of the GPU's time: hangs run alone.
PARTS = {"seeds": (10, 6), "variants": (2, 4), "limits": (1, 2), "replay": (2, 2), "faults": (8, 3), "hangs": (4, 1), "agreement": (8, 6),
         "rates": (2, 1)}
FAULT_CASES = 50


def read_manifest(*path):
    with open(os.path.join(*path), encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words:
                yield words


class Step:
    """One line of the table to come: its work returns (does it hold, text)."""

    def __init__(self, part, name, work, *arguments):
        self.part, self.name, self.work, self.arguments = part, name, work, arguments


class Table:
    def __init__(self):
        self.rows = []
        self.begun = time.monotonic()

    def add(self, part, name, good, text):
        self.rows.append((part, name, good, text))
        print(f"{'ok    ' if good else 'NOT OK'} {part:9} {name:27} {text}", flush=True)

    def summary(self):
        print("\npart       lines   not ok")
        for part in dict.fromkeys(row[0] for row in self.rows):
            rows = [row for row in self.rows if row[0] == part]
            print(f"{part:10} {len(rows):5} {sum(not row[2] for row in rows):8}")
        for row in self.rows:
            if not row[2]:
                print("not ok:", *row[:2], row[3])
        print(f"{time.monotonic() - self.begun:.0f} s")
        return all(row[2] for row in self.rows)


class Clock:
    """When the part at work must end."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds
        self.part_end = self.end

    def begin(self, part, later):
        left = self.end - time.monotonic()
        share = PARTS[part][0] / (PARTS[part][0] + sum(PARTS[p][0] for p in later))
        self.part_end = time.monotonic() + left * share

    def left(self):
        return self.part_end - time.monotonic()


def run(options, arguments):
    """Exit status (None: no time was left; -1: none for its end), JSON report or None, what it printed, seconds."""
    limit, started = options.clock.left(), time.monotonic()
    if limit < 1:
        return None, None, "no time was left for it", 0.0
    try:
        done = subprocess.run([options.cupel] + arguments, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                              timeout=limit)
        code, out, text = done.returncode, done.stdout, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        code, out, text = -1, "", f"no end after {limit:.0f} s"
    try:
        report = json.loads(out)
    except json.JSONDecodeError:
        report = None
    return code, report, text, time.monotonic() - started


def objects(options, executor):
    return ["--objects", options.objects] if options.objects and "emu" in executor else []


def describe(code, report, text, seconds):
    if report is None:
        return f"no report (status {code}): {' '.join(text.split())[-200:]}"
    if "verdict" not in report:
        return f"error: {json.dumps(report)[:200]}"
    gates = ",".join(sorted({f["gate"] for f in report["findings"]}))
    names = "".join(f" | {f['signature']}" for f in report["findings"][:2])
    return (f"{report['verdict']} {gates} {report['cases']} cases in {report['seconds']:.1f} s, {seconds:.1f} s in all{names}"
            + (f" | {report['reason']}" if report.get("reason") else ""))


def judge_check(wanted, gates, signature, report):
    if report is None or report.get("verdict") != wanted:
        return False
    proofs = [f for f in report["findings"] if f["standing"] == "proof"]
    if wanted == "accepted":
        return not proofs and any(g["judged"] for g in report["gates"])
    named = [f for f in proofs if f["gate"] in gates]
    return bool(named) and (not signature or any(re.search(signature, f["signature"]) for f in named))


def check(options, path, contract, cases, executor=None, seconds=None, more=(), folder=None):
    executor = executor or options.on
    with tempfile.TemporaryDirectory() as own:
        arguments = ["check", path, "--contract", contract, "--on", executor, "--cases", str(cases), "--seed", "1", "--format",
                     "json", "-q", "-o", folder or own, *more]
        if seconds:
            arguments += ["--for", f"{max(2, min(seconds, options.clock.left() - 3)):.0f}s"]
        return run(options, arguments + objects(options, executor))


# ---- seeds ----

def one_seed(options, path, contract, verdict, gates):
    # Time as a budget where minimising may need a worker for each try.
    answer = check(options, path, contract, options.cases, seconds=None if verdict == "accepted" else 90)
    text, report = describe(*answer), answer[1]
    if contract in RACES: # inconclusive: seen once, and not in a second run
        return report is not None and report.get("verdict") in ("accepted", "rejected", "inconclusive"), text + " (a race)"
    if contract in HIDDEN:
        return judge_check("accepted", (), None, report), text + f" (the GPU hides it: {HIDDEN[contract]})"
    enough = verdict == "rejected" or (report or {}).get("cases", 0) >= options.cases
    return enough and judge_check(verdict, gates, None, report), text


def seeds(options):
    for file, contract, verdict, gates, *_ in read_manifest(ROOT, "seeds", "manifest.txt"):
        yield Step("seeds", contract, one_seed, os.path.join(ROOT, "seeds", "kernels", file), contract, verdict,
                   set(gates.split(",")))


# ---- variants ----

def one_variant(options, path, contract, name, value):
    """The ordinary case in one variant, whatever the search would have chosen."""
    code, _, text, seconds = run(options, ["run", path, "--contract", contract, "--on", options.on, "--set", f"{name}={value}",
                                           "--seed", "1", "-q"] + objects(options, options.on))
    judged = [line.strip() for line in text.splitlines() if re.search(r" judged, \d+ wrong", line)]
    return code == 0 and bool(judged), f"{'; '.join(judged) or ' '.join(text.split())[-200:]}, status {code}, {seconds:.1f} s"


def all_variants(options, path, contract, verdict, gates):
    """A search tries every one, and what it says of them is what the manifest says."""
    answer = check(options, path, contract, options.cases, seconds=None if verdict == "accepted" else 90)
    tried = (answer[1] or {}).get("cases_by_variant", {})
    counts = [count for values in tried.values() for count in values.values()]
    text = "; ".join(f"{name}: " + ", ".join(f"{count} in {value}" for value, count in values.items())
                     for name, values in tried.items())
    return bool(counts) and min(counts) > 0 and judge_check(verdict, gates, None, answer[1]), f"{text} | {describe(*answer)}"


def listed_variants(path):
    """Names and values as the contract lists them."""
    with open(path, encoding="utf-8") as file:
        line = re.search(r"^variants: *\{(.*)\}", file.read(), re.M)
    for name, values in re.findall(r"(\w+): *\[([^]]*)\]", line.group(1) if line else ""):
        yield name, [value.strip() for value in values.split(",")]


def variants(options):
    for file, contract, verdict, gates, *_ in read_manifest(ROOT, "seeds", "manifest.txt"):
        path = os.path.join(ROOT, "seeds", "kernels", file)
        listed = list(listed_variants(path))
        if listed:
            yield Step("variants", contract, all_variants, path, contract, verdict, set(gates.split(",")))
        for name, values in listed if verdict == "accepted" else []:
            for value in values:
                yield Step("variants", f"{contract} {name}={value}", one_variant, path, contract, name, value)


# ---- planted faults ----

def one_fault(options, path, contract, verdict, gates, signature):
    """With a time budget, since minimising costs a worker for each try that faults; the cases must have been run all the same."""
    cases = FAULT_CASES if verdict == "rejected" else options.cases
    answer = check(options, path, contract, cases, seconds=90)
    report = answer[1]
    good = judge_check(verdict, gates, signature, report)
    enough = contract in HANGS or (report or {}).get("cases", 0) >= cases
    return good and enough, describe(*answer)


def emulated(options, path, contract, verdict):
    answer = check(options, path, contract, 150, executor="emu")
    return (answer[1] or {}).get("verdict") == verdict, describe(*answer)


def faults(options, hangs=False):
    for file, contract, verdict, gates, signature, there in read_manifest(HERE, "faults", "manifest.txt"):
        if (contract in HANGS) != hangs:
            continue
        path = os.path.join(HERE, "faults", file)
        yield Step("faults", contract, one_fault, path, contract, verdict, set(gates.split(",")),
                   signature if signature != "-" else None)
        yield Step("emulated", contract, emulated, path, contract, there)


def right_afterwards(options):
    answer = check(options, os.path.join(HERE, "faults", "right.cu"), "gpu-right", options.cases)
    return judge_check("accepted", (), None, answer[1]), describe(*answer)


def hangs(options):
    yield from faults(options, hangs=True)
    yield Step("faults", "gpu-right, afterwards", right_afterwards)


# ---- limits of the device at hand ----

def device_limit(options, path, contract, elements, where):
    """Cases stay small enough to be launched: what is found was computed from the compiled binary and the claims."""
    answer = check(options, path, contract, 20, more=["--elements", str(elements)])
    report = answer[1]
    good = judge_check("rejected", {"RES-02"}, where, report)
    there = (report or {}).get("resources") or {}
    return good, describe(*answer) + f" | of {','.join(there.get('architectures', []))} by {there.get('compiler')}"


def limits(options):
    yield Step("limits", "threads a block", device_limit, os.path.join(HERE, "faults", "over_limits.cu"), "gpu-over-limits", 100,
               r"^refused-block\.x")
    yield Step("limits", "grid.y", device_limit, os.path.join(ROOT, "tests", "e2e", "limits", "grid_y.cu"), "limits-grid-y", 1000,
               r"^refused-grid\.y")
    yield Step("limits", "shared memory", device_limit, os.path.join(ROOT, "tests", "e2e", "limits", "shared_row.cu"),
               "limits-shared-row", 1000, r"^refused-shared")


# ---- replays ----

def cross_replay(options, path, contract, found_on, replayed_on, status, prefix):
    """What one executor found, run again on the other."""
    with tempfile.TemporaryDirectory() as folder:
        answer = check(options, path, contract, 200, executor=found_on, folder=folder)
        bundles = sorted(glob.glob(os.path.join(folder, "crashes", contract, prefix + "*")))
        if not bundles:
            return False, "no bundle: " + describe(*answer)
        with open(os.path.join(bundles[0], "bundle.json"), encoding="utf-8") as file:
            seen_by = json.load(file).get("executor")
        code, _, text, seconds = run(options, ["replay", bundles[0], "--on", replayed_on, "-q"] + objects(options, replayed_on))
    last = [line for line in text.splitlines() if line.strip()][-1:] or [""]
    return code == status and seen_by == found_on, (f"{os.path.basename(bundles[0])} of {seen_by}: status {code} on {replayed_on}, "
                                                    f"{seconds:.1f} s | {last[0][:120]}")


def replay(options):
    kernels = os.path.join(ROOT, "seeds", "kernels")
    there, both = options.on, (("emu", options.on), (options.on, "emu"))
    for a, b in both:
        yield Step("replay", f"tail zero, {a} to {b}", cross_replay, os.path.join(kernels, "softmax_tail_zero.cu"),
                   "row-softmax-tail-zero", a, b, 1, "CMP-03")
        yield Step("replay", f"one past the end, {a} to {b}", cross_replay, os.path.join(HERE, "faults", "one_past_end.cu"),
                   "gpu-one-past-end", a, b, 1, "RES-01")
    yield Step("replay", "silent read, emu to " + there, cross_replay, os.path.join(HERE, "faults", "silent_read.cu"),
               "gpu-silent-read", "emu", there, 0 if there == "cuda" else 1, "RES-01")


# ---- emulator against GPU ----

def agree(options, path, contract):
    code, r, text, seconds = run(options, ["diff", path, "--contract", contract, "--on", "emu," + options.on, "--cases",
                                           str(options.recipes), "--for", f"{max(1, options.clock.left() - 4):.0f}s", "--seed", "2",
                                           "--format", "json", "-q"] + objects(options, "emu"))
    if r is None or "verdict" not in r:
        return False, describe(code, r, text, seconds)
    good = r["verdict"] == "same" and r["exact"] == r["exact_equal"] and r["cases"] >= options.recipes
    return good, (f"{r['cases']} recipes, {r['elements']} elements, {r['equal']} equal; exact {r['exact_equal']} of {r['exact']}; "
                  f"others at most {r['neither_wrong_ulp']:.0f} ulp apart; {r['different']} cases wrong; "
                  f"{r['unsupported']} left out; {seconds:.1f} s"
                  + "".join(f" | {c['case'][:80]} {c['where']} {c['sides'][0]['got']} {c['sides'][1]['got']} {c['right']} "
                            f"{c['sides'][0]['why'][:60]} {c['sides'][1]['why'][:60]}" for c in r["examples"][:1]))


def agreement(options):
    for file, contract, verdict, *_ in read_manifest(ROOT, "seeds", "manifest.txt"):
        if verdict == "accepted":
            yield Step("emu=" + options.on, contract, agree, os.path.join(ROOT, "seeds", "kernels", file), contract)


# ---- rates ----

def check_rate(options, path, contract):
    answer = check(options, path, contract, 5000, more=["--engine", "draw"])
    report = answer[1]
    good = judge_check("accepted", (), None, report)
    rate = f"{report['cases'] / report['seconds']:.0f} cases a second with oracle and gates; " if good else ""
    return good, rate + describe(*answer)


def rates(options):
    kernels = [os.path.join(HERE, "rates", name) for name in ("elementwise.cu", "softmax.cu")]
    try:
        done = subprocess.run([os.path.join(os.path.dirname(options.cupel), "gpu_rates")] + kernels, capture_output=True, text=True,
                              check=False, timeout=max(1, options.clock.left()))
        lines, failure = done.stdout.splitlines(), done.stderr.strip()[-200:] if done.returncode else ""
    except subprocess.TimeoutExpired:
        lines, failure = [], "no end"
    for line in lines:
        words = line.split("\t")
        yield Step("rates", words[1], lambda _, text: (True, text), ", ".join(words[2:]) or words[0])
    if failure:
        yield Step("rates", "gpu_rates", lambda _, text: (False, text), failure)
    for path, contract in zip(kernels, ("rate-elementwise", "rate-softmax")):
        yield Step("rates", contract + " (check)", check_rate, path, contract)


# ---- what is left behind ----

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


def left_files(before):
    return {f for f in set(os.listdir("/tmp")) - before["files"] if f.startswith("cupel") and f != "cupel-rates"}


def leftovers(before, table):
    for _ in range(20):
        memory, tasks, files = gpu_memory(), workers() - before["workers"], left_files(before)
        if memory == before["memory"] and not tasks and not files:
            break
        time.sleep(0.25)
    table.add("left", "processes", tasks <= 0, f"{max(tasks, 0)} workers")
    table.add("left", "device memory", memory == before["memory"], f"{memory} MiB, {before['memory']} before")
    table.add("left", "files", not files, f"{len(files)} in /tmp: {sorted(files)[:3]}")


# ---- the whole ----

def work(options, part, table):
    steps = globals()[part](options)
    names = set(options.only.split(",")) if options.only else None
    with concurrent.futures.ThreadPoolExecutor(PARTS[part][1]) as pool:
        jobs = {pool.submit(s.work, options, *s.arguments): s for s in steps if not names or s.name in names}
        for job in concurrent.futures.as_completed(jobs):
            table.add(jobs[job].part, jobs[job].name, *job.result())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--objects", help="folder that cupel build filled; without it the emulator needs clang")
    parser.add_argument("--on", default="cuda", help="the executor that is tried; emu tries this script without a GPU")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--recipes", type=int, default=1000)
    parser.add_argument("--limit", type=float, default=1800, help="seconds for everything")
    parser.add_argument("--parts", default=",".join(PARTS), help="which parts, in this order")
    parser.add_argument("--only", help="only steps of these names")
    options = parser.parse_args()
    options.cupel = os.path.abspath(options.cupel)
    options.clock = Clock(options.limit)
    before = {"memory": gpu_memory(), "files": set(os.listdir("/tmp")), "workers": workers()}
    table, parts = Table(), options.parts.split(",")
    for i, part in enumerate(parts):
        options.clock.begin(part, parts[i + 1:])
        work(options, part, table)
    leftovers(before, table)
    sys.exit(0 if table.summary() else 1)


if __name__ == "__main__":
    main()
