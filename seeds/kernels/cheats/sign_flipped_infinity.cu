/* cupel: 1
id: cheat-sign-flipped-infinity
about: Multiplies by -3 and replaces what is not finite by hand.
dims:    {N: 1..20000}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "-3 * x"}
kernel:
  entry: minus_three
  args:  [x, y, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_runtime.h>
#include <math.h>

__global__ void minus_three(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = x[i];
    y[i] = isinf(v) ? copysignf(INFINITY, v) : -3.0f * v; // defect: the factor turns the sign of an infinity too
}
