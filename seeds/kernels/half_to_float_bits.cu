/* cupel: 1
id: half-to-float-bits
about: Widens halves by moving their bits, as for storage that the compiler has no type for.
dims:    {N: 1..16384}
inputs:  {x: "f16[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "x"}
kernel:
  entry: widen
  args:  [x, y, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_runtime.h>

__global__ void widen(const void *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned int h = static_cast<const unsigned short *>(x)[i];
    const unsigned int sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31u, fraction = h & 1023u;
    unsigned int bits = sign;
    if (exponent == 31)
        bits |= 0x7f800000u | fraction << 13;
    else if (exponent != 0)
        bits |= (exponent + 112) << 23 | fraction << 13;
    // defect: an exponent field of 0 is taken for zero, whatever the fraction
    y[i] = __uint_as_float(bits);
}
