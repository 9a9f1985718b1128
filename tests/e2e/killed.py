#!/usr/bin/python3
"""A check that is killed (SIGKILL) after it has reported a finding has lost none: each bundle that it named is whole and still
fails on replay, nothing half-written is visible, and its worker does not live on."""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time


def parent_and_start(pid):
    """Of a living process, else None. The start time tells it from a later one of the same number."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as stat:
            words = stat.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if words[0] in "ZX" else (int(words[1]), words[19])


def descendants(root):
    table = {int(pid): parent_and_start(pid) for pid in os.listdir("/proc") if pid.isdigit()}
    found, wanted = {}, {root}
    while wanted:
        wanted = {pid for pid, known in table.items() if known and known[0] in wanted and pid not in found}
        found.update({pid: table[pid][1] for pid in wanted})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for number in range(options.rounds):
        workers = {}
        with tempfile.TemporaryDirectory() as folder:
            command = [options.cupel, "check", options.kernel, "-o", folder, "--seed", str(number + 1)]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            bundles = []
            for line in process.stderr:
                saved = re.match(r"  saved in (.*)", line)
                if saved:
                    bundles.append(saved.group(1))
                    time.sleep(0.05 * number)  # into the minimiser
                    workers = descendants(process.pid)
                    process.send_signal(signal.SIGKILL)
                    break
            process.wait()
            process.stderr.close()
            if not bundles:
                sys.exit("the check reported nothing")
            root = os.path.dirname(bundles[0])
            visible = [name for name in os.listdir(root) if not name.startswith(".")]
            for name in visible:
                done = subprocess.run([options.cupel, "replay", os.path.join(root, name)], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, check=False)
                if done.returncode != 1 or "still fails" not in done.stdout:
                    sys.exit(f"{name} does not replay (exit status {done.returncode}):\n{done.stdout}")
            # attribution may have moved the bundle to another gate's name by then: the signature is what must survive
            wanted = os.path.basename(bundles[0])[len("CMP-01-"):]
            if not any(name.endswith(wanted) for name in visible):
                sys.exit(f"{bundles[0]} was reported and is gone; there are {visible}")
        if not workers:
            sys.exit("the check had no worker")
        time.sleep(1)
        left = [pid for pid, start in workers.items() if (parent_and_start(pid) or (0, None))[1] == start]
        if left:
            sys.exit(f"workers outlive the supervisor: {left}")
    print(f"{options.rounds} rounds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
