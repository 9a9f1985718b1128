/* The sum of each row by one block: the tree halves the block size, which loses a partial sum where a half is odd. Of
 * the block sizes only 96 has such a half. */
/* cupel: 1
id: variants-sum-halves
dims:     {M: 1..3, N: 1..300}
variants: {BLOCK: [64, 32, 96, 128]}
inputs:   {x: "f32[M, N]"}
outputs:  {y: "f32[M]"}
ensures:  {y: "sum(x, axis=-1)"}
kernel:
  entry: row_sum<$BLOCK>
  args:  [x, y, N]
  grid:  [M]
  block: [BLOCK]
*/
#include <cuda_runtime.h>

template <int BLOCK>
__global__ void row_sum(const float *x, float *y, int n) {
    __shared__ float part[BLOCK];
    const int t = threadIdx.x;
    const float *row = x + (size_t)blockIdx.x * n;
    float sum = 0;
    for (int c = t; c < n; c += BLOCK) sum += row[c];
    part[t] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = part[0];
}
