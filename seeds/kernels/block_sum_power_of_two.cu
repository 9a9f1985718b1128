/* cupel: 1
id: block-sum-power-of-two
about: Sum of each row by a tree in shared memory that loses elements unless the block is a power of two.
dims:    {M: 1..256, N: 1..16384, B: 1..1024}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M]"}
ensures: {y: "sum(x, axis=-1)"}
kernel:
  entry: row_sum_tree
  args:  [x, y, N]
  grid:  [M]
  block: [B]
  shared: "B * 4"
*/
#include <cuda_runtime.h>

__global__ void row_sum_tree(const float *x, float *y, int N) {
    extern __shared__ float partial[];
    const float *row = x + (size_t)blockIdx.x * N;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += blockDim.x) sum += row[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) { // defect: an odd level forgets its last element
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}
