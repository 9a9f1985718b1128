#!/usr/bin/python3
"""A long campaign on a correct kernel: its memory stays bounded and its rate does not fall. The rates of the first and the last
minute are compared, in cases for each second that its processes had a processor, so that what else the machine does counts little
(cases for each second of the clock are recorded beside them); the resident memory of the supervisor and of the largest worker is
sampled all along. One line of JSON goes to the record. Asserts: no finding, the last minute's rate at least (1 - --slack) of the first's,
memory in the last quarter at most --growth times that of the first quarter after warming up."""
import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from campaign import revision
from killed import descendants

# Until then starting recipes and the first draws run, which are smaller than what is bred later: 20 s on an idle machine.
WARM_UP_SECONDS, WARM_UP_CASES = 20, 4500


def resident(pid):
    """MiB; 0 when the process is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            found = re.search(r"VmRSS:\s+(\d+) kB", status.read())
    except OSError:
        return 0
    return int(found.group(1)) / 1024 if found else 0


def processor_seconds(pids):
    """Of living processes, and of what they have waited for."""
    ticks = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", encoding="latin-1") as stat:
                words = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks += sum(int(word) for word in words[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def rows(out):
    """(seconds, cases) of plot_data."""
    for folder, _, files in os.walk(os.path.join(out, "stats")):
        if "plot_data" in files:
            with open(os.path.join(folder, "plot_data"), encoding="utf-8") as data:
                cells = [line.split(",") for line in data if not line.startswith("#")]
            return [(float(row[0]), int(row[11])) for row in cells]
    return []


def processor_at(samples, seconds):
    """Processor seconds used until then, between two samples."""
    after = next((i for i, sample in enumerate(samples) if sample[0] >= seconds), len(samples) - 1)
    (t, *_, used), (u, *_, later) = samples[max(0, after - 1)], samples[after]
    return later if u <= t else used + (later - used) * (min(seconds, u) - t) / (u - t)


def rate_between(table, samples, begin, end):
    """Cases for each second of a processor, and of the clock."""
    inside = [row for row in table if begin <= row[0] <= end]
    if len(inside) < 2:
        sys.exit(f"plot_data has no two rows between {begin:.0f} and {end:.0f} s")
    (t, cases), (u, more) = inside[0], inside[-1]
    return (more - cases) / (processor_at(samples, u) - processor_at(samples, t)), (more - cases) / (u - t)


def run(options, out):
    """Returns (seconds, MiB of the supervisor, MiB of the largest worker, processor seconds) all along, and the finished process."""
    seconds = options.minutes * 60
    command = [options.cupel, "fuzz", options.kernel, "-o", out, "--seed", str(options.seed), "--for", f"{seconds:.0f}s", "--format",
               "json"]
    samples, begun = [], time.monotonic()
    with tempfile.TemporaryFile("w+") as report:
        process = subprocess.Popen(command, stdout=report, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            workers = descendants(process.pid)
            samples.append((time.monotonic() - begun, resident(process.pid), max((resident(pid) for pid in workers), default=0),
                            processor_seconds([process.pid, *workers])))
            time.sleep(min(2, seconds / 60))
        report.seek(0)
        return samples, process.returncode, json.load(report)


def part(samples, begin, end, column):
    values = [sample[column] for sample in samples if begin <= sample[0] <= end and sample[column] > 0]
    return max(values, default=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slack", type=float, default=0.2)
    parser.add_argument("--growth", type=float, default=1.25)
    parser.add_argument("--record", help="file to which one line of JSON is appended")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        samples, status, report = run(options, out)
        table = rows(out)
    end = table[-1][0]
    begin = max(WARM_UP_SECONDS, next((row[0] for row in table if row[1] >= WARM_UP_CASES), 0))
    quarter = (end - begin) / 4
    span = min(60, quarter)
    # the last sample is from before the end
    first, clock_first = rate_between(table, samples, begin, begin + span)
    last, clock_last = rate_between(table, samples, end - span - 5, end - 5)
    memory = {name: [round(part(samples, begin, begin + quarter, column), 1), round(part(samples, end - quarter, end, column), 1)]
              for name, column in (("supervisor", 1), ("worker", 2))}
    campaign = report["campaign"]
    line = {"date": datetime.date.today().isoformat(), "revision": revision(), "kernel": os.path.basename(options.kernel),
            "seed": options.seed, "minutes": options.minutes, "engine": campaign["engine"], "cases": report["cases"],
            "verdict": report["verdict"], "rate_first": round(first, 1), "rate_last": round(last, 1),
            "clock_rate_first": round(clock_first, 1), "clock_rate_last": round(clock_last, 1), "rate_over_seconds": round(span), "warm_up_seconds": round(begin),
            "memory_mib_first_and_last_quarter": memory, "restarts": campaign["restarts"], "features": campaign["features"],
            "corpus": campaign["corpus"]["stored"],
            "memory_mib_over_time": [[round(cell) for cell in sample] for sample in samples[::max(1, len(samples) // 30)]]}
    print(json.dumps(line))
    if options.record:
        with open(options.record, "a", encoding="utf-8") as record:
            record.write(json.dumps(line) + "\n")
    wrong = []
    if status != 0 or report["findings"]:
        wrong.append(f"the kernel is correct and the campaign says {report['verdict']}")
    if last < first * (1 - options.slack):
        wrong.append(f"the rate falls from {first:.1f} to {last:.1f} cases a processor second")
    wrong += [f"the {name}'s memory grows from {a} to {b} MiB" for name, (a, b) in memory.items() if b > a * options.growth + 8]
    print("\n".join(wrong) or "memory is bounded, the rate holds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
