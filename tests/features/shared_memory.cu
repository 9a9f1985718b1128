/* Shared memory, static and dynamic, of many types. The launch gives 8,192 bytes of dynamic shared memory. */
#include <cuda_fp16.h>

#include "feature.cuh"

__global__ void dynamic_words(const unsigned *x, unsigned *y) {
    FEATURE(2);
    extern __shared__ unsigned words[];
    unsigned rank = feature_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    words[rank] = x[0];
    __syncthreads();
    y[0] = words[(rank + 1) % threads];
    y[1] = words[threads - 1 - rank];
}
/* One piece of memory under several types, as authors cut it. */
__global__ void dynamic_parts(const unsigned *x, unsigned *y) {
    FEATURE(5);
    extern __shared__ __align__(16) unsigned char pool[];
    unsigned rank = feature_rank(), threads = blockDim.x * blockDim.y * blockDim.z, at = rank % 32;
    double *doubles = reinterpret_cast<double *>(pool);
    float4 *fours = reinterpret_cast<float4 *>(pool + 32 * sizeof(double));
    __half *halves = reinterpret_cast<__half *>(fours + 32);
    if (rank < 32) {
        doubles[rank] = rank * 0.5;
        fours[rank] = make_float4(rank, rank + 1, rank + 2, rank + 3);
        halves[rank] = __float2half(rank + 0.5f);
    }
    __syncthreads();
    at = (at + x[0] % 5) % (threads < 32 ? threads : 32);
    put(y, doubles[at]);
    y[2] = bits(fours[at].x + fours[at].w), y[3] = bits(__half2float(halves[at])), y[4] = at;
}
template <class T> struct Memory {
    __device__ operator T *() {
        extern __shared__ int raw[];
        return (T *)raw;
    }
};
template <class T> __device__ T neighbour(T value) {
    Memory<T> memory;
    T *kept = memory;
    unsigned rank = feature_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    __syncthreads();
    kept[rank] = value;
    __syncthreads();
    return kept[(rank + 1) % threads];
}
__global__ void dynamic_templates(const unsigned *x, unsigned *y) {
    FEATURE(4);
    y[0] = neighbour(x[0]), y[1] = bits(neighbour((float)(x[0] & 255)));
    put(y + 2, neighbour((double)(x[1] & 1023)));
}
struct Item {
    int key;
    float value;
};
__global__ void static_arrays(const unsigned *x, unsigned *y) {
    FEATURE(4);
    __shared__ unsigned grid[8][33];
    __shared__ Item items[256];
    __shared__ bool flags[256];
    __shared__ unsigned single;
    unsigned rank = feature_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    grid[rank / 32][rank % 32] = x[0];
    items[rank] = Item{(int)rank, (float)rank};
    flags[rank] = x[1] & 1;
    if (rank == 0) single = x[2];
    __syncthreads();
    unsigned other = threads - 1 - rank;
    y[0] = grid[other / 32][other % 32], y[1] = bits(items[other].value + items[other].key), y[2] = flags[other], y[3] = single;
}
/* One array a function, seen by all its callers of a block. */
__device__ unsigned *own_array() {
    __shared__ unsigned kept[256];
    return kept;
}
__device__ unsigned sum_of_block(unsigned value) {
    __shared__ unsigned kept[256];
    unsigned sum = 0, threads = blockDim.x * blockDim.y * blockDim.z;
    kept[feature_rank()] = value;
    __syncthreads();
    for (unsigned i = 0; i < threads; i++) sum += kept[i];
    __syncthreads();
    return sum;
}
__global__ void function_arrays(const unsigned *x, unsigned *y) {
    FEATURE(2);
    own_array()[feature_rank()] = x[0];
    y[0] = sum_of_block(x[1] & 0xff);
    y[1] = own_array()[0];
}
/* By turns: one half of the block fills, the other reads, as with double buffers and warp roles. */
__global__ void volatile_shared(const unsigned *x, unsigned *y) {
    FEATURE(1);
    __shared__ volatile unsigned turn, value;
    unsigned rank = feature_rank(), threads = blockDim.x * blockDim.y * blockDim.z;
    if (rank == 0) turn = 0, value = 0;
    __syncthreads();
    for (unsigned i = 0; i < threads; i++) {
        if (rank == i) value = value * 3 + (x[0] & 7), turn = i + 1;
        __syncthreads();
    }
    y[0] = value + turn;
}
