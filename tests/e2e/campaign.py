#!/usr/bin/python3
"""The long tier's campaign over correct kernels: every accepted contract of the manifest, in slices of cases with
consecutive seeds, until each has had its number of cases. Each finished slice is one line in the record (date, revision,
executor, contract, seed, largest case, cases, elements, seconds, verdict, findings, whether the largest claimed shapes were
tried, the reason of an inconclusive verdict), so a campaign that was stopped goes on where it was: what the record holds is not run again, nor what the records
of --done hold, which are only read. Lines without an executor are the emulator's.

All contracts are served evenly: the next slice is of one that has had the fewest rounds of --slice cases, and of these of the
slowest. With --share fastest an executor takes contracts of which it runs most cases for one of the other's, and these to the
end, which gives the most cases in a given time. Slices are shorter where --slice cases would take longer than --slice-seconds.

Up to 65,536 elements a search favours small cases, 500 to 4,500 elements in the mean; above, it keeps to large ones, 5,500 to
16,500. A slice is of large cases where the contract's mean would else lie below --mean.

A contract that an executor cannot run is a note. A verdict but "accepted" stops nothing, and the exit status is 1 then.
"""
import argparse
import collections
import datetime
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

from manifest import check, read_manifest

# Of a contract of which nothing is known yet, and of a slow one.
FIRST_CASES, LEAST_CASES = 1000, 200
# The mean of running slices, over the mean that is aimed at.
LARGE_GUESS, SMALL_GUESS = 1.5, 0.3
GPU_JOBS = 6
# An executor that fails so often at a contract is left alone with it: a GPU that others use may once lack memory.
TRIES = 3


def revision(objects=None):
    """What scripts/gpu.sh left beside the objects, of which the program that travels with them is; else the working tree's."""
    if objects:
        try:
            with open(os.path.join(objects, "revision"), encoding="utf-8") as file:
                return file.read().strip()
        except OSError:
            pass
    try:
        out = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        out = ""
    return out or "unknown"


def read_record(path):
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                print(f"{path}:{number}: left out, a line that was cut off", file=sys.stderr)
                continue
            entry.setdefault("executor", "emu")
            entry.setdefault("largest", None)
            yield entry


def end_line(path):
    """What a campaign that was killed left of a line stays a line of its own."""
    if os.path.exists(path):
        with open(path, "rb+") as file:
            if file.seek(0, os.SEEK_END) and file.seek(-1, os.SEEK_END) >= 0 and file.read() != b"\n":
                file.write(b"\n")


class Sum:
    """Cases, elements and seconds of some slices."""

    def __init__(self, entries=()):
        self.cases = sum(e["cases"] for e in entries)
        self.elements = sum(e["elements"] for e in entries)
        self.seconds = sum(e["seconds"] for e in entries)

    def mean(self):
        return self.elements / max(1, self.cases)


