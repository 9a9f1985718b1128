#!/bin/sh
# Shows cupel at work on a fresh Debian 12: installs what is missing, builds the release preset, and checks a softmax whose
# tail lanes are filled with 0. Ends with the verdict REJECTED and the smallest row that fails. May be run again at will.
set -eu
cd "$(dirname "$0")"

scripts/install-dependencies.sh build
cmake --preset release -DCUPEL_TESTS=OFF >/dev/null
cmake --build --preset release --target cupel

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
kernel=seeds/kernels/softmax_tail_zero.cu

printf '\n$ cupel check seeds/kernels/softmax.cu --cases 500\n'
build/release/cupel check seeds/kernels/softmax.cu --cases 500 --quiet -o "$out" | tail -n 1

printf '\n$ cupel check %s\n' "$kernel"
status=0
build/release/cupel check "$kernel" -o "$out" || status=$?
if [ "$status" != 1 ]; then
    echo "expected the verdict REJECTED (exit status 1), found exit status $status" >&2
    exit 1
fi

bundle=$(find "$out/crashes" -mindepth 2 -maxdepth 2 -type d -name 'CMP-*' | head -n 1)
printf '\n$ cupel replay %s\n' "$bundle"
status=0
build/release/cupel replay "$bundle" || status=$?
if [ "$status" != 1 ]; then
    echo "expected the replay to fail again (exit status 1), found exit status $status" >&2
    exit 1
fi
mkdir -p crashes
printf '\nThe softmax is REJECTED, as it should be. Keep a counterexample with: build/release/cupel check %s\n' "$kernel"
