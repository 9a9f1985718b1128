#!/usr/bin/python3
"""campaign.py: with cupel itself on a tiny manifest, from objects and without a compiler, and with a stand-in for cupel whose
reports are made up, for what the emulator cannot show."""
import argparse
import collections
import json
import os
import subprocess
import sys
import tarfile
import tempfile

from expect import Failed, expect

HERE = os.path.dirname(os.path.abspath(__file__))
TWO = "a.cu first accepted -\nb.cu second accepted -\nc.cu third rejected CMP-01\n"

# 2,000 elements a case, 10,000 where large ones are asked for; .tiny has eight whatever is asked for.
STAND_IN = f"#!{sys.executable} -SE" + """
import json, os, sys
words = sys.argv[1:]
value = lambda name: words[words.index(name) + 1]
contract, cases, executor = value("--contract"), int(value("--cases")), value("--on")
with open(os.environ["LOG"], "a") as log:
    log.write(json.dumps([contract, executor, os.environ.get("CUDA_VISIBLE_DEVICES"), value("--seed")]) + "\\n")
if contract.startswith("refused") and executor == "cuda":
    print("why", file=sys.stderr)
    print(json.dumps({"error": {"text": "no such thing on a GPU", "status": 3}}))
    sys.exit(3)
if contract.startswith("broken"):
    sys.exit("terrible")
each = 8 if contract.startswith("tiny") else 10000 if int(value("--elements")) > 65536 else 2000
if contract.startswith("bad"):
    os.makedirs(os.path.join(value("-o"), "crashes", contract, "CMP-01-wrong-y"))
verdict = "rejected" if contract.startswith("bad") else "inconclusive" if contract.startswith("unsure") else "accepted"
print(json.dumps({"verdict": verdict, "reason": None if verdict == "accepted" else "so it is", "cases": cases, "elements": each * cases,
                  "findings": [{"signature": "wrong-y"}] if verdict == "rejected" else [],
                  "dims": [{"name": "N", "claimed": [1, 8], "tried": [1, 8]}]}))
sys.exit({"accepted": 0, "rejected": 1, "inconclusive": 3}[verdict])
"""


class Trial:
    """A folder with a manifest, a record and, where no cupel is given, the stand-in."""

    def __init__(self, folder, manifest, cupel=None, kernels=None):
        self.folder, self.kernels = folder, kernels or folder
        self.cupel = cupel or self.write("cupel", STAND_IN)
        os.chmod(self.cupel, 0o755) if not cupel else None
        self.manifest, self.record = self.write("manifest.txt", manifest), os.path.join(folder, "record.jsonl")
        self.log = self.write("log", "")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run(self, *arguments, record=None, **variables):
        environment = dict(os.environ, LOG=self.log, **variables)
        done = subprocess.run([sys.executable, os.path.join(HERE, "campaign.py"), "--cupel", self.cupel, "--manifest", self.manifest,
                               "--folder", self.kernels, "--record", record or self.record, "--jobs", "2", *arguments],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, env=environment)
        expect("Traceback" not in done.stderr, "an exception", done.stderr)
        return done.returncode, done.stdout + done.stderr

    def lines(self, path=None):
        path = path or self.record
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def calls(self):
        return self.lines(self.log)


def total(text, contract):
    """The words of a contract's line of the totals."""
    return next(line for line in text[text.index("\ncontract "):].splitlines() if line.startswith(contract + " ")).split()


def goes_on(folder):
    """Slices that the record holds are not run again, what is missing is, and a seed serves once."""
    trial = Trial(folder, TWO)
    status, text = trial.run("--cases", "40", "--slice", "20")
    expect(status == 0 and len(trial.lines()) == 4, "two contracts, two slices each", text)
    expect(total(text, "first")[1:6] == ["40", "6000", "40", "6000", "0"], "the totals", text)
    status, text = trial.run("--cases", "40", "--slice", "20")
    expect(status == 0 and len(trial.lines()) == 4, "nothing is missing", text)
    kept = trial.lines()[:-1]
    trial.write("record.jsonl", "".join(json.dumps(line) + "\n" for line in kept) + '{"date": "20')
    status, text = trial.run("--cases", "40", "--slice", "20")
    with open(trial.record, encoding="utf-8") as file:
        lines = file.read().splitlines()
    expect(status == 0 and len(lines) == 5 and lines[3] == '{"date": "20' and "record.jsonl:4: left out" in text, "one is missing", text)
    trial.write("record.jsonl", "\n".join(lines[:3] + lines[4:]) + "\n")
    status, text = trial.run("--cases", "50", "--slice", "20")
    expect([line["cases"] for line in trial.lines()[4:]] == [20, 20], "whole slices of what is left", text)
    seeds = collections.Counter((line["contract"], line["seed"]) for line in trial.lines())
    expect(max(seeds.values()) == 1, "a seed twice", text)


