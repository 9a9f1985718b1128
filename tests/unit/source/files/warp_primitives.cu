// entries: warp_sum; block_softmax<256>; votes; matches; scans; online_softmax; reduces; counts
// Shuffles, votes and reductions.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <float.h>
#define WARP_SIZE 32
#define FULL_MASK 0xffffffffu

template <const int kWarpSize = WARP_SIZE> __device__ __forceinline__ float warp_reduce_sum_f32(float val) {
#pragma unroll
    for (int mask = kWarpSize >> 1; mask >= 1; mask >>= 1) val += __shfl_xor_sync(0xffffffff, val, mask);
    return val;
}
template <typename T> __inline__ __device__ T warp_max(T v) {
    for (int o = 16; o > 0; o /= 2) v = max(v, __shfl_down_sync(FULL_MASK, v, o));
    return __shfl_sync(FULL_MASK, v, 0);
}
__global__ void warp_sum(const float *x, float *y) {
    float v = warp_reduce_sum_f32(x[threadIdx.x]);
    if (threadIdx.x % WARP_SIZE == 0) atomicAdd(y, v);
}
template <const int NUM_THREADS = 256> __global__ void block_softmax(const float *x, float *y, int n) {
    constexpr int NUM_WARPS = (NUM_THREADS + WARP_SIZE - 1) / WARP_SIZE;
    static __shared__ float shared[NUM_WARPS];
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    float v = threadIdx.x < n ? x[threadIdx.x] : -FLT_MAX;
    float m = warp_max(v);
    if (lane == 0) shared[warp] = m;
    __syncthreads();
    m = lane < NUM_WARPS ? shared[lane] : -INFINITY;
    m = warp_max(m);
    __syncthreads();
    float e = __expf(v - m), s = warp_reduce_sum_f32<WARP_SIZE>(e);
    if (lane == 0) shared[warp] = s;
    __syncthreads();
    s = warp_reduce_sum_f32(lane < NUM_WARPS ? shared[lane] : 0.0f);
    if (threadIdx.x < n) y[threadIdx.x] = __fdividef(e, s);
}
__global__ void votes(const int *x, unsigned *y) {
    unsigned active = __activemask();
    unsigned b = __ballot_sync(active, x[threadIdx.x] > 0);
    y[0] = __popc(b) + __all_sync(active, 1) + __any_sync(active, 0) + __ffs(b) + __clz(b);
    __syncwarp();
    __syncwarp(0xffff);
}
__global__ void matches(int *x, unsigned long long *w) {
    int pred;
    unsigned m = __match_any_sync(FULL_MASK, x[threadIdx.x]);
    x[threadIdx.x] = __match_all_sync(FULL_MASK, w[threadIdx.x], &pred) + pred + m;
}
__global__ void scans(double *d, long long *l, half *h, half2 *h2, unsigned char *c) {
    int lane = threadIdx.x & 31;
    for (int o = 1; o < 32; o <<= 1) {
        double v = __shfl_up_sync(FULL_MASK, d[lane], o);
        if (lane >= o) d[lane] += v;
    }
    l[lane] = __shfl_sync(FULL_MASK, l[lane], lane ^ 3, 8);
    h[lane] = __hadd(h[lane], __shfl_xor_sync(FULL_MASK, h[lane], 1));
    h2[lane] = __hadd2(h2[lane], __shfl_down_sync(FULL_MASK, h2[lane], 2u));
    c[lane] = __shfl_sync(FULL_MASK, c[lane], 0);
}
struct __align__(8) MD { float m; float d; };
__device__ __forceinline__ MD reduce_md_op(MD a, MD b) {
    bool a_bigger = (a.m > b.m);
    MD bigger_m = a_bigger ? a : b, smaller_m = a_bigger ? b : a, res;
    res.d = bigger_m.d + smaller_m.d * __expf(smaller_m.m - bigger_m.m);
    res.m = bigger_m.m;
    return res;
}
__global__ void online_softmax(const float *x, float *y, int n) {
    MD md{-INFINITY, 0.0f};
    for (int i = threadIdx.x; i < n; i += 32) md = reduce_md_op(md, MD{x[i], 1.0f});
    for (int s = 16; s >= 1; s >>= 1) {
        MD other;
        other.m = __shfl_xor_sync(FULL_MASK, md.m, s);
        other.d = __shfl_xor_sync(FULL_MASK, md.d, s);
        md = reduce_md_op(md, other);
    }
    y[threadIdx.x] = md.m + logf(md.d);
}
__global__ void reduces(int *x, unsigned *u) {
    x[0] = __reduce_add_sync(FULL_MASK, x[threadIdx.x]) + __reduce_min_sync(FULL_MASK, x[1]) + __reduce_max_sync(FULL_MASK, x[2]);
    u[0] = __reduce_and_sync(FULL_MASK, u[1]) | __reduce_or_sync(FULL_MASK, u[2]) ^ __reduce_xor_sync(FULL_MASK, u[3]);
}
__global__ void counts(int *x) {
    x[0] = __syncthreads_count(x[threadIdx.x] > 0) + __syncthreads_and(x[1]) + __syncthreads_or(x[2]);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
}
