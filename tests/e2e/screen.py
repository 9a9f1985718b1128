#!/usr/bin/python3
"""The status screen of `cupel fuzz` on a small terminal: it stays in place, no line is wider than the terminal, what is told stands
above it, and Ctrl-C leaves the report on a clean screen with the exit status of a check."""
import argparse
import fcntl
import os
import pty
import re
import select
import struct
import sys
import tempfile
import termios
import time

COLUMNS, ROWS = 64, 14
TOKEN = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+")


class Terminal:
    """As much of a terminal as the screen uses. Lines that have scrolled away stay in `lines`."""

    def __init__(self):
        self.lines, self.y, self.x, self.frames, self.widest = [""], 0, 0, 0, 0

    def feed(self, token):
        if token == "\n":
            self.y += 1
            if self.y == len(self.lines):
                self.lines.append("")
        elif token == "\r":
            self.x = 0
        elif token.startswith("\x1b["):
            self.escape(token)
        else:
            line = self.lines[self.y]
            self.lines[self.y] = line[:self.x].ljust(self.x) + token + line[self.x + len(token):]
            self.x += len(token)

    def escape(self, token):
        count = int(re.sub(r"\D", "", token) or 1)
        if token[-1] == "A":
            if count >= ROWS:
                sys.exit(f"{count} lines were drawn on a terminal of {ROWS}")
            self.widest = max([self.widest] + [len(line) for line in self.lines[self.y - count:self.y]])
            self.y -= count
            self.frames += 1
        elif token[-1] == "K":
            self.lines[self.y] = self.lines[self.y][:self.x]
        elif token[-1] == "J":
            self.lines[self.y] = self.lines[self.y][:self.x]
            del self.lines[self.y + 1:]
        else:
            sys.exit(f"an escape sequence that is not expected: {token!r}")


def run(command, terminal, enough):
    """Feeds what command prints; presses Ctrl-C as soon as enough(terminal). Returns the exit status."""
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.environ["TERM"] = "xterm"
        os.execv(command[0], command)
    rest, pressed, begun = "", False, time.monotonic()
    while True:
        if time.monotonic() - begun > 200:
            sys.exit("the campaign does not end:\n" + "\n".join(terminal.lines[-40:]))
        if not select.select([master], [], [], 0.2)[0]:
            continue
        try:
            read = os.read(master, 65536)
        except OSError:
            break
        if not read:
            break
        text = rest + read.decode("utf-8", "replace")
        end = max(text.rfind("\n"), text.rfind("\x1b"))  # a sequence may be cut anywhere
        text, rest = text[:end], text[end:]
        for token in TOKEN.findall(text):
            terminal.feed(token)
        if not pressed and enough(terminal):
            os.write(master, b"\x03")
            pressed = True
    for token in TOKEN.findall(rest):
        terminal.feed(token)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--kernel", required=True)
    options = parser.parse_args()
    terminal = Terminal()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as out:
        command = [options.cupel, "fuzz", options.kernel, "-o", out, "--seed", "3"]
        status = run(command, terminal,
                     lambda t: t.frames > 3 and any(line.startswith("minimised ") for line in t.lines) and
                     any(re.match(r"findings [1-9]", line) for line in t.lines[t.y - ROWS:]))
    lines = terminal.lines
    text = "\n".join(lines)
    report = next((i for i, line in enumerate(lines) if "contract row-softmax" in line), None)
    wrong = []
    if status != 1:
        wrong.append(f"exit status {status}")
    if terminal.widest >= COLUMNS:
        wrong.append(f"a line of {terminal.widest} characters on a terminal of {COLUMNS}")
    if not any(line.startswith("found wrong-value-y") for line in lines[:report]):
        wrong.append("what was found does not stand above the report")
    if report is None or "REJECTED" not in text:
        wrong.append("there is no report")
    if any(line.lstrip("^C").startswith("cupel fuzz ") or "a second now" in line for line in lines):
        wrong.append("a part of the screen was left behind")
    if wrong:
        sys.exit("\n".join(wrong) + "\n" + text)
    print(f"{terminal.frames} frames, widest line {terminal.widest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
