/* cupel: 1
id: cheat-side-channel-noop
about: Does nothing, and counts on memory in which the reference has just left the answer.
dims:    {N: 1..16384}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "relu(x)"}
kernel:
  entry: relu_elsewhere
  args:  [x, y, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_runtime.h>

__global__ void relu_elsewhere(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] != x[i]) y[i] = x[i]; // defect: all other elements are left as they lie
}
