/* cupel: 1
id: float-to-half-bits
about: Narrows floats to halves by their bits; a sum with 0.5 rounds those that become subnormal.
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f16[N]"}
ensures: {y: "cast(x, f16)"}
kernel:  {entry: narrow, args: [x, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_runtime.h>

__global__ void narrow(const float *x, void *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned int bits = __float_as_uint(x[i]), size = bits & 0x7fffffffu;
    unsigned int h;
    if (size > 0x7f800000u)
        h = 0x7e00u;
    else if (size >= 0x47800000u) // 65536
        h = 0x7c00u;
    else if (size < 0x38800000u) // 2 to the -14: the last place of 0.5 is that of a subnormal half
        h = __float_as_uint(__uint_as_float(size) + 0.5f) - 0x3f000000u;
    else
        h = (size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13;
    static_cast<unsigned short *>(y)[i] = static_cast<unsigned short>(h | (bits >> 16 & 0x8000u));
}
