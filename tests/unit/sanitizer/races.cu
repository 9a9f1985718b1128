// Kernels with one race each. The lines of its two accesses are marked NAME:a and NAME:b; either may come first. All
// take in (256 floats that nobody stores to), out and scratch, and run as two blocks of 128 threads.

__global__ void missing_barrier(const float *in, float *out, float *scratch) {
    __shared__ float values[128];
    const int t = threadIdx.x;
    values[t] = in[t]; // missing_barrier:a
    out[blockIdx.x * 128 + t] = values[127 - t]; // missing_barrier:b
}

__global__ void missing_second_barrier(const float *in, float *out, float *scratch) {
    __shared__ float tile[128];
    const int t = threadIdx.x;
    float sum = 0;
    for (int turn = 0; turn < 2; turn++) {
        tile[t] = in[turn * 128 + t]; // missing_second_barrier:a
        __syncthreads();
        sum += tile[127 - t]; // missing_second_barrier:b
    }
    out[blockIdx.x * 128 + t] = sum;
}

__global__ void tree_without_barrier(const float *in, float *out, float *scratch) {
    __shared__ int tree[128];
    const int t = threadIdx.x;
    tree[t] = (int)in[t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) tree[t] += tree[t + half]; // tree_without_barrier:a tree_without_barrier:b
    }
    if (t == 0) out[blockIdx.x] = (float)tree[0];
}

__global__ void missing_syncwarp(const float *in, float *out, float *scratch) {
    __shared__ float values[128];
    const int t = threadIdx.x;
    values[t] = in[t]; // missing_syncwarp:a
    out[blockIdx.x * 128 + t] = values[t ^ 1]; // missing_syncwarp:b
}

__global__ void shared_scalar(const float *in, float *out, float *scratch) {
    __shared__ float factor;
    const int t = threadIdx.x;
    if (t == 0) factor = in[5]; // shared_scalar:a
    out[blockIdx.x * 128 + t] = factor; // shared_scalar:b
}

__global__ void two_writers(const float *in, float *out, float *scratch) {
    __shared__ float last;
    const int t = threadIdx.x;
    if (t == 3) last = 1; // two_writers:a
    if (t == 77) last = 2; // two_writers:b
    __syncthreads();
    out[blockIdx.x * 128 + t] = last;
}

__global__ void half_a_word(const float *in, float *out, float *scratch) {
    __shared__ short halves[256];
    const int t = threadIdx.x;
    halves[2 * t + 1] = (short)t; // half_a_word:a
    *(int *)&halves[2 * (127 - t)] = t; // half_a_word:b
    __syncthreads();
    out[blockIdx.x * 128 + t] = halves[t];
}

__global__ void blocks_share_an_element(const float *in, float *out, float *scratch) {
    if (threadIdx.x == 0) scratch[0] += 1; // blocks_share_an_element:a blocks_share_an_element:b
}

__global__ void block_reads_the_other(const float *in, float *out, float *scratch) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    scratch[i] = in[i]; // block_reads_the_other:a
    out[i] = scratch[255 - i]; // block_reads_the_other:b
}

__device__ unsigned int without_fence_done;
__global__ void last_block_without_fence(const float *in, float *out, float *scratch) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        scratch[blockIdx.x] = in[blockIdx.x] + 2; // last_block_without_fence:a
        last = atomicAdd(&without_fence_done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) out[0] = scratch[0] + scratch[1]; // last_block_without_fence:b
}

__global__ void fence_too_early(const float *in, float *out, float *scratch) {
    volatile int *flag = (volatile int *)(scratch + 64);
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        __threadfence();
        scratch[0] = in[1] + 5;
        scratch[1] = in[0] + 9; // fence_too_early:a
        *flag = 1;
    }
    if (threadIdx.x == 0 && blockIdx.x == 1 && *flag >= 0) out[0] = scratch[1]; // fence_too_early:b
}

__global__ void plain_beside_atomic(const float *in, float *out, float *scratch) {
    __shared__ int count;
    const int t = threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    if (t < 64) atomicAdd(&count, 1); // plain_beside_atomic:a
    else out[blockIdx.x * 128 + t] = (float)count; // plain_beside_atomic:b
}

__global__ void atomic_before_reset(const float *in, float *out, float *scratch) {
    __shared__ int count;
    const int t = threadIdx.x;
    if (t == 40) count = 7000; // atomic_before_reset:a
    atomicAdd(&count, 1); // atomic_before_reset:b
    __syncthreads();
    out[blockIdx.x * 128 + t] = (float)count;
}

__global__ void half_the_warp_syncs(const float *in, float *out, float *scratch) {
    __shared__ float values[128];
    const int t = threadIdx.x, lane = t % 32;
    values[t] = in[t]; // half_the_warp_syncs:a
    if (lane < 16) __syncwarp(0x0000ffffu);
    out[blockIdx.x * 128 + t] = values[(t & ~31) + (lane + 16) % 32]; // half_the_warp_syncs:b
}

__global__ void other_warps_shuffle(const float *in, float *out, float *scratch) {
    __shared__ float totals[4];
    const int t = threadIdx.x;
    float v = in[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (t % 32 == 0) totals[t / 32] = v; // other_warps_shuffle:a
    __syncwarp();
    if (t < 4) out[t] = totals[t]; // other_warps_shuffle:b
}

__device__ float variable;
__global__ void device_variable(const float *in, float *out, float *scratch) {
    if (threadIdx.x == 9) variable = in[blockIdx.x + 3]; // device_variable:a
    if (threadIdx.x == 99) out[blockIdx.x] = variable; // device_variable:b
}

__global__ void dynamic_shared(const float *in, float *out, float *scratch) {
    extern __shared__ float room[];
    const int t = threadIdx.x;
    room[t] = in[t]; // dynamic_shared:a
    out[blockIdx.x * 128 + t] = room[(t + 64) % 128]; // dynamic_shared:b
}

__global__ void vectors(const float *in, float *out, float *scratch) {
    __shared__ float4 values[32];
    const int t = threadIdx.x;
    ((float *)values)[t] = in[t]; // vectors:a
    if (t >= 32 && t < 64) out[t] = values[t - 32].w; // vectors:b
}

__global__ void outside_the_named_barrier(const float *in, float *out, float *scratch) {
    __shared__ float values[64];
    const int t = threadIdx.x;
    if (t < 64) values[t] = in[t]; // outside_the_named_barrier:a
    if (t < 96) asm volatile("bar.sync 1, 96;" ::: "memory");
    if (t >= 96) out[blockIdx.x * 128 + t] = values[t - 96]; // outside_the_named_barrier:b
}
