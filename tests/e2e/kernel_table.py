#!/usr/bin/python3
"""kernel_table.py ROOT: docs/kernels.md says of the kernels what the manifests say, and every gate has three planted defects that it
alone may name and three correct kernels that look guilty before it. First the comparison itself is tried on doctored copies."""
import os
import re
import sys

from manifest import read_manifest

MANIFESTS = ("seeds/manifest.txt", "tests/e2e/correct/manifest.txt", "tests/e2e/correct/suspects.txt",
             "tests/e2e/faults/manifest.txt")
FAULTS = re.compile(r"hang|deadlock|stack|assert|exit|memory|crash|heap")
LEAST = 3
CHEATS = 20


def known_gates(root):
    with open(os.path.join(root, "gates/finding.h"), encoding="utf-8") as text:
        return re.findall(r'X\([A-Z]{3}_\d\d, "([A-Z]{3}-\d\d)"', text.read())


def read_kernels(root):
    """Contract: file, verdict, gates, signature."""
    kernels = {}
    for path in MANIFESTS:
        for file, contract, verdict, gates, signature, _ in read_manifest(os.path.join(root, path)):
            kernels[contract] = (file, verdict, gates, signature or "")
    return kernels


def read_tables(root):
    """The rows of every table of the page, under its heading: lists of cells."""
    tables, heading = {}, ""
    with open(os.path.join(root, "docs/kernels.md"), encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#"):
                heading = line.strip("# \n")
            elif line.startswith("|") and not line.startswith("|---"):
                tables.setdefault(heading, []).append([cell.strip() for cell in line.strip("|\n ").split("|")])
    return {heading: rows[1:] for heading, rows in tables.items()}


def names(cell):
    return re.findall(r"`([\w.-]+)`", cell)


def rejected_by(kernel, gate):
    _, verdict, gates, signature = kernel
    if verdict != "rejected":
        return False
    return bool(FAULTS.search(signature)) if gate == "faults" else gates == {gate}


def gate_complaints(tables, kernels, gates):
    rows = {row[0]: row for row in tables.get("Gate by gate", [])}
    for gate in gates + ["faults"]:
        if gate not in rows:
            yield f"{gate} has no row"
            continue
        rejected, accepted = names(rows[gate][1]), names(rows[gate][2])
        for word, listed in (("rejected", rejected), ("accepted", accepted)):
            if len(set(listed)) < LEAST:
                yield f"{gate}: {len(set(listed))} {word}, expected {LEAST} at least"
        for name in rejected:
            if name not in kernels or not rejected_by(kernels[name], gate):
                yield f"{gate}: no manifest says that {name} is rejected by it alone"
        for name in accepted:
            if name not in kernels or kernels[name][1] != "accepted" or gate not in kernels[name][2]:
                yield f"{gate}: no manifest says that {name} is accepted and looks guilty before it"
        for name, kernel in kernels.items():
            if kernel[1] == "accepted" and gate in kernel[2] and name not in accepted:
                yield f"{gate}: {name} is missing"


def cheat_complaints(tables, kernels):
    listed = {}
    for row in tables.get("Kernels that cheat", []):
        listed[names(row[1])[0]] = row[3]
    if len(listed) != CHEATS:
        yield f"{len(listed)} cheats, expected {CHEATS}"
    for name, (file, verdict, gates, _) in kernels.items():
        if file.startswith("cheats/"):
            expected = "accepted" if verdict == "accepted" else ",".join(sorted(gates))
            if listed.pop(name, None) != expected:
                yield f"{name}: the page does not say {expected}"
    yield from (f"{name}: in no manifest" for name in listed)


def control_complaints(tables, kernels):
    rows = [row for row in tables.get("What must not be flagged", []) if names(row[1])]
    if len(rows) < 10:
        yield f"{len(rows)} controls"
    for row in rows:
        for name in names(row[1]):
            if name not in kernels or kernels[name][1] != "accepted":
                yield f"{name}: no manifest says that it is accepted"


def file_complaints(root, kernels):
    known = {file for file, *_ in kernels.values()}
    for folder, prefix in (("seeds/kernels/cheats", "cheats/"), ("seeds/kernels", "")):
        for file in sorted(os.listdir(os.path.join(root, folder))):
            if file.endswith(".cu") and prefix + file not in known:
                yield f"{folder}/{file} is in no manifest"


def table_complaints(tables, kernels, gates):
    return [*gate_complaints(tables, kernels, gates), *cheat_complaints(tables, kernels), *control_complaints(tables, kernels)]


def unseen_mistakes(tables, kernels, gates):
    """Mistakes that the comparison must see, and does not."""
    tried = {
        "a gate of two defects": ({**tables, "Gate by gate": [[row[0], "`row-max-nan`, `row-max-nan`, `argmax-skips-nan`", row[2]]
                                                              for row in tables["Gate by gate"]]}, kernels),
        "a gate without suspects": ({**tables, "Gate by gate": [[row[0], row[1], ""] for row in tables["Gate by gate"]]}, kernels),
        "a gate without a row": ({**tables, "Gate by gate": tables["Gate by gate"][1:]}, kernels),
        "a cheat under another gate": (tables, {**kernels, "cheat-noise": ("cheats/noise.cu", "rejected", {"RES-02"}, "")}),
        "a cheat that is let pass": (tables, {**kernels, "cheat-noise": ("cheats/noise.cu", "accepted", set(), "")}),
        "a cheat that is left out": ({**tables, "Kernels that cheat": tables["Kernels that cheat"][1:]}, kernels),
        "a control that is rejected": (tables, {**kernels, "float-only": ("float_only.cu", "rejected", {"CMP-01"}, "")}),
        "a suspect that is rejected": (tables, {**kernels, "add-native": ("add_native.cu", "rejected", {"PRC-01"}, "")}),
        "a defect that is accepted": (tables, {**kernels, "row-max-nan": ("row_max_nan.cu", "accepted", set(), "")}),
    }
    return [f"not noticed: {mistake}" for mistake, doctored in tried.items() if not table_complaints(*doctored, gates)]


def main():
    root = sys.argv[1]
    gates, kernels, tables = known_gates(root), read_kernels(root), read_tables(root)
    if len(gates) != 12:
        sys.exit(f"{len(gates)} gates in gates/finding.h, expected 12")
    wrong = table_complaints(tables, kernels, gates) + list(file_complaints(root, kernels))
    wrong += unseen_mistakes(tables, kernels, gates)
    print("\n".join(wrong) or f"{len(kernels)} kernels, {len(gates)} gates")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
