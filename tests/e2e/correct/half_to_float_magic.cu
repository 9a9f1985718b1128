/* cupel: 1
id: half-to-float-magic
about: Widens halves by their bits; a product with 2 to the 112 puts exponents right, those of subnormals too.
dims:    {N: 1..4096}
inputs:  {x: "f16[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "x"}
kernel:  {entry: widen, args: [x, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_runtime.h>

__global__ void widen(const void *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned int h = static_cast<const unsigned short *>(x)[i], size = h & 0x7fffu;
    float v = __uint_as_float(size << 13) * __uint_as_float((127u + 112u) << 23);
    if (size >= 0x7c00u) v = __uint_as_float(0x7f800000u | (size & 1023u) << 13);
    y[i] = h & 0x8000u ? -v : v;
}
