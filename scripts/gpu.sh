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

# Processes take turns on a GPU, unless NVIDIA's Multi-Process Service, which this starts where it is installed and ends
# again, lets their kernels run side by side. Half of the processors, at most eight for a GPU, are for slices on GPUs.
share_gpus() {
    command -v nvidia-cuda-mps-control >/dev/null || return 0
    CUDA_MPS_PIPE_DIRECTORY=$(mktemp -d)
    CUDA_MPS_LOG_DIRECTORY=$CUDA_MPS_PIPE_DIRECTORY
    export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    if nvidia-cuda-mps-control -d; then
        trap 'echo quit | nvidia-cuda-mps-control >/dev/null' EXIT
        trap 'exit 143' TERM INT HUP
    else
        unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    fi
}

campaign() {
    record=$1
    shift
    gpus=$(nvidia-smi -L | wc -l)
    cuda=$((8 * gpus))
    [ $cuda -le $(($(nproc) / 2)) ] || cuda=$(($(nproc) / 2))
    left=$(($(nproc) - cuda))
    share_gpus
    python3 tests/e2e/campaign.py --cupel $folder/cupel --objects $folder/objects --manifest seeds/manifest.txt \
        --folder seeds/kernels --on cuda,emu --gpus "$gpus" --jobs "$cuda,$left" --slice 20000 --slice-seconds 60 \
        --share fastest --record "$record" --bundles "${record%.jsonl}-bundles.tar" "$@"
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
