#!/usr/bin/python3
"""A check of a kernel that hangs, each run of it for seconds, keeps to its time: not longer beyond the budget than the guide says,
and so after the first SIGTERM, with a report."""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

KERNEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "faults", "epoch_kept.cu")
SLACK = 15  # a loaded machine: compiling, the compiler for GPUs, the report


def check(cupel, seconds, stop_after=None):
    """Exit status, report, and how long it took from the end of the budget, or from the stop."""
    with tempfile.TemporaryDirectory() as folder:
        command = [cupel, "check", KERNEL, "--for", f"{seconds}s", "--format", "json", "-q", "-o", folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        expected = time.monotonic() + seconds
        if stop_after is not None:
            time.sleep(stop_after)
            expected = time.monotonic()
            process.send_signal(signal.SIGTERM)
        try:
            out, err = process.communicate(timeout=seconds + 60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            sys.exit(f"still at work 60 s after {'the signal' if stop_after else 'the budget'}")
        late = time.monotonic() - expected
        try:
            return process.returncode, json.loads(out), late
        except json.JSONDecodeError:
            sys.exit(f"no report (status {process.returncode}): {out}{err}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    options = parser.parse_args()
    for arguments, most in (((6,), 11), ((60, 6), 10)):
        status, report, late = check(options.cupel, *arguments)
        if status not in (1, 3) or report.get("verdict") not in ("rejected", "inconclusive"):
            sys.exit(f"status {status}, {report.get('verdict')}")
        if late > most + SLACK:
            sys.exit(f"{late:.1f} s late, at most {most} and {SLACK} are allowed")
        print(f"ok {report['verdict']}, {late:.1f} s late")


if __name__ == "__main__":
    main()
