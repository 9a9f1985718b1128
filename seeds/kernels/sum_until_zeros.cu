/* cupel: 1
id: sum-until-zeros
about: Sums of rows that are padded with zeros; the loop ends at the first stretch that holds nothing.
dims:    {M: 1..64, N: 1..1024}
inputs:  {x: {type: f32, shape: [M, N], range: [-100, 100]}}
outputs: {y: "f32[M]"}
ensures: {y: "sum(x, axis=-1)"}
kernel:
  entry: sum_rows
  args:  [x, y, N]
  grid:  [M]
  block: [32]
*/
#include <cuda_runtime.h>

__global__ void sum_rows(const float *x, float *y, int n) {
    const float *row = x + static_cast<size_t>(blockIdx.x) * n;
    float sum = 0.0f;
    for (int i = threadIdx.x; i - threadIdx.x < n; i += 32) {
        const float v = i < n ? row[i] : 0.0f;
        if (!__any_sync(0xffffffffu, v != 0.0f)) break; // defect: more may come behind
        sum += v;
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
