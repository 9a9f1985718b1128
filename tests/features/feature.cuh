/* What the kernels of this folder share. A kernel gets eight 32-bit words a thread and writes its own number of words a thread;
 * feature.h says how they are judged. */
#ifndef FEATURE_CUH
#define FEATURE_CUH

#include <cuda_runtime.h>

#include <cstdint>

__device__ inline unsigned feature_rank() { /* of the thread in its block */
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ inline unsigned feature_thread() { /* of the thread in the grid */
    return (blockIdx.y * gridDim.x + blockIdx.x) * (blockDim.x * blockDim.y * blockDim.z) + feature_rank();
}

/* The lanes that this thread's warp has: the last one of a block may be partial. */
__device__ inline unsigned feature_lanes() {
    unsigned left = blockDim.x * blockDim.y * blockDim.z - (feature_rank() & ~31u);
    return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

/* The thread's input and its output of W words, as x[0..7] and y[0..W-1]. */
#define FEATURE(W)                                                                                           \
    x += 8 * feature_thread();                                                                               \
    y += (W) * feature_thread()

__device__ inline float as_float(unsigned x) { return __uint_as_float(x); }
__device__ inline double as_double(const unsigned *x) {
    return __longlong_as_double((long long)((unsigned long long)x[1] << 32 | x[0]));
}
__device__ inline unsigned long long as_long(const unsigned *x) { return (unsigned long long)x[1] << 32 | x[0]; }

/* NaNs are equal whatever their payload. */
__device__ inline unsigned bits(float f) { return f != f ? 0x7fc00000u : __float_as_uint(f); }
__device__ inline void put(unsigned *y, unsigned long long v) { y[0] = (unsigned)v, y[1] = (unsigned)(v >> 32); }
__device__ inline void put(unsigned *y, double d) {
    put(y, d != d ? 0x7ff8000000000000ull : (unsigned long long)__double_as_longlong(d));
}

#endif
