#!/usr/bin/python3
"""Schedules against kernels whose threads have to wait for each other. A correctly synchronised kernel must be without any
finding under every one of --schedules schedules; its twin that lacks a barrier must be found within --racy of them, and
only as a result that depends on the schedule. Each finished slice is one line in the record (date, revision, contract,
first number, schedules, seconds, findings); slices of one revision's record are not run again, so that a run that was
stopped goes on. Exit status 1 when anything is not as it should be.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time

from campaign import revision

# file, contract
SYNCHRONISED = [("cumsum_carry.cu", "cumsum-carry"), ("softmax.cu", "row-softmax"), ("gemv.cu", "gemv"),
                ("warp_sum.cu", "warp-sum"), ("cumsum.cu", "row-cumsum"), ("cumsum_blocks.cu", "cumsum-blocks"),
                ("last_block_sum.cu", "last-block-sum"), ("scale_by_largest.cu", "scale-by-largest"),
                ("grid_softmax.cu", "grid-softmax"), ("lookback_scan.cu", "lookback-scan"),
                ("ticket_lock_sum.cu", "ticket-lock-sum"), ("block_pipeline.cu", "block-pipeline"),
                ("tile_softmax.cu", "tile-softmax")]
RACY = [("cumsum_carry_race.cu", "cumsum-carry-race"), ("softmax_missing_barrier.cu", "row-softmax-missing-barrier"),
        ("gemv_missing_barrier.cu", "gemv-missing-barrier"), ("warp_sum_no_sync.cu", "warp-sum-no-sync"),
        ("lookback_scan_no_wait.cu", "lookback-scan-no-wait"), ("block_total_race.cu", "block-total-race")]


def read_record(path):
    done = {}
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                entry = json.loads(line)
                done[entry["contract"], entry["first"], entry["schedules"]] = entry
    return done


def run_slice(options, file, contract, first, count, cache):
    command = [options.program, os.path.join(options.kernels, file), contract, str(first), str(count), cache]
    started = time.monotonic()
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{contract}: exit status {ran.returncode}\n{ran.stderr}")
    entry = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
             "revision": revision(), "contract": contract, "first": first}
    entry.update(json.loads(ran.stdout))
    entry["seconds"] = round(time.monotonic() - started, 1)
    return entry


def complaints(kind, total, findings, judged):
    wrong = []
    if judged * 2 < total:
        wrong.append(f"only {judged} of {total} runs judged anything")
    if kind == "synchronised":
        wrong += [f"{signature}, first at number {n}" for signature, (n, _) in findings.items()]
    else:
        wrong += [f"{signature}, first at number {n}" for signature, (n, _) in findings.items()
                  if not signature.startswith("nondeterminism-")]
        if not any(signature.startswith("nondeterminism-") for signature in findings):
            wrong.append(f"not found under {total} schedules")
    return wrong


def check(options, kind, file, contract, total, done, cache):
    findings, judged = {}, 0
    started = time.monotonic()
    for first in range(0, total, options.slice):
        count = min(options.slice, total - first)
        entry = done.get((contract, first, count))
        if entry is None:
            entry = run_slice(options, file, contract, first, count, cache)
            if options.record:
                with open(options.record, "a", encoding="utf-8") as out:
                    out.write(json.dumps(entry) + "\n")
        judged += entry["judged"]
        for signature, where in entry["findings"].items():
            findings.setdefault(signature, where)
    wrong = complaints(kind, total, findings, judged)
    text = ", ".join(f"{s} first at {n}" for s, (n, _) in findings.items()) or "no finding"
    print(f"{'not ok' if wrong else 'ok'} {contract}: {kind}, {total} schedules, {text} ({time.monotonic() - started:.1f} s)",
          flush=True)
    for reason in wrong:
        print(f"    {reason}")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="run_schedules")
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--schedules", type=int, default=10000)
    parser.add_argument("--racy", type=int, default=200)
    parser.add_argument("--slice", type=int, default=1000)
    parser.add_argument("--record", help="file that finished slices are added to")
    parser.add_argument("--cache", help="folder for compiled kernels; default: one that is deleted afterwards")
    options = parser.parse_args()
    done = read_record(options.record)
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        cache = options.cache or temporary
        os.makedirs(cache, exist_ok=True)
        for file, contract in SYNCHRONISED:
            good &= check(options, "synchronised", file, contract, options.schedules, done, cache)
        for file, contract in RACY:
            good &= check(options, "racy", file, contract, options.racy, done, cache)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
