// Threads and blocks that meet in global memory: right ones, and ones with a defect.
#include "cupel_mini_cuda.h"

__global__ void counts(int *out) { out[0] += 1; }
__global__ void counts_atomically(int *out) { atomic_add(out, 1); }

static __device__ int variable;
__global__ void counts_in_a_variable(int *out) {
    variable += 1;
    sync();
    out[tid()] = variable;
}
__global__ void counts_in_a_variable_atomically(int *out) {
    atomic_add(&variable, 1);
    sync();
    out[tid()] = variable;
}

__global__ void largest(const int *in, int *out) {
    if (in[tid()] > out[0]) out[0] = in[tid()];
}
__global__ void largest_exchanged(const int *in, int *out) {
    if (in[tid()] > *(volatile int *)out) atomic_exchange(out, in[tid()]);
}

__global__ void two_warps_add(const int *in, int *out) {
    int v = in[tid()];
    for (int o = 16; o; o >>= 1) v += shuffle(CUPEL_EMU_SHFL_DOWN, ~0u, v, o);
    if (tid() % 32 == 0) out[bid()] += v;
}

__global__ void locked(volatile int *out, int *lock) { // a lock for each thread of the block
    while (atomic_exchange(lock, 1) != 0) {
    }
    out[0] = out[0] + 1;
    atomic_exchange(lock, 0);
}

__global__ void locked_by_one(volatile int *out, volatile int *turn) { // threads go one after another
    while (*turn != (int)tid()) {
    }
    out[0] = out[0] * 3 + (int)tid();
    *turn = (int)tid() + 1;
}

__global__ void rotates(int *out) { // in place, as it should be done
    for (int turn = 0; turn < 3; turn++) {
        int next = out[(tid() + 1) % bdim()];
        sync();
        out[tid()] = next;
        sync();
    }
}
__global__ void rotates_too_early(int *out) {
    for (int turn = 0; turn < 3; turn++) {
        int next = out[(tid() + 1) % bdim()];
        out[tid()] = next;
        sync();
    }
}

__global__ void puts_back(int *in, int *out) {
    int v = in[tid()];
    in[tid()] = 2 * v; // puts it back
    out[tid()] = in[tid()];
    in[tid()] = v;
}

__global__ void stands_still(const int *in, int *out, int n, int step) {
    for (int i = tid(); i < n; i += step) out[i] = in[i]; // stands still
}
__global__ void waits_for_next_block(volatile int *out, volatile int *flag) {
    while (bid() == 0 && *flag == 0) {
    }
    *flag = 1;
    out[bid()] = 1;
}
__global__ void waits_for_variable(volatile int *out) {
    volatile int *flag = &variable;
    while (bid() == 0 && *flag == 0) {
    }
    *flag = 1;
    out[bid()] = 1;
}
__global__ void waits_atomically(int *out, int *flag) {
    while (bid() == 0 && atomic_add(flag, 0) == 0) {
    }
    atomic_add(flag, 1);
    out[bid()] = 1;
}

CANDIDATE(ENTRY(counts, 0), ENTRY(counts_atomically, 0), ENTRY(counts_in_a_variable, 0),
          ENTRY(counts_in_a_variable_atomically, 0), ENTRY(largest, 0), ENTRY(largest_exchanged, 0),
          ENTRY(two_warps_add, 0), ENTRY(locked, 0), ENTRY(locked_by_one, 0), ENTRY(rotates, 0),
          ENTRY(rotates_too_early, 0), ENTRY(puts_back, 0), ENTRY(stands_still, 0), ENTRY(waits_for_next_block, 0),
          ENTRY(waits_for_variable, 0), ENTRY(waits_atomically, 0))
