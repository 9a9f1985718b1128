/* The compiler flags of emulated device code, for clang's CUDA front end in device mode aimed at the host
 * (clang -cc1). Found by trial with clang 14; emu_compile passes them, the emulator's tests and benchmark
 * compile their candidates with them. */
#ifndef CUPEL_EMU_FLAGS_H
#define CUPEL_EMU_FLAGS_H

#define CUPEL_EMU_FRONT_END_FLAGS                                                                            \
    "-triple", "x86_64-pc-linux-gnu", "-aux-triple", "x86_64-pc-linux-gnu", "-fcuda-is-device", "-x",        \
        "cuda", "-std=c++17", "-fcuda-allow-variadic-functions", "-fdeclspec", "-mrelocation-model", "pic",  \
        "-pic-level", "2", "-O2", "-fno-unroll-loops", "-fgnuc-version=4.2.1", "-disable-red-zone"

/* IEEE operation by operation; no surprises from aliasing; uninitialised locals hold a pattern (NaN for
 * floats), so that a kernel that reads them is wrong in the same way every time. cc1 has its vectorisers off
 * unless asked. */
#define CUPEL_EMU_MEANING_FLAGS                                                                              \
    "-ffp-contract=off", "-relaxed-aliasing", "-fno-delete-null-pointer-checks", "-fno-finite-loops",        \
        "-ftrivial-auto-var-init=pattern", "-fvisibility", "hidden", "-debug-info-kind=line-tables-only",    \
        "-dwarf-version=4", "-fno-plt", "-fno-builtin-fmaxf", "-fno-builtin-fminf", "-fno-builtin-fmax",     \
        "-fno-builtin-fmin"

/* fuzzer-no-link keeps branches as branches (no folding into selects), and accesses stay where the author
 * wrote them: loads are not sunk into the branch that uses their value, for there they would no longer read
 * past the end, nor stores out of endless loops. kernel-address with outlined callbacks under our own prefix
 * gives address, size and direction of every access that the optimiser leaves: repeated accesses in one
 * block, constant offsets into shared arrays and locals that stay in memory included. Stack and globals get
 * no red zones. An access whose type demands less alignment than its size (two floats of a structure, joined
 * by the optimiser) comes as one of any size, N; with a shadow byte for eight bytes, 16 of them at a multiple
 * of 8 would not. */
#define CUPEL_EMU_CHECK_FLAGS                                                                                \
    "-fsanitize=kernel-address,fuzzer-no-link", "-mllvm", "-asan-memory-access-callback-prefix=cupel_emu_",  \
        "-mllvm", "-asan-stack=0", CUPEL_EMU_CALLBACK_FLAGS

#define CUPEL_EMU_CALLBACK_FLAGS                                                                             \
    "-fsanitize-recover=kernel-address", "-mllvm", "-asan-instrumentation-with-call-threshold=0", "-mllvm",  \
        "-asan-globals=0", "-mllvm", "-instcombine-code-sinking=0", "-mllvm", "-disable-licm-promotion",     \
        "-mllvm", "-asan-opt-same-temp=0", "-mllvm", "-asan-opt-globals=0", "-fsanitize-coverage-type=3",    \
        "-fsanitize-coverage-trace-pc-guard", "-mllvm", "-asan-mapping-scale=4", CUPEL_EMU_ORDER_FLAGS

/* The same for the sanitizer, in place of the check flags: other callbacks (emu_strict.h), and of
 * ThreadSanitizer's instrumentation the one thing that the address one does not tell, which accesses are
 * volatile: its calls come right before those of the other. Local arrays get red zones, in a shadow at 1 <<
 * 44, a byte for sixteen (emu_local.c). Also defines what device headers go by. */
#define CUPEL_EMU_STRICT_FLAGS                                                                               \
    "-fsanitize=kernel-address,fuzzer-no-link,thread", "-mllvm",                                             \
        "-asan-memory-access-callback-prefix=cupel_emu_strict_", "-mllvm", "-tsan-distinguish-volatile=1",   \
        "-mllvm", "-tsan-instrument-read-before-write=1", "-mllvm", "-tsan-instrument-func-entry-exit=0",    \
        "-mllvm", "-tsan-instrument-memintrinsics=0", "-mllvm", "-tsan-instrument-atomics=0", "-mllvm",      \
        "-asan-stack=1", "-mllvm", "-asan-mapping-offset=17592186044416", "-D", "CUPEL_EMU_STRICT",          \
        CUPEL_EMU_CALLBACK_FLAGS

/* Code in the order of the source, as far as it goes: threads that wait for each other are served by the
 * place where they are, the earlier one first. */
#define CUPEL_EMU_ORDER_FLAGS                                                                                \
    "-mllvm", "-disable-block-placement", "-mllvm", "-disable-early-taildup", "-mllvm",                      \
        "-disable-tail-duplicate"

/* The second half, which makes an object of the optimised text (emu_inline.c). */
#define CUPEL_EMU_BACK_END_FLAGS                                                                             \
    "-triple", "x86_64-pc-linux-gnu", "-x", "ir", "-mrelocation-model", "pic", "-pic-level", "2", "-O2",     \
        "-disable-llvm-passes", "-ffp-contract=off", "-disable-red-zone", CUPEL_EMU_ORDER_FLAGS

/* a * b + c of one expression is fused, as NVRTC does with -fmad=true. Behind the others: the last one wins.
 * The processor must have the instruction, for in parts it would be rounded twice. Vectors stay as wide as
 * the slow way of code in place keeps them (emu_asks.h). */
#define CUPEL_EMU_FUSED_FLAGS "-ffp-contract=on", "-target-feature", "+fma", "-mprefer-vector-width=128"

#endif
