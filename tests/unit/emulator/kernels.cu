#include "cupel_mini_cuda.h"

__global__ void scale(const float *x, float *y, int n) {
    int i = bid() * bdim() + tid();
    if (i < n) y[i] = 2 * x[i];
}

__global__ void past_the_end(const float *x, float *y, int n) {
    int i = bid() * bdim() + tid();
    if (i <= n) y[i] = 2 * x[i < n ? i : 0]; // writes y[n]
}

__global__ void reads_past(const float *x, float *y, int n) {
    int i = bid() * bdim() + tid();
    if (i < n) y[i] = x[i + 1]; // reads x[n]
}

__global__ void null_store(float *y, int n) {
    float *p = n > 0 ? nullptr : y;
    p[tid()] = 1; // null
}

__global__ void wild_store(float *y, int n) {
    y[(long)n << 32] = 1; // wild
}

__global__ void misaligned(const float *x, float *y) {
    float4 v = *(const float4 *)(x + 1); // misaligned
    *(float4 *)y = v;
}

__global__ void endless(volatile float *y) {
    while (y[0] == y[0]) y[1] = tid(); // endless
}

__global__ void straight_endless(float *y) {
    for (;;) y[tid()] += 1; // no branch
}

__global__ void counts_for_ever(volatile unsigned *y) {
    for (;;) y[0] = y[0] + 1;
}

__global__ void empty_endless(float *y) { while (1); } // nothing at all
__global__ void empty_while(float *y, int n) {
    while (n); // nothing for n
    y[bid() * bdim() + tid()] = 1;
}
__global__ void empty_in_the_middle(const float *x, float *y, int n) {
    int i = bid() * bdim() + tid();
    if (i < n) y[i] = 2 * x[i];
    while (n > 0) {} // nothing after all
}
__global__ void multiplies_for_ever(float *y, int n) {
    for (float a = n;; a = a * 1.5f); // nothing of use
}
/* No accesses for a second: slow, but every turn is a step. */
__global__ void long_way(float *y, int n) {
    float a = 1;
    for (int i = 0; i < n; i++) a = a * 0.5f + 1;
    y[tid()] = a;
}

__global__ void leaves_local(const float *x, float *y, int n) {
    float r[8];
    int c = 0;
    for (int i = 0; i < n; i++) r[c++] = x[i & 15]; // leaves r
    y[tid()] = r[n & 7];
}
__global__ void leaves_local_at_once(float *y, int n) {
    float r[8];
    for (int i = 0; i < 8; i++) r[i] = i;
    r[n] = 1; // far from r
    y[tid()] = r[tid() & 7];
}

__global__ void deadlock(float *y) {
    if (tid() < 32) {
        if (tid() == 3) shuffle(CUPEL_EMU_SHFL_XOR, ~0u, 1.f, 1); // lane alone
        sync();
    }
    y[tid()] = 1;
}

__device__ __attribute__((noinline)) float deep(float *y, int n) {
    volatile char room[256];
    room[n & 255] = 1;
    return n < 0 ? y[0] : deep(y, n + 1) + room[0]; // recursion
}
__global__ void overflow(float *y) { y[0] = deep(y, 0); }

#define KEEPS(bytes)                                                                                         \
    __global__ __attribute__((noinline)) void keeps_##bytes(float *y, int n) {                               \
        float room[bytes / 4];                                                                               \
        for (int i = 0; i < bytes / 4; i++) room[i] = i;                                                     \
        for (int i = 0; i < n; i++) room[i * 7 % (bytes / 4)] += y[i];                                       \
        y[tid()] = room[n];                                                                                  \
    }
KEEPS(160000) // keeps 160000
KEEPS(400000) // keeps 400000
KEEPS(524288) // keeps 524288
__device__ __attribute__((noinline)) float down(float *y, int n) {
    volatile char room[256];
    room[n & 255] = 1;
    return n <= 0 ? y[0] : down(y, n - 1) + room[0];
}
__global__ void goes_down(float *y, int n) { y[tid()] = down(y, n); }