def counts_others(folder):
    """--done is read and not written, and executors are counted separately and together."""
    trial = Trial(folder, TWO)
    old = [{"contract": "first", "seed": 1000, "cases": 20, "elements": 20000, "seconds": 1, "verdict": "accepted", "findings": []},
           {"contract": "first", "executor": "cuda", "seed": 1001, "cases": 20, "elements": 200000, "seconds": 1,
            "verdict": "accepted", "findings": []},
           {"contract": "unheard-of", "seed": 1, "cases": 1, "elements": 1, "seconds": 1, "verdict": "rejected", "findings": []}]
    path = trial.write("old.jsonl", "".join(json.dumps(line) + "\n" for line in old))
    status, text = trial.run("--cases", "50", "--slice", "50", "--done", path)
    made = {line["contract"]: line for line in trial.lines()}
    expect(status == 0 and trial.lines(path) == old and len(trial.lines()) == 2, "a line each", text)
    expect(made["first"]["cases"] == 50 and made["first"]["seed"] == 1002 and made["second"]["cases"] == 50, "what is missing", text)
    expect(total(text, "first")[1:7:2] == ["20", "70", "90"], "cuda, emu and all", text)


def stops(folder):
    """No slice is begun after --seconds, and the totals are printed."""
    trial = Trial(folder, TWO)
    status, text = trial.run("--cases", "40", "--seconds", "0")
    expect(status == 0 and not trial.lines() and total(text, "first")[1] == "0" and "missing: 80 cases" in text, "no time", text)


def mixes_sizes(folder):
    """Large cases as long as the mean asks for them, and only then."""
    trial = Trial(folder, TWO + "d.cu tiny accepted -\n")
    status, text = trial.run("--cases", "1000", "--slice", "50")
    sizes = collections.Counter((line["contract"], line["largest"]) for line in trial.lines())
    expect(status == 0 and sizes[("first", 65536)] > 0 and sizes[("tiny", 66000)] >= 18, "sizes", text)
    expect(5200 <= int(total(text, "first")[2]) <= 5900, "the mean", text)
    expect("largest shapes were tried" in " ".join(total(text, "tiny")), "the contract's limit", text)
    expect("mean below 5000: tiny\n" in text, "what is below", text)


def takes_turns(folder):
    """Round by round, in each the slowest first; slices of a slow contract are shorter."""
    trial = Trial(folder, TWO)
    known = [{"contract": name, "executor": "emu", "seed": 1, "largest": size, "cases": 100, "elements": 10, "seconds": seconds,
              "verdict": "accepted", "findings": []} for name, seconds in (("first", 1), ("second", 100)) for size in (65536, 66000)]
    for i, line in enumerate(known):
        line["seed"] = i
    path = trial.write("old.jsonl", "".join(json.dumps(line) + "\n" for line in known))
    status, text = trial.run("--cases", "1000", "--slice", "400", "--slice-seconds", "200", "--done", path, "--jobs", "1")
    expect(status == 0 and [call[0] for call in trial.calls()][:2] == ["second", "first"], "the slowest first", text)
    expect({line["cases"] for line in trial.lines() if line["contract"] == "first"} == {400}, "a fast one", text)
    expect([line["cases"] for line in trial.lines() if line["contract"] == "second"][0] == 200, "a slow one", text)


def shares_by_pace(folder):
    """Each executor takes what it runs fastest for the other's pace, whichever it is slower at, and all of it."""
    trial = Trial(folder, TWO)
    paces = {("first", "emu"): 8, ("first", "cuda"): 4, ("second", "emu"): 2, ("second", "cuda"): 3}
    known = [{"contract": contract, "executor": executor, "seed": 1, "largest": 65536, "cases": 10, "elements": 52000,
              "seconds": pace, "verdict": "accepted", "findings": []} for (contract, executor), pace in paces.items()]
    path = trial.write("old.jsonl", "".join(json.dumps(line) + "\n" for line in known))
    status, text = trial.run("--on", "cuda,emu", "--jobs", "1,1", "--cases", "600", "--slice", "20", "--done", path,
                             "--share", "fastest")
    first = {call[1]: call[0] for call in reversed(trial.calls())}
    expect(status == 0 and first == {"cuda": "first", "emu": "second"}, "whose slices come first", f"{trial.calls()[:4]}\n{text}")
    mine = [call[0] for call in trial.calls() if call[1] == "emu"]
    expect(mine == sorted(mine, reverse=True), "the end of one before the other", f"{mine}\n{text}")
    expect(total(text, "first")[5] >= "600" and total(text, "second")[5] >= "600", "all cases", text)


