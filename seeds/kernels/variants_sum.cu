/* The sum of each row by one block, for every block size that the launcher may choose: the tree halves any number of
 * partial sums, an odd one out waits. Other block sizes add in another order, which `order: any` admits. */
/* cupel: 1
id: variants-sum
dims:     {M: 1..64, N: 1..1000}
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
    for (int active = BLOCK; active > 1;) {
        const int half = (active + 1) / 2;
        if (t + half < active) part[t] += part[t + half];
        __syncthreads();
        active = half;
    }
    if (t == 0) y[blockIdx.x] = part[0];
}
