/* cupel: 1
id: cheat-nan-on-subnormals
about: Keeps eight bits of each number, by way of the power of two below it.
dims:    {N: 1..16384}
inputs:  {x: {type: f32, shape: [N], finite: true}}
outputs: {y: "f32[N]"}
ensures: {y: "cast(x, bf16)"}
kernel:
  entry: keep_eight_bits
  args:  [x, y, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_runtime.h>
#include <math.h>

__global__ void keep_eight_bits(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = x[i];
    const float power = __int_as_float(__float_as_int(v) & 0x7f800000);
    // defect: the exponent bits of a subnormal are 0, and 0 times infinity is NaN
    y[i] = v == 0.0f ? v : rintf(v / power * 128.0f) * (power / 128.0f);
}
