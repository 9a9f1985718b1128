/* cupel: 1
id: layer-norm-grid-y
about: Layer norm without weights; rows are mapped to the second axis of the grid.
dims:    {M: 1..100000, N: 1..256}
inputs:  {x: {type: f32, shape: [M, N], range: [-100, 100]}}
outputs: {y: "f32[M, N]"}
ensures: {y: "layer_norm(x)"}
limits: [sm_90]
kernel:
  entry: layer_norm_warp
  args:  [x, y, N, {1e-5: f32}]
  grid:  [1, M]
  block: [32]
*/
#include <cuda_runtime.h>

__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

// defect: gridDim.y ends at 65535
__global__ void layer_norm_warp(const float *x, float *y, int n, float eps) {
    const size_t row = static_cast<size_t>(blockIdx.y) * n;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) sum += x[row + i];
    const float mean = warp_sum(sum) / n;
    for (int i = threadIdx.x; i < n; i += 32) squares += (x[row + i] - mean) * (x[row + i] - mean);
    const float scale = rsqrtf(warp_sum(squares) / n + eps);
    for (int i = threadIdx.x; i < n; i += 32) y[row + i] = (x[row + i] - mean) * scale;
}
