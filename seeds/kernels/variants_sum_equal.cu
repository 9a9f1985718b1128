/* The sum of each row by one warp; the variants say how many warps share a block. Each row is added in one order whatever
 * the variant is, so that equal bytes can be claimed. */
/* cupel: 1
id: variants-sum-equal
dims:          {M: 1..64, N: 1..1000}
variants:      {WARPS: [2, 1, 4]}
inputs:        {x: "f32[M, N]"}
outputs:       {y: "f32[M]"}
ensures:       {y: "sum(x, axis=-1)"}
deterministic: across_variants
kernel:
  entry: row_sum<$WARPS>
  args:  [x, y, M, N]
  grid:  ["ceil_div(M, WARPS)"]
  block: [32, WARPS]
*/
#include <cuda_runtime.h>

template <int WARPS>
__global__ void row_sum(const float *x, float *y, int m, int n) {
    const int row = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
    if (row >= m) return;
    float sum = 0;
    for (int c = lane; c < n; c += 32) sum += x[(size_t)row * n + c];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) y[row] = sum;
}
