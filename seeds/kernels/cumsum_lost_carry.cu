/* cupel: 1
id: cumsum-lost-carry
about: Running sum of a long vector, 256 elements a block; the carry goes no further than to the next block.
dims:    {N: 1..65536}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
scratch: {totals: "f32[ceil_div(N, 256)]"}
ensures: {y: "cumsum(x, axis=0)"}
kernel:
  - entry: scan_blocks
    args:  [x, y, totals, N]
    grid:  ["ceil_div(N, 256)"]
    block: [256]
  - entry: add_carries
    args:  [y, totals, N]
    grid:  ["ceil_div(N, 256)"]
    block: [256]
*/
#include <cuda_runtime.h>

#define BLOCK 256

__global__ void scan_blocks(const float *x, float *y, float *totals, int n) {
    __shared__ float sums[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = i < n ? x[i] : 0.0f;
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        float before = threadIdx.x >= step ? sums[threadIdx.x - step] : 0.0f;
        __syncthreads();
        sum += before;
        sums[threadIdx.x] = sum;
        __syncthreads();
    }
    if (i < n) y[i] = sum;
    if (threadIdx.x == BLOCK - 1) totals[blockIdx.x] = sum;
}

// Each block adds up what the blocks before it have left.
__global__ void add_carries(float *y, const float *totals, int n) {
    float carry = blockIdx.x > 0 ? totals[blockIdx.x - 1] : 0.0f; // defect: the blocks before that are left out
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n && blockIdx.x > 0) y[i] += carry;
}

void cumsum(const float *x, float *y, float *totals, int n, cudaStream_t stream) {
    int blocks = (n + BLOCK - 1) / BLOCK;
    scan_blocks<<<blocks, BLOCK, 0, stream>>>(x, y, totals, n);
    add_carries<<<blocks, BLOCK, 0, stream>>>(y, totals, n);
}
