#!/bin/sh
# features.sh [FILE..]: the features of docs/device-features.md on a GPU: the same kernels, compiled by NVRTC, against the same
# meanings, which the emulator's results equal too (ctest -R features). Needs build/gpu/run_features (scripts/gpu.sh prepare) and no
# compiler; about a minute. Exit status 0 when every feature holds, 3 without a GPU. RUN_FEATURES: another program, for its test.
set -u
cd "$(dirname "$0")/../.."
program=${RUN_FEATURES:-build/gpu/run_features}
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
list=$("$program" "$PWD/tests/features" "$cache" --list "$@") || exit 2
held=0 failed=0 unavailable=0
# Each file in a process of its own: a fault ends the process's GPU context, and must not take the other files along.
for file in $(printf '%s\n' "$list" | sed 's|/.*||' | uniq); do
  "$program" "$PWD/tests/features" "$cache" --on cuda "$file"
  status=$?
  case $status in
    0) held=$((held + 1)) ;;
    3) unavailable=$((unavailable + 1)) ;;
    *) failed=$((failed + 1)) && echo "not ok $file: run_features ended with status $status" ;;
  esac
done
echo "$held files held, $failed failed, $unavailable not available"
if [ "$held" -eq 0 ] && [ "$failed" -eq 0 ]; then exit 3; fi
[ "$failed" -eq 0 ] && [ "$unavailable" -eq 0 ]