__global__ void asserts(float *y) {
    if (tid() == 2) cupel_emu_assert_fail("i < n", "kernels.cu", 1, "asserts"); // assertion
}
__global__ void traps(float *y) { cupel_emu_trap(); }
__global__ void counts_locally(int *y, int i) {
    int counts[4] = {};
    atomic_add(&counts[i], 1); // in local memory
    y[tid()] = counts[i];
}
__global__ void counts_anywhere(int *y, int i) {
    int counts[4] = {};
    cupel_emu_atomic_anywhere();
    atomic_add(&counts[i], 1);
    y[tid()] = counts[i];
}
__global__ void divides(int *y, int a, int b) { y[0] = a / b; } // division
__global__ void remains(int *y, int a, int b) { y[0] = a % b; } // remainder

__device__ int calls = 0;
__global__ void remembers(int *y) { y[0] = ++calls; }

__device__ const float table[4] = {1, 2, 3, 4};
__global__ void constants(float *y) { y[tid()] = table[tid() & 3]; }

__global__ void reads_output(float *y) { y[tid()] = y[tid()] + 1; } // uninitialised

__global__ void shared_unset(float *y) {
    __shared__ float s[64];
    if (tid() < 16) s[tid()] = 1;
    sync();
    y[tid()] = s[tid()]; // unset from 16 on
}

__global__ void block_one_sets(float *y) {
    __shared__ float s[32];
    if (bid() == 1) s[tid()] = 1;
    sync();
    float sum = 0;
    for (int i = 0; i < 32; i++) sum += s[i]; // unset in block 0
    y[bid() * 32 + tid()] = sum;
}

__global__ void races_late(float *y) {
    __shared__ float s[32];
    s[tid()] = 1;
    sync();
    float read = s[tid() ^ 1];
    sync();
    s[tid()] = read + s[tid() ^ 1];
    y[tid()] = 0;
}

__global__ void dynamic_past(float *y, int n) {
    float *s = dynamic_shared();
    s[tid()] = tid();
    sync();
    if (tid() == 0) s[n] = 7; // one past
    y[tid()] = s[tid()];
}

__global__ void local_array(float *y, int n) {
    float r[8];
    for (int i = 0; i < 8; i++) r[i] = i * n;
    y[tid()] = r[(tid() + n) & 7];
}

__global__ void copies(const float *x, float *y, int n) { __builtin_memcpy(y, x, n); } // memcpy

__global__ void adds(float *y) {
    cupel_emu_atomic_access(y, 4, 1);
    y[0] += 1;
}
__global__ void exchanges(float *y) { cupel_emu_atomic_exchanged(y); }
__global__ void adds_apart(float *y) {
    cupel_emu_atomic_access(y + tid(), 4, 1);
    y[tid()] += 1;
}

__global__ void bounded(float *y) { y[tid()] = 1; }

__global__ void big_static(float *y) {
    __shared__ float s[16384];
    s[tid()] = 1;
    y[tid()] = s[tid()];
}

CANDIDATE(ENTRY(scale, 0), ENTRY(past_the_end, 0), ENTRY(reads_past, 0), ENTRY(null_store, 0), ENTRY(wild_store, 0),
          ENTRY(misaligned, 0), ENTRY(endless, 0), ENTRY(straight_endless, 0), ENTRY(counts_for_ever, 0), ENTRY(empty_endless, 0), ENTRY(empty_while, 0),
          ENTRY(empty_in_the_middle, 0), ENTRY(multiplies_for_ever, 0), ENTRY(long_way, 0), ENTRY(leaves_local, 0),
          ENTRY(leaves_local_at_once, 0), ENTRY(deadlock, 0), ENTRY(overflow, 0), ENTRY(keeps_160000, 0), ENTRY(keeps_400000, 0), ENTRY(keeps_524288, 0), ENTRY(goes_down, 0),
          ENTRY(asserts, 0), ENTRY(traps, 0), ENTRY(counts_locally, 0), ENTRY(counts_anywhere, 0),
          ENTRY(divides, 0), ENTRY(remains, 0), ENTRY(remembers, 0), ENTRY(constants, 0),
          ENTRY(reads_output, 0), ENTRY(shared_unset, 0), ENTRY(block_one_sets, 0), ENTRY(races_late, 0), ENTRY(dynamic_past, 0), ENTRY(local_array, 0), ENTRY(copies, 0),
          ENTRY(adds, 0), ENTRY(exchanges, 0), ENTRY(adds_apart, 0), ENTRY(bounded, 64), ENTRY(big_static, 0))
