#!/usr/bin/python3
"""guide.py ROOT CUPEL: the documents for users say what the program does.

- every contract in a yaml block loads (beside an empty source of the right name);
- every `cupel ..` command line names a command and options that exist;
- every expression in the table of PyTorch calls is one of the language;
- every recurrence takes operands of the shapes that its row states, and no others;
- every element type stands in the table of them;
- the list of functions that are not there yet is the program's;
- docs/gates.md has every gate, with the sentences that `cupel gates` prints;
- docs/guide.md shows what `cupel init` writes for the kernel that stands in it.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

DOCUMENTS = ("README.md", "docs/guide.md", "docs/counterexamples.md", "docs/writing-contracts.md", "docs/gates.md",
             "docs/contract.md", "docs/campaigns.md")
TABLE_CONTRACT = """cupel: 1
id: table
dims: {M: 4, N: 8}
inputs: {INPUTS}
outputs: {out: "f32[]"}
ensures: {out: "EXPRESSION"}
kernel: {entry: k, args: [out], grid: [1], block: [32]}
"""
TABLE_INPUTS = {
    "x": "f32[M, N]", "y": "f32[M, N]", "q": "f32[M, N]", "k": "f32[M, N]", "v": "f32[M, N]", "gate": "f32[N]", "up": "f32[N]", "a": "f32[N]",
    "b": "f32[N]", "w": "f32[WEIGHT]", "bias": "f32[BIAS]", "mean": "f32[N]", "var": "f32[N]", "table": "f32[M, N]", "cos": "f32[M, N]",
    "sin": "f32[M, N]", "mask": "bool[M, M]", "codes": "i8[M, N]", "src": "f32[M, N]", "seq": "f32[2, 3, N]", "taps": "f32[4, 3, 3]",
    "img": "f32[2, 3, N, N]", "filt": "f32[4, 3, 3, 3]", "depth": "f32[3, 1, 3, 3]", "up2": "f32[3, 4, 2, 2]", "proj": "f32[4, 3]",
}
TABLE_INDICES = {"ids": "[M]", "index": "[M, N]"}


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as text:
        return text.read()


def run(cupel, *arguments, cwd=None):
    done = subprocess.run([cupel, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=cwd)
    return done.returncode, done.stdout


def blocks(text, language):
    return re.findall(r"^```" + language + r"\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def dry_run(cupel, contract):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "kernel.yaml"), "w", encoding="utf-8") as out:
            out.write(contract)
        with open(os.path.join(folder, "kernel.cu"), "w", encoding="utf-8") as out:
            out.write("__global__ void k(const float *x, float *out) {}\n")
        return run(cupel, "check", "kernel.yaml", "--dry-run", cwd=folder)


def check_contracts(cupel, name, text):
    found = [b for b in blocks(text, "yaml") if re.search(r"^cupel: 1$", b, re.MULTILINE)]
    for contract in found:
        if "EDIT_ME" in contract:  # as init leaves it
            continue
        status, output = dry_run(cupel, contract)
        if status != 0:
            yield f"{name}: a contract does not load: {output.strip()}"


def check_commands(cupel, name, text):
    """Command lines in code, indented or fenced, and between backquotes."""
    _, help_text = run(cupel, "--help")
    commands = set(re.findall(r"^  cupel (\w+)", help_text, re.MULTILINE))
    lines = re.findall(r"^(?:\$ |    )(cupel .*)$", text, re.MULTILINE) + re.findall(r"`(cupel [a-z][^`\n]*)`", text)
    for line in lines:
        words = line.split("#")[0].split()
        command = words[1] if len(words) > 1 else ""
        if command.startswith("--"):
            continue
        if command not in commands:
            yield f"{name}: no such command: {line}"
            continue
        _, options = run(cupel, command, "--help")
        known = set(re.findall(r"(--[\w-]+)", options)) | set(re.findall(r"^  (-\w),", options, re.MULTILINE))
        for option in words[2:]:
            if re.match(r"--?[a-zA-Z]", option) and option.split("=")[0].rstrip("`.,;:)") not in known:
                yield f"{name}: {command} has no {option}: {line}"


def check_table(cupel, text):
    section = text.split("\n## From PyTorch\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (?:`.*`.*|\w.*) \| (`[^|]*`) \|$", section, re.MULTILINE)
    if len(rows) < 30:
        yield f"writing-contracts.md: {len(rows)} rows were found in the table of PyTorch calls"
    for expression in (e for row in rows for e in re.findall(r"`([^`]*)`", row)):
        linear = "linear(" in expression
        used = set(re.findall(r"\b[a-z]\w*\b(?!\()", re.sub(r"'.*?'", "", expression)))
        inputs = [f'{name}: "{shape}"' for name, shape in TABLE_INPUTS.items() if name in used]
        inputs += [f"{name}: {{type: i32, shape: {shape}, below: 4}}" for name, shape in TABLE_INDICES.items() if name in used]
        contract = TABLE_CONTRACT.replace("INPUTS", ", ".join(inputs)).replace("EXPRESSION", expression.replace('"', "'"))
        contract = contract.replace("WEIGHT", "M, N" if linear else "N")
        status, output = dry_run(cupel, contract.replace("BIAS", "M" if linear else "N"))
        # every row gives some tensor: that it is no scalar is the one thing that may be wrong
        if status != 0 and not re.search(r"expected the shape \[\].*found \[", output):
            yield f"writing-contracts.md: {expression}: {output.strip()}"


RECURRENCE_CONTRACT = """cupel: 1
id: recurrence
dims: {H: 2, L: 3, K: 4, V: 5, P: 5}
inputs: {INPUTS}
outputs: {out: "f32[]"}
ensures: {out: "sum(EXPRESSION)"}
kernel: {entry: k, args: [out], grid: [1], block: [32]}
"""


def check_recurrences(cupel, text):
    """Every row of the table of recurrences loads with the shapes it states, and with no other rank."""
    rows = re.findall(r"^\| `(\w+\([^`|]*\))` \| ((?:\w+ \[[^|]*)) \| ", text, re.MULTILINE)
    if len(rows) != 8:
        yield f"writing-contracts.md: {len(rows)} rows were found in the table of recurrences"
    for expression, operands in rows:
        shapes = [re.match(r"(\w+) \[\.\.(?:, )?(.*)\]", operand).groups() for operand in operands.split("; ")]
        whole = {name: "H" + (", " + shape if shape else "") for name, shape in shapes}
        for changed in ("", *(whole if len(whole) > 2 else ())):
            inputs = ", ".join(f'{name}: "f32[{shape if name != changed else shape + ", 7"}]"' for name, shape in whole.items())
            contract = RECURRENCE_CONTRACT.replace("INPUTS", inputs).replace("EXPRESSION", expression)
            status, output = dry_run(cupel, contract)
            if (status == 0) != (changed == ""):
                yield f"writing-contracts.md: {expression} with {inputs}: {output.strip()}"


def check_types(root, cupel, text):
    """The table of element types has every one, by a name that a contract takes, with the C++ type that $T stands for."""
    formats = dict(re.findall(r'X\(\w+, "(\w+)".*"([\w ]+)"\)', read(root, "oracles", "formats.h")))
    rows = dict(re.findall(r"^\| `(\w+)` \| (`[^|]*) \|$", text.split("\n## Element types\n")[1].split("\n## ")[0], re.MULTILINE))
    if len(formats) != 16 or set(rows) != set(formats):
        yield f"writing-contracts.md: the table of element types lacks {sorted(set(formats) ^ set(rows))}"
    for name, spelled in rows.items():
        if f"`{formats.get(name)}`" not in spelled:
            yield f"writing-contracts.md: {name} is {formats.get(name)} in C++, the table has {spelled}"
        contract = TABLE_CONTRACT.replace("INPUTS", f'x: "{name}[N]"').replace("EXPRESSION", "sum(x)")
        status, output = dry_run(cupel, contract)
        if status != 0:
            yield f"writing-contracts.md: {name}: {output.strip()}"


def check_missing(cupel, text):
    _, ops = run(cupel, "ops")
    wanted = {re.search(r"(\w+)\(", line).group(1) for line in ops.splitlines() if line.endswith("not there yet")}
    listed = re.search(r"refused with its line: `(.*?)`", text, re.DOTALL)
    found = set(listed.group(1).split()) if listed else set()
    for function in sorted(wanted ^ found):
        yield f"writing-contracts.md: {function} is {'not listed as missing' if function in wanted else 'there by now'}"


def check_gates(cupel, text):
    gates = json.loads(subprocess.run([cupel, "gates", "--format", "json"], capture_output=True, text=True, check=True).stdout)
    if len(gates) != 12:
        yield f"gates.md: the program knows {len(gates)} gates"
    for gate in gates:
        section = re.search(rf"^## {gate['id']} (.*?)$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        if not section:
            yield f"gates.md: {gate['id']} is missing"
            continue
        if section.group(1) != gate["title"]:
            yield f"gates.md: {gate['id']} is called {gate['title']}"
        lines = [f"- {key.replace('_', ' ')}: {gate[key]}" for key in
                 ("asserts", "exercised_by", "needs", "not_exercised_when", "not_applicable_when", "cost")]
        lines.append(f"- elsewhere: {gate['in_Kernel_Contracts']} (Kernel Contracts), {gate['in_Lethe']} (Lethe)")
        for line in lines:
            if line + "\n" not in section.group(2):
                yield f"gates.md: {gate['id']} lacks the line: {line}"


def check_guide(cupel, text):
    kernels, shown = blocks(text, "cuda"), blocks(text, "yaml")
    if not kernels or not shown:
        yield "guide.md: the kernel or its contract is missing"
        return
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "rows.cu"), "w", encoding="utf-8") as out:
            out.write(kernels[0])
        status, output = run(cupel, "init", "rows.cu", cwd=folder)
        if status != 3:  # the kernel is wrong, and the trial run says so
            yield f"guide.md: cupel init: {output}"
        elif read(folder, "rows.yaml") != shown[0]:
            yield "guide.md: cupel init writes another contract:\n" + read(folder, "rows.yaml")
        if output not in text:
            yield "guide.md: cupel init says something else: " + output


def main():
    root, cupel = sys.argv[1], os.path.abspath(sys.argv[2])
    wrong = []
    for name in DOCUMENTS:
        text = read(root, name)
        wrong += [*check_contracts(cupel, name, text), *check_commands(cupel, name, text)]
    writing = read(root, "docs", "writing-contracts.md")
    wrong += [*check_table(cupel, writing), *check_recurrences(cupel, writing), *check_missing(cupel, writing),
              *check_types(root, cupel, writing)]
    wrong += check_gates(cupel, read(root, "docs", "gates.md"))
    wrong += check_guide(cupel, read(root, "docs", "guide.md"))
    print("\n".join(wrong) or "the documents agree with the program")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
