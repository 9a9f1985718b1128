#!/bin/sh
# The features of docs/device-features.md on a GPU: the same kernels, compiled by NVRTC, against the same meanings, which the
# emulator's results equal too (ctest -R features). Needs build/gpu/run_features (scripts/gpu.sh prepare) and no compiler; half a
# minute. Exit status 0 when every feature holds, 3 without a GPU.
set -u
cd "$(dirname "$0")/../.."
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
build/gpu/run_features "$PWD/tests/features" "$cache" --on cuda "$@"
