#!/usr/bin/python3
"""A disk without room, and one that may not be written. The search goes on, what it finds is reported with the reason why it
could not be saved, the exit status says rejected, and one warning tells of the corpus; nothing half-written is visible. When there
is room again before the end, what was reported is saved after all. Needs a file system of its own (a tmpfs in a user namespace);
where none can be made, this is skipped with the reason (exit status 77)."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

SKIPPED = 77


def expect(condition, text):
    if not condition:
        sys.exit(text)


def in_namespace():
    """Starts this program again in namespaces of its own."""
    if os.environ.get("CUPEL_TEST_NAMESPACE"):
        return
    tried = subprocess.run(["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /tmp"], capture_output=True, text=True,
                           check=False)
    if tried.returncode != 0:
        print(f"skipped: no tmpfs can be mounted here: {tried.stderr.strip()}")
        sys.exit(SKIPPED)
    os.execvpe("unshare", ["unshare", "-rm", sys.executable, *sys.argv], dict(os.environ, CUPEL_TEST_NAMESPACE="1"))


def mount(folder, what):
    subprocess.run(["mount", *what, folder], check=True)


def search(options, command, out, *arguments):
    done = subprocess.run([options.cupel, command, options.kernel, "-o", out, "--seed", "3", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def visible(out, kind):
    root = os.path.join(out, kind)
    return [name for folder in (os.listdir(root) if os.path.isdir(root) else []) for name in os.listdir(os.path.join(root, folder))]


def full(options, out):
    mount(out, ["-t", "tmpfs", "-o", "size=16k", "tmpfs"])
    with open(os.path.join(out, "filler"), "wb") as filler:
        try:
            filler.write(b"x" * 65536)
        except OSError:
            pass
    for command in ("check", "fuzz"):
        status, report, talk = search(options, command, out, "--cases", "60")
        expect(status == 1, f"{command} on a full disk ends with {status}:\n{report}{talk}")
        expect("REJECTED" in report and "could not be saved: " in report and "No space left" in report, report)
        expect("could not be saved" in talk, talk)
        expect(talk.count("warning: corpus:") == 1, talk)
        expect(not visible(out, "crashes") and not visible(out, "corpus"), f"left: {visible(out, 'crashes')}")
    os.remove(os.path.join(out, "filler"))


def room_again(options, out):
    mount(out, ["-t", "tmpfs", "-o", "size=4k", "tmpfs"])
    command = [options.cupel, "fuzz", options.kernel, "-o", out, "--seed", "3", "--for", "100"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "could not be saved" in line:
            break
    mount(out, ["-o", "remount,size=64m"])
    time.sleep(0.5)
    process.terminate()
    # an interrupted search ends at once; what waits is saved by then all the same
    report, talk = process.communicate()
    expect(process.returncode == 1, f"ended with {process.returncode}:\n{report}{talk}")
    expect("could not be saved" not in report, report)
    for bundle in re.findall(r"replay    cupel replay (.*)", report):
        done = subprocess.run([options.cupel, "replay", bundle], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        expect("still fails" in done.stdout, done.stdout)
    expect(visible(out, "corpus"), "the corpus was not saved")


def read_only(options, out):
    mount(out, ["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
    mount(out, ["-o", "remount,ro"])
    status, report, talk = search(options, "check", out, "--cases", "60")
    expect(status == 1, f"a check on a read-only disk ends with {status}:\n{report}{talk}")
    expect("could not be saved" in report and "Read-only" in report, report)
    expect("warning: findings cannot be saved" in talk and talk.count("warning: corpus:") == 1, talk)


def cache_full(options, cache):
    """The compiler's own folder has no room: said as that, and nothing is left behind to fill it further."""
    mount(cache, ["-t", "tmpfs", "-o", "size=100k", "tmpfs"])
    done = subprocess.run([options.cupel, "check", options.kernel, "-o", os.path.join(cache, "out"), "--cases", "5"],
                          env=dict(os.environ, XDG_CACHE_HOME=cache), capture_output=True, text=True, check=False)
    expect(done.returncode == 3 and "No space left on device" in done.stderr, f"{done.returncode}: {done.stderr}")
    left = [name for name in os.listdir(os.path.join(cache, "cupel")) if name.startswith(("unpack-", "compile-"))]
    expect(not left, f"left: {left}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cupel", required=True)
    parser.add_argument("--kernel", required=True)
    options = parser.parse_args()
    in_namespace()
    with tempfile.TemporaryDirectory() as folder:
        for trial in (full, room_again, read_only, cache_full):
            out = os.path.join(folder, trial.__name__)
            os.mkdir(out)
            try:
                trial(options, out)
            finally:
                subprocess.run(["umount", "-l", out], check=False)
    print("full, full for a while, read-only, a full cache")
    return 0


if __name__ == "__main__":
    sys.exit(main())
