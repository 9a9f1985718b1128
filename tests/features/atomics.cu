/* Atomic operations on all types, in shared and in global memory (the first thread's output), in all scopes. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "feature.cuh"

__device__ inline unsigned threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }

__global__ void atomic_integers(const unsigned *x, unsigned *y) {
    FEATURE(14);
    __shared__ int s[4];
    __shared__ unsigned u[8];
    if (feature_rank() == 0) {
        s[0] = s[1] = 7, s[2] = INT_MAX, s[3] = INT_MIN;
        u[0] = u[1] = 100, u[2] = 0xffffffffu, u[3] = 0, u[4] = 0xffffffffu, u[5] = u[6] = 0, u[7] = 0;
    }
    __syncthreads();
    int v = (int)x[0];
    atomicAdd(&s[0], v), atomicSub(&s[1], v), atomicMin(&s[2], v), atomicMax(&s[3], v);
    atomicAdd(&u[0], x[0]), atomicSub(&u[1], x[0]), atomicMin(&u[2], x[0]), atomicMax(&u[3], x[0]);
    atomicAnd(&u[4], x[0] | 0xff), atomicOr(&u[5], x[0] & 0xff00), atomicXor(&u[6], x[0]);
    atomicAdd_block(&u[7], 1u), atomicAdd_system(&u[7], 2u);
    __syncthreads();
    for (int i = 0; i < 4; i++) y[i] = (unsigned)s[i];
    for (int i = 0; i < 8; i++) y[4 + i] = u[i];
    y[12] = y[13] = 0;
}
__global__ void atomic_longs(const unsigned *x, unsigned *y) {
    FEATURE(14);
    __shared__ unsigned long long u[5];
    __shared__ long long s[2];
    if (feature_rank() == 0) {
        u[0] = 1, u[1] = ~0ull, u[2] = 0, u[3] = ~0ull, u[4] = 0;
        s[0] = LLONG_MAX, s[1] = LLONG_MIN;
    }
    __syncthreads();
    unsigned long long v = as_long(x);
    atomicAdd(&u[0], v), atomicMin(&u[1], v), atomicMax(&u[2], v), atomicAnd(&u[3], v | 1), atomicXor(&u[4], v);
    atomicMin(&s[0], (long long)v), atomicMax(&s[1], (long long)v);
    __syncthreads();
    for (int i = 0; i < 5; i++) put(y + 2 * i, u[i]);
    put(y + 10, (unsigned long long)s[0]), put(y + 12, (unsigned long long)s[1]);
}
/* Sums that no order changes: small integers. */
__global__ void atomic_reals(const unsigned *x, unsigned *y) {
    FEATURE(8);
    __shared__ float f[2];
    __shared__ double d;
    __shared__ __half h;
    __shared__ __half2 h2;
    __shared__ __nv_bfloat16 b;
    __shared__ __nv_bfloat162 b2;
    if (feature_rank() == 0) {
        f[0] = 1.0f, f[1] = 0.0f, d = 2.0, h = __float2half(0.0f), h2 = __float2half2_rn(0.0f);
        b = __float2bfloat16(0.0f), b2 = __float2bfloat162_rn(0.0f);
    }
    __syncthreads();
    int v = (int)(x[0] & 1);
    atomicAdd(&f[0], (float)v), atomicAdd_block(&f[1], 2.0f * v), atomicAdd(&d, 0.5 * v);
    atomicAdd(&h, __float2half((float)v)), atomicAdd(&h2, __floats2half2_rn((float)v, -1.0f * v));
    atomicAdd(&b, __float2bfloat16((float)v)), atomicAdd(&b2, __floats2bfloat162_rn((float)v, 1.0f));
    __syncthreads();
    y[0] = bits(f[0]), y[1] = bits(f[1]);
    put(y + 2, d);
    y[4] = bits(__half2float(h)), y[5] = bits(__low2float(h2) - __high2float(h2));
    y[6] = bits(__bfloat162float(b)), y[7] = bits(__low2float(b2) + 1000.0f * __high2float(b2));
}
__global__ void atomic_tickets(const unsigned *x, unsigned *y) {
    FEATURE(6);
    __shared__ unsigned next, wrap, down, seen[32];
    unsigned rank = feature_rank();
    if (rank == 0) next = wrap = 0, down = 5;
    if (rank < 32) seen[rank] = 0;
    if (threads_of_block() < 32 && rank == 0)
        for (int i = 0; i < 32; i++) seen[i] = 0;
    __syncthreads();
    unsigned ticket = atomicAdd(&next, 1u);
    atomicOr(&seen[ticket / 32], 1u << ticket % 32);
    atomicInc(&wrap, 4u), atomicDec(&down, 6u);
    __syncthreads();
    unsigned count = 0;
    for (int i = 0; i < 32; i++) count += __popc(seen[i]);
    y[0] = count, y[1] = next, y[2] = wrap, y[3] = down, y[4] = ticket < threads_of_block(), y[5] = 0;
}
__device__ float max_by_exchange(float *address, float value) {
    int *bits_of = (int *)address, old = *bits_of, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits_of, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}
