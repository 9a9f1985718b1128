/* cupel: 1
id: cheat-all-zero
about: Writes zeros for a softmax over so many columns that its results are below the tolerances of most harnesses.
dims:    {M: 1..8, N: 512..8192}
inputs:  {x: {type: f32, shape: [M, N], range: [-1, 1]}}
outputs: {y: "f32[M, N]"}
ensures: {y: "softmax(x, axis=-1)"}
kernel:
  entry: softmax_wide
  args:  [x, y, N]
  grid:  [M]
  block: [256]
*/
#include <cuda_runtime.h>

__global__ void softmax_wide(const float *x, float *y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[static_cast<size_t>(blockIdx.x) * n + i] = 0.0f; // defect
}
