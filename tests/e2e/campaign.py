#!/usr/bin/python3
"""The long tier's campaign over correct kernels: every accepted contract of the manifest, in slices of cases with
consecutive seeds, until each has had its number of cases. Each finished slice is one line in the record (date, revision,
contract, seed, largest case, cases, elements, seconds, findings), so a campaign that was stopped goes on where it was:
slices that the record holds are not run again. Any finding ends it with exit status 1.

Up to 65,536 elements a search favours small cases, 2,000 to 4,000 elements in the mean; above, it keeps to large ones, 10,000
and more. One slice in --large-every is of the second kind, so that the mean lies above 5,000.
"""
import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import subprocess
import sys
import tempfile

from manifest import check, read_manifest


def revision():
    out = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return out.stdout.strip() or "unknown"


def read_record(path):
    done = collections.defaultdict(dict)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                entry = json.loads(line)
                done[entry["contract"]][entry["seed"]] = entry
    return done


def largest_case(options, seed):
    return options.large_elements if (seed - options.seed) % options.large_every == 0 else options.elements


def run_slice(options, folder, file, contract, seed):
    largest = largest_case(options, seed)
    arguments = ["--seed", str(seed), "--cases", str(options.slice), "--elements", str(largest)]
    with tempfile.TemporaryDirectory() as out:
        code, report, text, seconds = check(options.cupel, os.path.join(folder, file), contract, arguments, out)
    if report is None:
        sys.exit(f"{contract}, seed {seed}: no report, exit status {code}\n{text}")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "revision": revision(),
        "contract": contract,
        "seed": seed,
        "largest": largest,
        "cases": report["cases"],
        "elements": report["elements"],
        "seconds": round(seconds, 1),
        "verdict": report["verdict"],
        "findings": [f["signature"] for f in report["findings"]],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--manifest", required=True)
    parser.add_argument("--folder", help="where the files of the manifest lie; default: beside it")
    parser.add_argument("--record", required=True)
    parser.add_argument("--cases", type=int, default=1000000)
    parser.add_argument("--slice", type=int, default=1000, help="cases of one seed; as in the record that is gone on with")
    parser.add_argument("--elements", type=int, default=65536, help="largest case, in elements of all tensors")
    parser.add_argument("--large-elements", type=int, default=66000, help="the same in slices of large cases")
    parser.add_argument("--large-every", type=int, default=3, help="one slice in so many is of large cases")
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    done = read_record(options.record)
    folder = options.folder or os.path.dirname(options.manifest)
    wanted = [
        (file, contract, options.seed + number)
        for number in range((options.cases + options.slice - 1) // options.slice)
        for file, contract, verdict, *_ in read_manifest(options.manifest)
        if verdict == "accepted" and options.seed + number not in done[contract]
    ]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        slices = [pool.submit(run_slice, options, folder, *slice_) for slice_ in wanted]
        for finished in concurrent.futures.as_completed(slices):
            entry = finished.result()
            with open(options.record, "a", encoding="utf-8") as record:
                record.write(json.dumps(entry) + "\n")
            done[entry["contract"]][entry["seed"]] = entry
            print(f"{entry['contract']} seed {entry['seed']}: {entry['cases']} cases, "
                  f"{entry['elements'] / max(1, entry['cases']):.0f} elements each, {entry['seconds']} s, "
                  f"{entry['verdict']}", flush=True)
            bad += entry["verdict"] != "accepted" or bool(entry["findings"])
    for contract, slices in sorted(done.items()):
        cases = sum(e["cases"] for e in slices.values())
        elements = sum(e["elements"] for e in slices.values())
        found = sum(len(e["findings"]) for e in slices.values())
        print(f"{contract}: {cases} cases, mean {elements / max(1, cases):.0f} elements, {found} findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
