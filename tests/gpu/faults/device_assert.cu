/* cupel: 1
id: gpu-device-assert
about: Asserts something that is false for long tensors.
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "2 * x"}
kernel:
  entry: scale
  args:  [x, y, N]
  grid:  ["ceil_div(N, 64)"]
  block: [64]
*/
#include <assert.h>
__global__ void scale(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < 200); // defect
    if (i < n) y[i] = 2.0f * x[i];
}
