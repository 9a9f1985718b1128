#!/usr/bin/python3
"""Campaigns that are killed: SIGKILL hits the supervisor or a worker at a moment that the seed draws, again and again in one -o
folder. After each: bundles are whole or not there, whatever was reported is on the disk, the corpus holds recipes and nothing else
that is visible, temporary files do not pile up, no worker lives on, and the next campaign starts. A worker's death ends nothing."""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from killed import descendants, parent_and_start

WHOLE = {"bundle.json", "case.yaml", "explain.md", "inputs"}


def living(pids):
    return [pid for pid, start in pids.items() if (parent_and_start(pid) or (0, None))[1] == start]


def expect(condition, text):
    if not condition:
        sys.exit(text)


class Campaign:
    """One run of `cupel fuzz` whose standard error goes to a file."""

    def __init__(self, options, folder, seed):
        self.log = os.path.join(folder, "talk")
        self.out = os.path.join(folder, "out")
        command = [options.cupel, "fuzz", options.kernel, "-o", self.out, "--seed", str(seed)]
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
        self.workers = {}

    def look(self):
        self.workers.update(descendants(self.process.pid))
        return self.workers

    def talk(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()


def saved_signatures(talk):
    """Signatures of the bundles that whole lines of the log name as saved."""
    paths = re.findall(r"^  saved in (.*)\n", talk, re.MULTILINE)
    return {re.sub(r"^[A-Z]+-\d+-", "", os.path.basename(path)) for path in paths}


def check_bundles(out, reported):
    root = os.path.join(out, "crashes")
    found, hidden = set(), 0
    for contract in os.listdir(root) if os.path.isdir(root) else []:
        for name in os.listdir(os.path.join(root, contract)):
            if name.startswith("."):
                hidden += 1
                continue
            present = set(os.listdir(os.path.join(root, contract, name)))
            expect(WHOLE <= present, f"{name} is half a bundle: {sorted(present)}")
            found.add(re.sub(r"^[A-Z]+-\d+-", "", name))
    expect(reported <= found, f"reported and not on the disk: {reported - found}")
    expect(hidden <= 2, f"{hidden} temporary folders")


def check_corpus(out):
    root = os.path.join(out, "corpus")
    count = 0
    for contract in os.listdir(root) if os.path.isdir(root) else []:
        names = os.listdir(os.path.join(root, contract))
        odd = [name for name in names if not re.fullmatch(r"[0-9a-f]{32}\.recipe", name) and not name.startswith(".new-")]
        expect(not odd, f"in the corpus: {odd}")
        expect(sum(name.startswith(".") for name in names) <= 1, "temporary files pile up in the corpus")
        count += len(names)
    return count


def one_kill(options, folder, number, draw):
    campaign = Campaign(options, folder, number)
    moment = time.monotonic() + draw.uniform(0.05, options.longest)
    while time.monotonic() < moment:
        campaign.look()
        time.sleep(0.02)
    whom = draw.choice(["supervisor", "worker"])
    targets = living(campaign.look())
    if whom == "worker" and targets:
        os.kill(draw.choice(targets), signal.SIGKILL)
        time.sleep(0.3)
        campaign.look()
        expect(campaign.process.poll() is None, f"kill {number}: the campaign died with its worker:\n{campaign.talk()}")
    campaign.process.send_signal(signal.SIGKILL)
    campaign.process.wait()
    deadline = time.monotonic() + 30
    while living(campaign.workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    expect(not living(campaign.workers), f"kill {number}: workers live on: {living(campaign.workers)}")
    return whom, saved_signatures(campaign.talk())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--longest", type=float, default=4, help="seconds before a kill")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    counts = {"supervisor": 0, "worker": 0}
    reported = set()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        # compiles the kernel into the cache: a compiler that is killed is another matter
        subprocess.run([options.cupel, "check", options.kernel, "-o", os.path.join(folder, "first"), "--cases", "1", "-q"],
                       stdout=subprocess.DEVNULL, check=False)
        for number in range(1, options.kills + 1):
            whom, saved = one_kill(options, folder, number, draw)
            counts[whom] += 1
            reported |= saved
            check_bundles(out, reported)
            check_corpus(out)
        command = [options.cupel, "fuzz", options.kernel, "-o", out, "--seed", "1", "--cases", "60"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        expect(done.returncode == 1, f"the last campaign ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        known = saved_signatures(done.stderr)
        expect(reported <= known, f"the last campaign does not know {reported - known}")
        expect("no longer fails" not in done.stderr, done.stderr)
        recipes = check_corpus(out)
        hidden = [name for _, folders, files in os.walk(out) for name in folders + files if name.startswith(".")]
        expect(not hidden, f"left over: {hidden}")
    expect(reported, "no campaign lived long enough to report anything")
    print(f"{counts['supervisor']} supervisors and {counts['worker']} workers killed; {len(reported)} signature(s) kept, "
          f"{recipes} recipes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
