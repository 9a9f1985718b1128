#!/usr/bin/python3
"""coverage.py ROOT: every function of the language that this version composes (NOW in oracles/function_table.h) has an independent
route, a good kernel that must stay inside its allowed sets, and a faulty one that must leave them.

A function counts as covered where a test calls it by name inside a string: NAME( in an expression. Exemptions are listed here with their
reasons, and one that is no longer needed is an error too. Likewise every function has a row in docs/conventions.md, of which
test_conventions runs each."""
import glob
import os
import re
import sys

ROUTES = {
    "an independent route": ("tests/unit/oracles/expectations*.py", "tests/unit/oracles/test_exact_special.c",
                             "tests/unit/oracles/test_recurrence*.c", "tests/unit/oracles/test_gradient*.c"),
    "a good kernel": ("tests/property/good_*.c", "tests/property/window_kernels.c", "tests/property/test_recurrences.c"),
    "a row in docs/conventions.md": ("docs/conventions.md",),
    "a faulty kernel": ("tests/property/bad_*.c", "tests/property/test_*fault*.c"),
}

EXEMPT = {
    ("dropout_mask", "a good kernel"): "bits of a counter, which expectations.py computes one by one: nothing is rounded",
    ("dropout_mask", "a faulty kernel"): "the same: any other bit is outside",
}


def supported(root):
    text = open(os.path.join(root, "oracles", "function_table.h"), encoding="utf-8").read().replace("\\\n", " ")
    string = r'(?:"(?:[^"\\]|\\.)*"\s*)+'
    rows = re.findall(r'X\("[^"]*",\s*(\w+),\s*' + string + r',\s*' + string + r',\s*(NOW|LATER)\)', text)
    if len(rows) != len(re.findall(r'X\("', text)):
        raise SystemExit("rows of the function table that this does not read")
    return [name for name, when in rows if when == "NOW"]


def called(root, patterns):
    """The names that stand before a parenthesis inside the strings of these files, or in the rows' expressions of a page."""
    names = set()
    for pattern in patterns:
        for path in glob.glob(os.path.join(root, pattern)):
            text = open(path, encoding="utf-8").read()
            rows = r"^\| `(.*?)` \|" if path.endswith(".md") else r'"((?:[^"\\\n]|\\.)*)"'
            for string in re.findall(rows, text, re.MULTILINE):
                names.update(re.findall(r"\b([a-z_][a-z_0-9]*)\(", string))
    return names


def main():
    root = sys.argv[1]
    functions = supported(root)
    wrong = [] if len(functions) > 100 else ["only %d functions were found in the table" % len(functions)]
    for what, patterns in ROUTES.items():
        names = called(root, patterns)
        missing = [name for name in functions if name not in names]
        wrong += ["%s has not %s" % (name, what) for name in missing if (name, what) not in EXEMPT]
        wrong += ["%s needs no exemption from %s" % key for key in EXEMPT if key[1] == what and key[0] not in missing]
    for line in wrong:
        print(line)
    print("%d functions" % len(functions))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
