#!/usr/bin/python3
"""documents.py ROOT: every file and folder that the documents for people name exists. Names with a part in capitals (NAME, FAMILY) stand
for a pattern, of which one file at least must exist."""
import glob
import os
import re
import sys

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "docs/bundle.md", "docs/contract.md", "docs/oracle.md", "docs/conventions.md", "docs/guide.md",
             "docs/counterexamples.md", "docs/writing-contracts.md", "docs/gates.md", "docs/kernels.md",
             "tests/records/README.md")
PATH = re.compile(r"(?<![\w/.-])((?:oracles|mutators|gates|harness|tests|seeds|docs|scripts|cmake)/[\w./*-]*[\w*])")
MADE_LATER = {"tests/records/correct-kernels-million.jsonl"}


def main():
    root = sys.argv[1]
    wrong, seen = [], 0
    for document in DOCUMENTS:
        path = os.path.join(root, document)
        if not os.path.exists(path):
            wrong.append(f"{document} is missing")
            continue
        with open(path, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                for name in PATH.findall(line):
                    seen += 1
                    pattern = re.sub(r"\b[A-Z]{3,}\b|(?<=_)[A-Z]{3,}", "*", name) if not name.endswith(".md") else name
                    if name not in MADE_LATER and not glob.glob(os.path.join(root, pattern)):
                        wrong.append(f"{document}:{number}: {name} does not exist")
    if seen < 10:
        wrong.append("hardly a name was found in the documents")
    print("\n".join(wrong) or f"{seen} names")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
