#!/bin/sh
# The tests that need a GPU.
#   scripts/gpu.sh prepare   here, with clang: builds build/gpu (static GMP, MPFR and the others) and the emulated objects
#   scripts/gpu.sh run ..    on the machine with the GPU, which needs NVRTC, a driver and python3, but no compiler: runs
#                            everything and prints one table; further arguments go to tests/gpu/run.py
# Between the two, build/gpu/cupel, build/gpu/gpu_rates and build/gpu/objects travel with the source tree.
set -eu

cd "$(dirname "$0")/.."
folder=build/gpu

prepare() {
    cmake --preset gpu
    cmake --build --preset gpu
    rm -rf $folder/objects
    for kernel in seeds/kernels/*.cu seeds/kernels/cheats/*.cu tests/gpu/faults/*.cu tests/gpu/rates/*.cu; do
        $folder/cupel build "$kernel" -o $folder/objects
    done
    du -sh $folder/objects $folder/cupel
}

case ${1:-} in
prepare) prepare ;;
run)
    shift
    exec python3 tests/gpu/run.py --cupel $folder/cupel --objects $folder/objects "$@"
    ;;
*)
    echo "expected: scripts/gpu.sh prepare, or scripts/gpu.sh run" >&2
    exit 2
    ;;
esac
