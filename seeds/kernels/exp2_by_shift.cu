/* cupel: 1
id: exp2-by-shift
about: Scales by powers of two that are made in the exponent field.
dims:    {N: 1..16384}
inputs:  {x: {type: f32, shape: [N], finite: true}, k: {type: i32, shape: [N], range: [-20, 20]}}
outputs: {y: "f32[N]"}
ensures: {y: "x * exp2(cast(k, f32))"}
kernel:
  entry: scale_by_powers
  args:  [x, k, y, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_runtime.h>

__global__ void scale_by_powers(const float *x, const int *k, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned int bits = __float_as_uint(x[i]);
    const int exponent = (bits >> 23 & 255u);
    if (exponent == 0 || exponent + k[i] <= 0)
        y[i] = __uint_as_float(bits & 0x80000000u); // defect: there are numbers below the normal ones
    else if (exponent + k[i] >= 255)
        y[i] = __uint_as_float((bits & 0x80000000u) | 0x7f800000u);
    else
        y[i] = __uint_as_float(bits + (static_cast<unsigned int>(k[i]) << 23));
}
