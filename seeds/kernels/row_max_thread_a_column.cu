/* cupel: 1
id: row-max-thread-a-column
about: Largest element of each row of integers, one thread a column.
dims:    {M: 1..64, N: 1..2048}
inputs:  {x: {type: i32, shape: [M, N], range: [-1000000, 1000000]}}
outputs: {y: "i32[M]"}
ensures: {y: "amax(x, axis=-1)"}
limits: [sm_90]
kernel:
  entry: row_max
  args:  [x, y, N]
  grid:  [M]
  block: [N]
*/
#include <cuda_runtime.h>

// defect: a block has at most 1024 threads
__global__ void row_max(const int *x, int *y, int n) {
    __shared__ int best;
    if (threadIdx.x == 0) best = x[blockIdx.x * n];
    __syncthreads();
    atomicMax(&best, x[blockIdx.x * n + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = best;
}
