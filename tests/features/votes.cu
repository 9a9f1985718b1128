/* Votes, matches and reductions over a warp, and barriers of a warp and of a block. */
#include "feature.cuh"

__global__ void vote(const unsigned *x, unsigned *y) {
    FEATURE(6);
    unsigned lanes = feature_lanes();
    y[0] = __all_sync(lanes, x[0] & 0x10000) != 0;
    y[1] = __any_sync(lanes, x[0] & 0x10000) != 0;
    y[2] = __ballot_sync(lanes, (int)x[0]);
    y[3] = __all_sync(lanes, 1) != 0;
    y[4] = __any_sync(lanes, 0) != 0;
    y[5] = (feature_rank() & 31) < 3 ? __ballot_sync(lanes & 7u, x[0] & 1) : 0;
}
__global__ void active_mask(const unsigned *x, unsigned *y) {
    FEATURE(2);
    y[0] = __activemask();
    y[1] = __popc(__ballot_sync(__activemask(), 1));
}
__global__ void match_any(const unsigned *x, unsigned *y) {
    FEATURE(6);
    unsigned lanes = feature_lanes();
    y[0] = __match_any_sync(lanes, x[0] & 3);
    y[1] = __match_any_sync(lanes, (int)(x[1] & 7) - 4);
    y[2] = __match_any_sync(lanes, (unsigned long long)(x[0] & 1) << 40 | (x[1] & 1));
    y[3] = __match_any_sync(lanes, (long long)(x[0] & 1) << 63);
    y[4] = __match_any_sync(lanes, (float)(x[0] & 3));
    y[5] = __match_any_sync(lanes, (double)(x[1] & 3) * 1e10);
}
__global__ void match_all(const unsigned *x, unsigned *y) {
    FEATURE(6);
    unsigned lanes = feature_lanes();
    int same;
    y[0] = __match_all_sync(lanes, x[0] & 1, &same);
    y[1] = same != 0;
    y[2] = __match_all_sync(lanes, (unsigned long long)blockIdx.x << 35, &same);
    y[3] = same != 0;
    y[4] = __match_all_sync(lanes, (double)(x[0] >> 31), &same);
    y[5] = same != 0;
}
__global__ void reduce(const unsigned *x, unsigned *y) {
    FEATURE(10);
    unsigned lanes = feature_lanes();
    y[0] = __reduce_add_sync(lanes, x[0]);
    y[1] = (unsigned)__reduce_add_sync(lanes, (int)x[0]);
    y[2] = __reduce_min_sync(lanes, x[0]);
    y[3] = (unsigned)__reduce_min_sync(lanes, (int)x[0]);
    y[4] = __reduce_max_sync(lanes, x[0]);
    y[5] = (unsigned)__reduce_max_sync(lanes, (int)x[0]);
    y[6] = __reduce_and_sync(lanes, x[0]);
    y[7] = __reduce_or_sync(lanes, x[0]);
    y[8] = __reduce_xor_sync(lanes, x[0]);
    y[9] = (feature_rank() & 31) < 5 ? __reduce_add_sync(lanes & 31u, x[1]) : 0;
}
__global__ void sync_warp(const unsigned *x, unsigned *y) {
    FEATURE(2);
    __shared__ unsigned kept[1024];
    unsigned rank = feature_rank(), lane = rank & 31, lanes = feature_lanes();
    kept[rank] = x[0];
    __syncwarp();
    unsigned next = lanes >> lane == 1 || lane == 31 ? rank - lane : rank + 1;
    y[0] = kept[next];
    __syncwarp(lanes);
    y[1] = 0;
    if (lane & 1) { /* by pairs of odd lanes */
        kept[rank] = x[1];
        __syncwarp(lanes & 0xaaaaaaaau);
        y[1] = kept[(rank - lane) + 1];
    }
}
__global__ void barrier(const unsigned *x, unsigned *y) {
    FEATURE(3);
    __shared__ unsigned kept[1024];
    unsigned rank = feature_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    kept[rank] = x[0];
    __syncthreads();
    y[0] = kept[threads - 1 - rank];
    __syncthreads();
    kept[rank] = x[1];
    __syncthreads();
    unsigned sum = 0;
    for (unsigned i = 0; i < threads; i++) sum = 31 * sum + kept[i];
    y[1] = sum;
    y[2] = kept[0];
}
__global__ void barrier_count(const unsigned *x, unsigned *y) {
    FEATURE(4);
    y[0] = (unsigned)__syncthreads_count((int)(x[0] & 1));
    y[1] = __syncthreads_and((int)(x[0] & 0x80000000u)) != 0;
    y[2] = __syncthreads_or((int)(x[0] == 7)) != 0;
    y[3] = __syncthreads_and(1) != 0;
}
/* Partial sums go through two buffers by turns, one barrier a step (Hillis and Steele). */
__global__ void double_buffer(const unsigned *x, unsigned *y) {
    FEATURE(1);
    __shared__ unsigned kept[2][1024];
    unsigned rank = feature_rank(), threads = blockDim.x * blockDim.y * blockDim.z, now = 0;
    kept[0][rank] = x[0];
    __syncthreads();
    for (unsigned step = 1; step < threads; step *= 2) {
        kept[now ^ 1][rank] = kept[now][rank] + (rank >= step ? kept[now][rank - step] : 0);
        now ^= 1;
        __syncthreads();
    }
    y[0] = kept[now][rank];
}
