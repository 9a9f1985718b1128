// Correct kernels, each ordering its threads in another way. All take in (256 floats that nobody stores to), out and
// scratch, which is zero, and run as two blocks of 128 threads; no schedule may give a report.
#include <cooperative_groups.h>

__global__ void tree(const float *in, float *out, float *scratch) {
    __shared__ float values[128];
    const int t = threadIdx.x;
    values[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) values[t] += values[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = values[0];
}

__global__ void shuffles(const float *in, float *out, float *scratch) {
    __shared__ float totals[4];
    const int t = threadIdx.x;
    float v = in[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (t % 32 == 0) totals[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = t < 4 ? totals[t] : 0;
        for (int d = 2; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
        if (t == 0) out[blockIdx.x] = v;
    }
}

__global__ void double_buffered(const float *in, float *out, float *scratch) {
    __shared__ float tile[2][64];
    const int t = threadIdx.x;
    float sum = 0;
    if (t < 64) tile[0][t] = in[t];
    __syncthreads();
    for (int turn = 0; turn < 4; turn++) {
        if (turn < 3 && t < 64) tile[(turn + 1) % 2][t] = in[(turn + 1) * 64 + t];
        sum += tile[turn % 2][(t + 17) % 64];
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = sum;
}

__global__ void counted_barrier(const float *in, float *out, float *scratch) {
    __shared__ float values[128];
    const int t = threadIdx.x;
    values[t] = in[t];
    const int many = __syncthreads_count(in[t] > 10);
    values[t] = values[t] + many;
    if (__syncthreads_or(values[t] > 5)) out[t + blockIdx.x * 128] = values[127 - t];
}

__global__ void warp_alone(const float *in, float *out, float *scratch) {
    __shared__ float values[128];
    const int t = threadIdx.x, first = t & ~31, lane = t & 31;
    values[t] = in[t];
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        const float other = lane < d ? values[first + lane + d] : 0;
        __syncwarp();
        if (lane < d) values[t] += other;
        __syncwarp();
    }
    if (lane == 0) out[blockIdx.x * 4 + t / 32] = values[t];
}

__global__ void half_a_warp(const float *in, float *out, float *scratch) {
    __shared__ float values[128];
    const int t = threadIdx.x, lane = t % 32;
    const unsigned mask = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    values[t] = in[t];
    __syncwarp(mask);
    out[blockIdx.x * 128 + t] = values[(t & ~15) + (lane + 5) % 16];
}

__global__ void votes_order(const float *in, float *out, float *scratch) {
    __shared__ float values[128];
    const int t = threadIdx.x;
    values[t] = in[t];
    if (__any_sync(0xffffffffu, in[t] > 3)) out[blockIdx.x * 128 + t] = values[t ^ 7];
}

__device__ unsigned int done;
__global__ void last_block(const float *in, float *out, float *scratch) {
    __shared__ float values[128];
    __shared__ bool last;
    const int t = threadIdx.x;
    scratch[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t] + 1;
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicAdd(&done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    values[t] = scratch[t] + scratch[t + 128];
    __syncthreads();
    if (t == 0) {
        float sum = 0;
        for (int i = 0; i < 128; i++) sum += values[i];
        out[0] = sum;
        done = 0;
    }
}

__device__ unsigned int one_done;
__global__ void last_block_one_fence(const float *in, float *out, float *scratch) {
    __shared__ bool last;
    const int t = threadIdx.x;
    scratch[blockIdx.x * 128 + t] = in[blockIdx.x * 128 + t] + 1;
    __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicAdd(&one_done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) out[t] = scratch[t] + scratch[t + 128];
}

// Blocks take their numbers in the order in which they begin, so that none waits for one that has not begun.
__device__ unsigned int ticket;
__device__ int block_number() {
    __shared__ int number;
    if (threadIdx.x == 0) number = (int)atomicAdd(&ticket, 1u);
    __syncthreads();
    return number;
}

__global__ void look_back(const float *in, float *out, float *scratch) {
    __shared__ float before;
    volatile int *flags = (volatile int *)(scratch + 64);
    const int b = block_number();
    if (threadIdx.x == 0) {
        float sum = 0;
        if (b > 0) {
            while (flags[b - 1] == 0) {}
            __threadfence();
            sum = scratch[b - 1];
        }
        before = sum;
        scratch[b] = sum + in[b] + 1;
        __threadfence();
        flags[b] = 1;
    }
    __syncthreads();
    out[b * 128 + threadIdx.x] = before;
}

__device__ unsigned int plain_ticket;
__global__ void look_back_plain_flag(const float *in, float *out, float *scratch) {
    int *flags = (int *)(scratch + 64);
    if (threadIdx.x != 0) return;
    const int b = (int)atomicAdd(&plain_ticket, 1u);
    float sum = 0;
    if (b > 0 && flags[b - 1] == 1) {
        __threadfence();
        sum = scratch[b - 1];
    }
    scratch[b] = sum + in[b] + 1;
    __threadfence();
    flags[b] = 1;
    out[b] = sum;
}

// Waits for the block before it whenever that has begun or not.
__global__ void waits_for_the_block_before(const float *in, float *out, float *scratch) {
    volatile int *flags = (volatile int *)(scratch + 64);
    const int t = threadIdx.x, b = blockIdx.x;
    if (b > 0 && t == 0)
        while (flags[b - 1] == 0) {}
    __syncthreads();
    out[b * 128 + t] = in[t] + (b > 0 ? scratch[128 + 127 - t] : 0);
    if (b == 0) scratch[128 + t] = in[t] + 3;
    __syncthreads();
    __threadfence();
    if (t == 0) flags[b] = 1;
}

// A sum and its flag in one word need no fence.
__device__ unsigned int packed_ticket;
__global__ void look_back_packed(const float *in, float *out, float *scratch) {
    volatile unsigned long long *words = (volatile unsigned long long *)(scratch + 64);
    if (threadIdx.x != 0) return;
    const int b = (int)atomicAdd(&packed_ticket, 1u);
    unsigned long long word = 0;
    if (b > 0)
        while ((word = words[b - 1]) >> 32 == 0) {}
    words[b] = 1ull << 32 | (unsigned)((unsigned)word + (unsigned)in[b]);
    out[b] = (float)(unsigned)word;
}

__global__ void past_the_cache(const float *in, float *out, float *scratch) {
    if (threadIdx.x != 0) return;
    if (__ldcg(scratch) != 3) __stcg(scratch, 3.0f + blockIdx.x * 0.0f + in[0]);
    out[blockIdx.x] = __ldcg(scratch);
}

__global__ void spin_lock(const float *in, float *out, float *scratch) {
    int *lock = (int *)scratch;
    if (threadIdx.x % 32 != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    scratch[1] += in[threadIdx.x];
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void compare_and_swap(const float *in, float *out, float *scratch) {
    int *bits = (int *)scratch, seen, now = *bits;
    do {
        seen = now;
        now = atomicCAS(bits, seen, seen + (int)in[threadIdx.x]);
    } while (now != seen);
}

__global__ void histogram(const float *in, float *out, float *scratch) {
    __shared__ int bins[16];
    const int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[(int)in[t] % 16], 1);
    __syncthreads();
    if (t < 16) atomicAdd((int *)scratch + t, bins[t]);
    atomicMax((int *)scratch + 20, t);
    out[blockIdx.x * 128 + t] = 1;
}

__global__ void transpose(const float *in, float *out, float *scratch) {
    __shared__ float tile[8][17];
    const int t = threadIdx.x;
    tile[t / 16][t % 16] = in[blockIdx.x * 128 + t];
    __syncthreads();
    out[blockIdx.x * 128 + t] = tile[t % 8][t / 8];
}

// One warp fills, another one empties; each waits for the other's flag.
__global__ void producer_and_consumer(const float *in, float *out, float *scratch) {
    __shared__ float slot[32];
    __shared__ volatile int filled, emptied;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) filled = emptied = 0;
    __syncthreads();
    for (int turn = 1; turn <= 3; turn++) {
        if (warp == 0) {
            while (emptied != turn - 1) {}
            __threadfence_block();
            __syncwarp();
            slot[lane] = in[turn * 32 + lane];
            __threadfence_block();
            __syncwarp();
            if (lane == 0) filled = turn;
        } else if (warp == 1) {
            while (filled != turn) {}
            __threadfence_block();
            __syncwarp();
            out[blockIdx.x * 128 + turn * 32 + lane] = slot[31 - lane];
            __threadfence_block();
            __syncwarp();
            if (lane == 0) emptied = turn;
        }
    }
}

__global__ void same_value(const float *in, float *out, float *scratch) {
    __shared__ int found;
    const int t = threadIdx.x;
    if (t == 0) found = 0;
    __syncthreads();
    if (in[t] > 5) found = 1;
    if (in[t] >= 0) scratch[0] = 1;
    __syncthreads();
    out[blockIdx.x * 128 + t] = (float)found;
}

__global__ void each_warp_the_same(const float *in, float *out, float *scratch) {
    __shared__ float total;
    total = in[7];
    __syncwarp();
    out[blockIdx.x * 128 + threadIdx.x] = total;
}

__global__ void some_leave(const float *in, float *out, float *scratch) {
    __shared__ float values[128];
    const int t = threadIdx.x;
    values[t] = in[t];
    if (t >= 100) return;
    __syncthreads();
    out[blockIdx.x * 128 + t] = values[127 - t];
}

// As before 2017: lanes of a warp in step, volatile keeps the compiler from caching.
__global__ void in_lockstep(const float *in, float *out, float *scratch) {
    __shared__ volatile float values[64];
    const int t = threadIdx.x;
    if (t >= 32) return;
    values[t] = in[t];
    values[t + 32] = 0;
    for (int d = 16; d > 0; d /= 2) values[t] = values[t] + values[t + d];
    if (t == 0) out[blockIdx.x] = values[0];
}

__global__ void in_place(const float *in, float *out, float *scratch) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    scratch[i] = in[i];
    for (int k = 0; k < 3; k++) scratch[i] = scratch[i] * 2 + 1;
    out[i] = scratch[i];
}

// Two warps fill, two empty; named barriers, on which the ones arrive and the others wait.
__global__ void named_barriers(const float *in, float *out, float *scratch) {
    __shared__ float slot[64];
    const int t = threadIdx.x, warp = t / 32;
    for (int turn = 0; turn < 3; turn++) {
        if (warp < 2) {
            if (turn > 0) asm volatile("bar.sync 2, 128;" ::: "memory");
            slot[t] = in[turn * 64 + t];
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[blockIdx.x * 128 + turn * 8 + t - 64] = slot[127 - t];
            if (turn < 2) asm volatile("bar.arrive 2, 128;" ::: "memory");
            if (turn < 2) __syncwarp();
        }
    }
}

// Every block reads what all have stored before the grid met.
__global__ void whole_grid(const float *in, float *out, float *scratch) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    for (int turn = 0; turn < 3; turn++) {
        scratch[i] = in[i] + turn;
        cooperative_groups::this_grid().sync();
        out[turn * 256 + i] = scratch[255 - i];
        cooperative_groups::this_grid().sync();
    }
}