class Contract:
    """One contract of the manifest: its slices, finished and running."""

    def __init__(self, path, name):
        self.path, self.name = path, name
        self.entries, self.seeds, self.running = [], set(), []
        self.failures = collections.Counter()  # by executor
        self.cannot = {}  # why, by executor

    def add(self, entry):
        if not any(e["seed"] == entry["seed"] and e["executor"] == entry["executor"] for e in self.entries):
            self.entries.append(entry)
            self.seeds.add(entry["seed"])

    def planned(self):
        return Sum(self.entries).cases + sum(slice_.cases for slice_ in self.running)

    def seconds_per_case(self, executor, largest=None):
        """None where it is not known."""
        known = Sum([e for e in self.entries if e["executor"] == executor and largest in (None, e["largest"])])
        return known.seconds / known.cases if known.cases else None

    def mean_soon(self, options):
        elements = Sum(self.entries).elements
        for slice_ in self.running:
            alike = Sum([e for e in self.entries if e["largest"] == slice_.largest])
            guess = LARGE_GUESS if slice_.largest == options.large_elements else SMALL_GUESS
            elements += slice_.cases * (alike.mean() if alike.cases else guess * options.mean)
        return elements / max(1, self.planned())

    def next(self, options, executor):
        large = self.mean_soon(options) < options.mean
        largest = options.large_elements if large else options.elements
        cases = options.slice  # also the last one: a few cases alone may show nothing
        pace = self.seconds_per_case(executor, largest)
        if pace is None:
            cases = min(cases, FIRST_CASES)
        elif pace * cases > options.slice_seconds:
            cases = min(cases, max(LEAST_CASES, int(options.slice_seconds / pace) // 100 * 100))
        seed = options.seed
        while seed in self.seeds:
            seed += 1
        self.seeds.add(seed)
        slice_ = Slice(self, executor, seed, largest, cases)
        self.running.append(slice_)
        return slice_


class Slice:
    def __init__(self, contract, executor, seed, largest, cases):
        self.contract, self.executor, self.seed, self.largest, self.cases = contract, executor, seed, largest, cases

    def keep_bundles(self, options, folder):
        """What was found, for cupel replay: crashes/CONTRACT/NAME below CONTRACT-SEED."""
        crashes = os.path.join(folder, "crashes")
        if options.bundles and os.path.isdir(crashes):
            with options.bundles_lock, tarfile.open(options.bundles, "a") as archive:
                archive.add(crashes, f"{self.contract.name}-{self.seed}/crashes")

    def run(self, options, gpu):
        """The record's line, or None, and why there is none: (exit status, text)."""
        arguments = ["--seed", str(self.seed), "--cases", str(self.cases), "--elements", str(self.largest)]
        arguments += ["--on", self.executor, "-q"]
        if options.objects:
            arguments += ["--objects", options.objects]
        more = {"CUDA_VISIBLE_DEVICES": str(gpu)} if gpu is not None else {}
        with tempfile.TemporaryDirectory() as out:
            code, report, text, seconds = check(options.cupel, self.contract.path, self.contract.name, arguments, out, more)
            if report and report["findings"]:
                self.keep_bundles(options, out)
        if report is None:
            return None, (code, text)
        for finding in report["findings"]:
            print(f"{self.contract.name} seed {self.seed}: {json.dumps(finding)[:1500]}", flush=True)
        entry = {
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "revision": options.revision,
            "executor": self.executor,
            "contract": self.contract.name,
            "seed": self.seed,
            "largest": self.largest,
            "cases": report["cases"],
            "elements": report["elements"],
            "seconds": round(seconds, 1),
            "verdict": report["verdict"],
            "findings": [f["signature"] for f in report["findings"]],
            "reached": all(dim["tried"] and dim["tried"][1] == dim["claimed"][1] for dim in report["dims"]),
        }
        if entry["verdict"] != "accepted":
            entry["reason"] = report.get("reason")
        return entry, None


class Campaign:
    def __init__(self, options):
        self.options, self.lock = options, threading.Lock()
        self.begun, self.failed, self.ran = time.monotonic(), 0, []
        folder = options.folder or os.path.dirname(options.manifest)
        self.contracts = [Contract(os.path.join(folder, file), contract)
                          for file, contract, verdict, *_ in read_manifest(options.manifest) if verdict == "accepted"]
        by_name = {contract.name: contract for contract in self.contracts}
        end_line(options.record)
        for path in options.done + [options.record]:
            for entry in read_record(path):
                if entry["contract"] in by_name:
                    by_name[entry["contract"]].add(entry)

    def elapsed(self):
        return time.monotonic() - self.begun

    def next(self, executor):
        with self.lock:
            if self.options.seconds is not None and self.elapsed() >= self.options.seconds:
                return None
            wanted = [c for c in self.contracts if executor not in c.cannot and c.planned() < self.options.cases]
            if not wanted:
                return None

            def advantage(contract):
                """Seconds a case, over the fastest other executor's: unknown ones first, to be known."""
                others = [contract.seconds_per_case(e) for e in self.options.on if e != executor and e not in contract.cannot]
                own = contract.seconds_per_case(executor)
                if not own or not all(others):
                    return -float("inf")
                return own / min(others) if others else own

            def turn(contract):
                if self.options.share == "fastest":
                    return advantage(contract)
                pace = contract.seconds_per_case(executor)
                return contract.planned() // self.options.slice, -pace if pace is not None else -float("inf")

            return min(wanted, key=turn).next(self.options, executor)

    def finish(self, slice_, entry, failure):
        with self.lock:
            contract = slice_.contract
            contract.running.remove(slice_)
            if entry is None:
                self.fail(slice_, *failure)
                return
            with open(self.options.record, "a", encoding="utf-8") as record:
                record.write(json.dumps(entry) + "\n")
            contract.add(entry)
            self.ran.append(entry)
            print(f"{self.elapsed():5.0f} s  {slice_.executor} {contract.name} seed {entry['seed']}: {entry['cases']} cases, "
                  f"{entry['elements'] / max(1, entry['cases']):.0f} elements each, {entry['seconds']} s, {entry['verdict']}"
                  + (f": {entry['reason']}" if entry.get("reason") else ""), flush=True)

    def fail(self, slice_, code, text):
        """Status 3: the executor does not run it. Anything else is a defect, of the contract or of cupel."""
        try:
            text = json.JSONDecoder().raw_decode(text)[0]["error"]["text"]
        except (json.JSONDecodeError, KeyError, TypeError):
            text = " ".join(text.split())[-500:]
        contract, executor = slice_.contract, slice_.executor
        self.failed += code != 3
        contract.failures[executor] += 1
        if contract.failures[executor] == TRIES:
            contract.cannot[executor] = text
            print(f"note: {contract.name} does not run on {executor} (status {code}): {text}", flush=True)
        elif code != 3:
            print(f"{contract.name} seed {slice_.seed} failed on {executor} (status {code}): {text}", flush=True)

    def work(self, executor, gpu):
        while True:
            slice_ = self.next(executor)
            if slice_ is None:
                return
            try:
                entry, failure = slice_.run(self.options, gpu)
            except Exception as error:  # pylint: disable=broad-except
                entry, failure = None, (-1, repr(error))
            self.finish(slice_, entry, failure)

    def run(self):
        """Jobs see one GPU each, dealt round robin; the emulator's see none."""
        threads = []
        for executor, jobs in zip(self.options.on, self.options.jobs):
            for job in range(jobs):
                gpu = None
                if self.options.gpus:
                    gpu = job % self.options.gpus if executor == "cuda" else ""
                threads.append(threading.Thread(target=self.work, args=(executor, gpu)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def totals(self):
        executors = sorted({e["executor"] for c in self.contracts for e in c.entries} | set(self.options.on))
        print(f"\n{'contract':27}" + "".join(f"{e + ' cases':>13} {'mean':>7}" for e in executors + ["all"]) + "  findings")
        for contract in self.contracts:
            groups = [Sum([e for e in contract.entries if e["executor"] == executor]) for executor in executors]
            total = Sum(contract.entries)
            findings = sum(len(e["findings"]) for e in contract.entries)
            notes = [f"not on {executor}: {why[:60]}" for executor, why in contract.cannot.items()]
            if total.cases and total.mean() < self.options.goal and any(e.get("reached") for e in contract.entries):
                notes.append("the contract's largest shapes were tried")
            print(f"{contract.name:27}" + "".join(f"{g.cases:13} {g.mean():7.0f}" for g in groups + [total])
                  + f"  {findings:8}" + "".join(f"  ({note})" for note in notes))
        self.summary(executors)

    def summary(self, executors):
        for executor in executors:
            total = Sum([e for c in self.contracts for e in c.entries if e["executor"] == executor])
            now = Sum([e for e in self.ran if e["executor"] == executor])
            print(f"{executor}: {total.cases} cases, mean {total.mean():.0f}; now {now.cases} cases, {now.elements} elements in "
                  f"{self.elapsed():.0f} s, {now.cases / max(1, self.elapsed()):.0f} cases a second")
        full = [c for c in self.contracts if c.planned() >= self.options.cases]
        below = [c.name for c in self.contracts if c.entries and Sum(c.entries).mean() < self.options.goal]
        print(f"{len(full)} of {len(self.contracts)} contracts have {self.options.cases} cases; missing: "
              f"{sum(max(0, self.options.cases - c.planned()) for c in self.contracts)} cases")
        print(f"mean below {self.options.goal}: {' '.join(below) or 'none'}")
        print(f"not accepted: {self.bad()}; not run: {self.failed}", flush=True)

    def bad(self):
        return sum(e["verdict"] != "accepted" or bool(e["findings"]) for c in self.contracts for e in c.entries)

    def good(self):
        idle = not self.ran and any(c.planned() < self.options.cases for c in self.contracts) and self.options.seconds != 0
        return not self.bad() and not self.failed and not idle


def read_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--manifest", required=True)
    parser.add_argument("--folder", help="where the files of the manifest lie; default: beside it")
    parser.add_argument("--record", required=True, help="gets a line as soon as a slice has finished")
    parser.add_argument("--done", action="append", default=[], help="another record whose slices count as done; may be repeated")
    parser.add_argument("--bundles", help="a tar file that gets the bundles of what is found")
    parser.add_argument("--on", default="emu", help="executors, side by side: emu, cuda or cuda,emu")
    parser.add_argument("--jobs", help=f"slices at a time, for each executor; default: all processors, {GPU_JOBS} for each GPU")
    parser.add_argument("--gpus", type=int, default=0, help="GPUs that the slices are dealt to; 0: as CUDA_VISIBLE_DEVICES says")
    parser.add_argument("--objects", help="folder that cupel build filled, for a machine without a compiler")
    parser.add_argument("--seconds", type=float, help="no slice is begun later")
    parser.add_argument("--cases", type=int, default=1000000, help="of each contract, on all executors together")
    parser.add_argument("--slice", type=int, default=1000, help="most cases of one seed")
    parser.add_argument("--slice-seconds", type=float, default=300, help="about the longest that a slice should take")
    parser.add_argument("--share", choices=("evenly", "fastest"), default="evenly", help="whose slice is the next")
    parser.add_argument("--elements", type=int, default=65536, help="largest case, in elements of all tensors")
    parser.add_argument("--large-elements", type=int, default=66000, help="the same in slices of large cases")
    parser.add_argument("--goal", type=int, default=5000, help="elements a case, in the mean over a contract")
    parser.add_argument("--mean", type=int, default=5200, help="mean below which slices are of large cases")
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args()
    options.on = options.on.split(",")
    usual = {"cuda": GPU_JOBS * max(1, options.gpus)}
    options.jobs = [int(jobs) for jobs in options.jobs.split(",")] if options.jobs else [
        usual.get(executor, os.cpu_count()) for executor in options.on]
    if len(options.jobs) != len(options.on):
        parser.error("--jobs: expected a number for each executor")
    options.revision, options.bundles_lock = revision(options.objects), threading.Lock()
    return options


def main():
    campaign = Campaign(read_options())
    campaign.run()
    campaign.totals()
    return 0 if campaign.good() else 1


if __name__ == "__main__":
    sys.exit(main())
