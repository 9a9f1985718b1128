#!/usr/bin/python3
"""Reproduction files: every bundle holds one that its compiler takes and that shows the failure.

For each function of repro/defects.c: the file must compile, print FAILED and exit with 1, and, compiled with -DMENDED, find
nothing. For each defect of the manifest: repro.cu must compile with nvcc (`--nvcc`, skipped where there is none); `--keep DIR`
keeps the programs for tests/gpu/repros.sh. Prints one line a bundle; exit status 0 when all is well.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import manifest

HERE = os.path.dirname(os.path.abspath(__file__))


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          timeout=600, check=False, **more)


def check(options, path, contract, folder):
    """Checks one contract; its bundles."""
    command = [options.cupel, "check", path, "--contract", contract, "--seed", "1", "--cases", str(options.cases),
               "--format", "json", "-o", folder]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    try:
        findings = json.loads(done.stdout)["findings"]
    except (json.JSONDecodeError, KeyError):
        return [], done.stdout + done.stderr
    return [f["bundle"] for f in findings if f.get("bundle")], ""


def reproduces_here(bundle):
    """A function of the host: fails as it is, holds when it is mended."""
    source, program = os.path.join(bundle, "repro.c"), os.path.join(bundle, "repro")
    for define, status, says in ((), 1, "FAILED"), (("-DMENDED",), 0, "did not show the failure"):
        built = run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused", *define, "-o", program, source, "-lm"])
        if built.returncode:
            return built.stdout
        done = run([program], cwd=bundle)
        if done.returncode != status or says not in done.stdout.splitlines()[-1]:
            return f"{' '.join(define)} exit status {done.returncode}, expected {status}:\n{done.stdout}"
    return ""


def compiles(nvcc, bundle, keep):
    source, program = os.path.join(bundle, "repro.cu"), os.path.join(bundle, "repro")
    built = run([nvcc, "-arch=sm_90", "-Werror", "all-warnings", "-o", program, source])
    if built.returncode:
        return built.stdout
    if "-inaccurate-" in bundle:  # evidence: what it permits holds the result
        with open(source, encoding="utf-8") as text:
            if "unusual, not impossible" not in text.read():
                return "an inaccurate result that is permitted, and no word that it need not show"
    if keep:
        name = os.path.basename(os.path.dirname(bundle)) + "--" + os.path.basename(bundle)
        shutil.move(program, os.path.join(keep, name))
        shutil.copy(source, os.path.join(keep, name + ".cu"))
    return ""


def host_bundles(options, folder):
    path = os.path.join(HERE, "repro", "defects.c")
    with open(path, encoding="utf-8") as text:
        ids = re.findall(r"^id: (\S+)", text.read(), re.MULTILINE)
    for contract in ids:
        bundles, problem = check(options, path, contract, folder)
        if not bundles:
            yield contract, problem or "no finding"
        for bundle in bundles:
            yield os.path.relpath(bundle, folder), reproduces_here(bundle)


def device_bundles(options, nvcc, folder):
    work = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for file, contract, verdict, *_ in manifest.read_manifest(options.manifest):
            if verdict != "rejected" or not re.search(options.only, contract):
                continue
            bundles, problem = check(options, os.path.join(options.kernels, file), contract, folder)
            if problem:
                yield contract, problem
            elif not bundles:
                print(f"# {contract}: no finding in {options.cases} cases", flush=True)
            for bundle in bundles:
                work.append((os.path.relpath(bundle, folder), pool.submit(compiles, nvcc, bundle, options.keep)))
        for name, result in work:
            yield name, result.result()


def find_nvcc():
    places = [shutil.which("nvcc") or ""] + sorted(glob.glob("/usr/local/cuda*/bin/nvcc"))
    return next((p for p in places if p and os.access(p, os.X_OK)), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--manifest")
    parser.add_argument("--kernels")
    parser.add_argument("--only", default=".", help="regular expression over contracts of the manifest")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--keep", help="folder for the compiled programs")
    options = parser.parse_args()
    nvcc = find_nvcc()
    failed = count = 0
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        results = device_bundles(options, nvcc, folder) if options.manifest and nvcc else ()
        if not options.manifest:
            results = host_bundles(options, folder)
        for name, problem in results:
            count += 1
            failed += bool(problem)
            print(f"{'not ok' if problem else 'ok'} {name}\n{problem}".rstrip(), flush=True)
    if options.manifest and not nvcc:
        print("skipped: nvcc is not there")
        sys.exit(77)
    print(f"{count - failed} passed, {failed} failed")
    sys.exit(failed > 0 or count == 0)


if __name__ == "__main__":
    main()
