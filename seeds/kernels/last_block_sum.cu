/* cupel: 1
id: last-block-sum
about: Sum of a vector in one launch; the last block adds up the partial sums and sets its counter back.
dims:    {N: 1..65536}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[1]"}
scratch: {partial: "f32[ceil_div(N, 512)]"}
ensures: {y: "sum(x, keepdim=true)"}
kernel:
  entry: sum_all
  args:  [x, y, partial, N]
  grid:  ["ceil_div(N, 512)"]
  block: [128]
*/
#include <cuda_runtime.h>

#define THREADS 128
#define PER_BLOCK 512

__device__ unsigned int blocks_done = 0;

__device__ float block_sum(float v, float *shared) {
    shared[threadIdx.x] = v;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    return shared[0];
}

__global__ void sum_all(const float *x, float *y, float *partial, int n) {
    __shared__ float shared[THREADS];
    __shared__ bool last;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < PER_BLOCK; k += THREADS) {
        int i = blockIdx.x * PER_BLOCK + k;
        if (i < n) sum += x[i];
    }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(&blocks_done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    // the last block to come adds up what all have left, always in the same order
    sum = 0.0f;
    for (int b = threadIdx.x; b < gridDim.x; b += THREADS) sum += ((volatile float *)partial)[b];
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0) {
        y[0] = sum;
        blocks_done = 0;
    }
}
