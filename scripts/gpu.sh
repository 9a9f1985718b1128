#!/bin/sh
# The tests that need a GPU.
#   scripts/gpu.sh prepare   here, with clang: builds build/gpu (static GMP, MPFR and the others) and the emulated objects
#   scripts/gpu.sh run ..    on the machine with the GPU, which needs NVRTC, a driver and python3, but no compiler: runs
#                            everything and prints one table; further arguments go to tests/gpu/run.py
#   scripts/gpu.sh campaign RECORD ..  there too: slices of the campaign over correct kernels on all GPUs and, with the other
#                            processors, on the emulator; further arguments go to tests/e2e/campaign.py
# Between the two, build/gpu/cupel, build/gpu/gpu_rates and build/gpu/objects travel with the source tree.
set -eu

cd "$(dirname "$0")/.."
folder=build/gpu

prepare() {
    cmake --preset gpu
    cmake --build --preset gpu
    rm -rf $folder/objects
    printf '%s\n' seeds/kernels/*.cu seeds/kernels/cheats/*.cu tests/gpu/faults/*.cu tests/gpu/rates/*.cu |
        xargs -P "$(nproc)" -I '{}' $folder/cupel build '{}' -o $folder/objects
    git rev-parse --short HEAD >$folder/objects/revision || true
    du -sh $folder/objects $folder/cupel
}

# Six slices share a GPU; the emulator has the processors that are left.
campaign() {
    record=$1
    shift
    gpus=$(nvidia-smi -L | wc -l)
    cuda=$((6 * gpus)) left=$(($(nproc) - 6 * gpus))
    [ $left -gt 0 ] || left=1
    exec python3 tests/e2e/campaign.py --cupel $folder/cupel --objects $folder/objects --manifest seeds/manifest.txt \
        --folder seeds/kernels --on cuda,emu --gpus "$gpus" --jobs "$cuda,$left" --slice 5000 --slice-seconds 60 \
        --record "$record" --bundles "${record%.jsonl}-bundles.tar" "$@"
}

case ${1:-} in
prepare) prepare ;;
run)
    shift
    exec python3 tests/gpu/run.py --cupel $folder/cupel --objects $folder/objects "$@"
    ;;
campaign)
    shift
    campaign "$@"
    ;;
*)
    echo "expected: scripts/gpu.sh prepare, run, or campaign RECORD" >&2
    exit 2
    ;;
esac
