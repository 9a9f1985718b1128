#!/bin/sh
# Shows cupel at work on a fresh Debian 12: installs what is missing, builds the release preset, accepts a correct softmax and
# checks one whose tail lanes are filled with 0. Ends with the verdict REJECTED, the smallest row that fails, and how to
# replay it. May be run again at will.
set -eu
cd "$(dirname "$0")"

scripts/install-dependencies.sh build
cmake --preset release -DCUPEL_TESTS=OFF >/dev/null
cmake --build --preset release --target cupel
cupel=build/release/cupel

printf '\n$ %s check seeds/kernels/softmax.cu --cases 500\n' "$cupel"
"$cupel" check seeds/kernels/softmax.cu --cases 500 --quiet | tail -n 1

printf '\n$ %s check seeds/kernels/softmax_tail_zero.cu\n' "$cupel"
status=0
"$cupel" check seeds/kernels/softmax_tail_zero.cu || status=$?
if [ "$status" != 1 ]; then
    echo "expected the verdict REJECTED (exit status 1), found exit status $status" >&2
    exit 1
fi

bundle=crashes/row-softmax-tail-zero/CMP-03-wrong-value-y
status=0
"$cupel" replay "$bundle" >/dev/null || status=$?
if [ "$status" != 1 ]; then
    echo "expected $bundle to fail again (exit status 1), found exit status $status" >&2
    exit 1
fi
printf '\nRun it again: %s replay %s\nIn words:     %s/explain.md\n' "$cupel" "$bundle" "$bundle"
