/* cupel: 1
id: mse-backward-first-upstream
about: Backward of an unreduced squared error; the upstream gradient of the first row serves all.
dims:    {M: 1..64, N: 1..512}
inputs:
  x: {type: f32, shape: [M, N], range: [-10, 10]}
  t: {type: f32, shape: [M, N], range: [-10, 10]}
  dloss: {type: f32, shape: [M], range: [-10, 10]}
outputs: {dx: "f32[M, N]"}
ensures: {dx: "vjp(mean((x - t) * (x - t), axis=-1), x, dloss)"}
kernel:
  entry: mse_backward
  args:  [x, t, dloss, dx, M, N]
  grid:  ["ceil_div(M * N, 256)"]
  block: [256]
*/
#include <cuda_runtime.h>

__global__ void mse_backward(const float *x, const float *t, const float *dloss, float *dx, int m, int n) {
    const float scale = 2.0f / n * dloss[0]; // defect: every row has an upstream gradient of its own
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m * n) dx[i] = scale * (x[i] - t[i]);
}
