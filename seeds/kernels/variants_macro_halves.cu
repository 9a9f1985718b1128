/* A row sum whose block size is a macro: each variant is compiled with its own. The tree loses an odd half, which 96 has. */
/* cupel: 1
id: variants-macro-halves
dims:     {M: 1..3, N: 1..300}
variants: {BLOCK: [64, 32, 96]}
inputs:   {x: "f32[M, N]"}
outputs:  {y: "f32[M]"}
ensures:  {y: "sum(x, axis=-1)"}
source:   {defines: {BLOCK: $BLOCK}}
kernel:
  entry: row_sum
  args:  [x, y, N]
  grid:  [M]
  block: [BLOCK]
*/
#include <cuda_runtime.h>

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
