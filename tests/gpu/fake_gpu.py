#!/usr/bin/env python3
"""The command line with a GPU that is none: a driver that carries out y = 2 * x itself (tests/unit/exec/fake_cuda.c).

Exit status 77, a skip, where NVRTC is missing.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
E2E = os.path.join(os.path.dirname(HERE), "e2e")
FAULTS = os.path.join(HERE, "faults")
CAMPAIGN = os.path.join(E2E, "campaign.py")

sys.path.insert(0, E2E)
from expect import Failed, expect


class Cupel:
    def __init__(self, path, driver, folder):
        self.path, self.folder = os.path.abspath(path), folder
        cache = os.path.join(folder, "cache")
        self.log = os.path.join(cache, "cupel", "opened")  # a worker writes nowhere else
        os.makedirs(os.path.dirname(self.log))
        self.environment = dict(os.environ, CUPEL_LIBCUDA=os.path.abspath(driver), XDG_CACHE_HOME=cache, FAKE_CUDA_LOG=self.log)

    def run(self, *arguments):
        done = subprocess.run([self.path, *arguments, "-q"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                              env=self.environment)
        return done.returncode, done.stdout + done.stderr

    def opened(self):
        return os.path.getsize(self.log) if os.path.exists(self.log) else 0


def reuses_workers(cupel):
    """Also for recipes with earlier calls."""
    before = cupel.opened()
    status, text = cupel.run("diff", os.path.join(FAULTS, "right.cu"), "--on", "emu,cuda", "--cases", "100", "--seed", "2")
    expect(status == 0, "emulator and driver differ", text)
    expect(cupel.opened() - before == 1, f"{cupel.opened() - before} processes used the GPU, not 1", text)


def tells_what_it_cannot_see(cupel):
    kernel = os.path.join(FAULTS, "silent_read.cu")
    status, text = cupel.run("check", kernel, "--cases", "60", "--seed", "1", "-o", cupel.folder)
    expect(status == 1, "the emulator accepts a stray read", text)
    bundles = glob.glob(os.path.join(cupel.folder, "crashes", "gpu-silent-read", "RES-01-bad-access*"))
    expect(len(bundles) == 1, f"{len(bundles)} bundles", text)
    status, text = cupel.run("replay", bundles[0], "--on", "cuda")
    expect(status == 0 and "not shown: 'cuda' sees no single access" in text, "a stray read is said to be gone", text)
    status, text = cupel.run("replay", bundles[0], "--on", "emu")
    expect(status == 1 and "still fails" in text, "the emulator does not show it again", text)


def campaigns_on_both(cupel):
    """Slices of one contract on the GPU and beside it on the emulator, without a compiler."""
    objects, manifest, record, bare = (os.path.join(cupel.folder, name) for name in ("objects", "manifest", "record", "bin"))
    os.mkdir(bare)
    subprocess.run([cupel.path, "build", os.path.join(FAULTS, "right.cu"), "-o", objects], check=True, capture_output=True)
    with open(manifest, "w", encoding="utf-8") as file:
        file.write("right.cu gpu-right accepted -\n")
    done = subprocess.run([sys.executable, CAMPAIGN, "--cupel", cupel.path, "--manifest", manifest, "--folder", FAULTS, "--record", record,
                           "--on", "cuda,emu", "--gpus", "1", "--jobs", "1,1", "--objects", objects, "--cases", "200", "--slice", "20"],
                          capture_output=True, text=True, check=False, env=dict(cupel.environment, PATH=bare))
    text = done.stdout + done.stderr
    with open(record, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    expect(done.returncode == 0 and sum(line["cases"] for line in lines) == 200, "not all slices", text)
    expect({line["executor"] for line in lines} == {"cuda", "emu"}, "one executor had all slices", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--driver", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cupel = Cupel(options.cupel, options.driver, folder)
        status, text = cupel.run("check", os.path.join(FAULTS, "right.cu"), "--on", "cuda", "--cases", "20", "--seed", "1", "-o", folder)
        if status == 3 and "NVRTC" in text:
            print("skipped:", text.strip()[-200:])
            return 77
        try:
            expect(status == 0 and "addresses not checked by the device" in text, "a correct kernel", text)
            reuses_workers(cupel)
            tells_what_it_cannot_see(cupel)
            campaigns_on_both(cupel)
        except Failed as failure:
            print(failure)
            return 1
    print("4 passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
