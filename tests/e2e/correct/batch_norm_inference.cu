/* cupel: 1
id: batch-norm-inference
about: Batch norm with the statistics it is given, as in evaluation; in training it would take its batch's own.
dims:    {B: 1..16, C: 1..16, N: 1..64}
params:  {eps: 1e-5}
inputs:
  x: {type: f32, shape: [B, C, N], range: [-100, 100]}
  mean: {type: f32, shape: [C], range: [-100, 100]}
  var: {type: f32, shape: [C], range: [0, 100]}
outputs: {y: "f32[B, C, N]"}
ensures: {y: "batch_norm(x, mean, var, eps=eps)"}
kernel:  {entry: batch_norm, args: [x, mean, var, y, C, N, eps], grid: [C, B], block: [32]}
*/
#include <cuda_runtime.h>

__global__ void batch_norm(const float *x, const float *mean, const float *var, float *y, int c, int n, float eps) {
    const int channel = blockIdx.x;
    const size_t row = (static_cast<size_t>(blockIdx.y) * c + channel) * n;
    const float scale = rsqrtf(var[channel] + eps), shift = -mean[channel] * scale;
    for (int i = threadIdx.x; i < n; i += 32) y[row + i] = fmaf(x[row + i], scale, shift);
}