__global__ void atomic_exchanges(const unsigned *x, unsigned *y) {
    FEATURE(8);
    __shared__ float largest;
    __shared__ unsigned long long product;
    __shared__ unsigned short small;
    __shared__ unsigned chain[1025];
    __shared__ unsigned head;
    __shared__ float own[1025]; /* each thread's: a GPU has no atomics on local memory */
    __shared__ int locks[1025];
    unsigned rank = feature_rank();
    if (rank == 0) largest = -INFINITY, product = 1, small = 3, head = 1024;
    __syncthreads();
    float v = as_float(x[0]);
    max_by_exchange(&largest, v != v ? 0.0f : v + 0.0f);
    unsigned long long old = product, assumed;
    do {
        assumed = old;
        old = atomicCAS(&product, assumed, assumed * (x[1] | 1));
    } while (old != assumed);
    unsigned short was = small, thought;
    do {
        thought = was;
        was = atomicCAS(&small, thought, (unsigned short)(thought + 7));
    } while (was != thought);
    chain[rank] = atomicExch(&head, rank); /* a list of all threads */
    __syncthreads();
    unsigned length = 0;
    for (unsigned at = head; at != 1024; at = chain[at]) length++;
    y[0] = bits(largest), put(y + 1, product), y[3] = small, y[4] = length;
    float *mine = &own[rank];
    *mine = 1.5f;
    y[5] = bits(atomicExch(mine, 2.5f));
    y[5] ^= bits(*mine);
    int *lock = &locks[rank];
    *lock = 0;
    y[6] = (unsigned)atomicCAS(lock, 1, 2), y[7] = (unsigned)atomicCAS(lock, 0, 9);
    y[7] += (unsigned)*lock;
}
/* In global memory: the first thread of a block keeps the sums in its output. */
__global__ void atomic_global(const unsigned *x, unsigned *y) {
    unsigned *sums = y + 8 * (feature_thread() - feature_rank());
    FEATURE(8);
    for (int i = 0; i < 8; i++) y[i] = 0;
    __syncthreads();
    float v = (float)(x[0] & 15);
    atomicAdd((float4 *)sums, make_float4(v, 1.0f, -v, 0.5f));
    atomicAdd((float2 *)(sums + 4), make_float2(2.0f, v));
    atomicAdd((int *)sums + 6, (int)x[0]), atomicMax(sums + 7, x[0]);
}
struct alignas(16) Wide {
    unsigned long long low, high;
};
__global__ void atomic_wide(const unsigned *x, unsigned *y) {
    FEATURE(4);
    __shared__ Wide kept;
    unsigned rank = feature_rank();
    if (rank == 0) kept = Wide{0, 1};
    __syncthreads();
    Wide old = kept, assumed;
    bool same;
    do {
        assumed = old;
        old = atomicCAS(&kept, assumed, Wide{assumed.low + x[0], assumed.high + 1});
        same = old.low == assumed.low && old.high == assumed.high;
    } while (!same);
    __syncthreads();
    put(y, kept.low), put(y + 2, kept.high);
}