def deals_gpus(folder):
    """Each job of cuda has one GPU, those of the emulator none; what does not run there is a note, and the emulator runs it."""
    trial = Trial(folder, TWO + "d.cu refused accepted -\n")
    status, text = trial.run("--on", "cuda,emu", "--gpus", "2", "--jobs", "4,1", "--cases", "400", "--slice", "20")
    used = collections.Counter(call[2] for call in trial.calls() if call[1] == "cuda")
    expect(status == 0 and set(used) == {"0", "1"}, "two GPUs", f"{used}\n{text}")
    expect({call[2] for call in trial.calls() if call[1] == "emu"} == {""}, "the emulator needs no GPU", text)
    expect(text.count("note: refused does not run on cuda (status 3): no such thing on a GPU") == 1, "a note", text)
    refused = [line for line in trial.lines() if line["contract"] == "refused"]
    expect(refused and {line["executor"] for line in refused} == {"emu"}, "the emulator runs it", text)


def tells_defects(folder):
    """A finding, an open verdict and a failure end with status 1; the other slices are run."""
    for bad in ("bad", "unsure", "broken"):
        with tempfile.TemporaryDirectory(dir=folder) as inner:
            trial = Trial(inner, f"d.cu {bad} accepted -\n" + TWO)
            bundles = os.path.join(inner, "bundles.tar")
            status, text = trial.run("--cases", "40", "--slice", "20", "--bundles", bundles)
            expect(status == 1, bad, text)
            names = []
            if os.path.exists(bundles):
                with tarfile.open(bundles) as archive:
                    names = archive.getnames()
            expect((bad == "bad") == ("bad-1001/crashes/bad/CMP-01-wrong-y" in names), "the bundles", f"{names}\n{text}")
            expect(sum(line["contract"] in ("first", "second") for line in trial.lines()) == 4, "the others", text)
            expect(bad == "broken" or sum(line["contract"] == bad for line in trial.lines()) == 2, "its own lines", text)
            expect(bad != "unsure" or {line.get("reason") for line in trial.lines()} == {None, "so it is"}, "the reason", text)
            expect(bad != "bad" or "wrong-y" in text and total(text, "bad")[5] == "2", "the findings", text)


def runs_without_compiler(folder, cupel, kernels):
    """cupel itself: objects in place of clang; without a driver, --on cuda is a note and nothing was run."""
    trial = Trial(folder, "saxpy_float4.cu saxpy-float4 accepted -\n", cupel, kernels)
    objects, bare, cache = (os.path.join(folder, name) for name in ("objects", "bin", "cache"))
    for path in (bare, cache):
        os.mkdir(path)
    subprocess.run([cupel, "build", os.path.join(kernels, "saxpy_float4.cu"), "-o", objects], check=True, capture_output=True)
    arguments = ["--cases", "60", "--slice", "30", "--objects", objects]
    status, text = trial.run(*arguments, PATH=bare, XDG_CACHE_HOME=cache)
    expect(status == 0 and len(trial.lines()) == 2 and total(text, "saxpy-float4")[1] == "60", "from objects", text)
    status, text = trial.run("--cases", "60", record=os.path.join(folder, "none"), PATH=bare, XDG_CACHE_HOME=cache)
    expect(status == 1 and "note: saxpy-float4 does not run on emu" in text, "neither objects nor clang", text)
    status, text = trial.run(*arguments, "--on", "cuda", "--gpus", "1", record=os.path.join(folder, "none"), CUPEL_LIBCUDA=trial.log)
    expect(status == 1 and "note: saxpy-float4 does not run on cuda (status 3)" in text, "no driver", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--kernels", required=True)
    options = parser.parse_args()
    cupel = os.path.abspath(options.cupel)
    trials = [(trial, ()) for trial in (goes_on, counts_others, stops, mixes_sizes, takes_turns, shares_by_pace, deals_gpus, tells_defects)]
    trials.append((runs_without_compiler, (cupel, os.path.abspath(options.kernels))))
    failed = 0
    for trial, arguments in trials:
        with tempfile.TemporaryDirectory() as folder:
            try:
                trial(folder, *arguments)
                print(f"ok {trial.__name__}")
            except Failed as failure:
                failed += 1
                print(f"not ok {trial.__name__}: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
