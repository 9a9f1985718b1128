/* cupel: 1
id: rows-in-grid-x
about: More rows than the second axis of a grid could hold; they are on the first.
dims:    {M: 1..200000, N: 1..8}
inputs:  {x: {type: f32, shape: [M, N], finite: true}}
outputs: {y: "f32[M]"}
ensures: {y: "amax(x, axis=-1)"}
limits:  [sm_90]
kernel:  {entry: row_max, args: [x, y, N], grid: [M], block: [8]}
*/
#include <cuda_runtime.h>
#include <math.h>

__global__ void row_max(const float *x, float *y, int n) {
    float best = -INFINITY;
    for (int i = threadIdx.x; i < n; i += 8) best = fmaxf(best, x[static_cast<size_t>(blockIdx.x) * n + i]);
    for (int d = 4; d > 0; d /= 2) best = fmaxf(best, __shfl_xor_sync(0xffu, best, d));
    if (threadIdx.x == 0) y[blockIdx.x] = best;
}
