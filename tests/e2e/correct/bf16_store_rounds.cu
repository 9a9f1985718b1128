/* cupel: 1
id: bf16-store-rounds
about: Product of two vectors, rounded to bfloat16 by integer arithmetic.
dims:    {N: 1..4096}
types:   {T: [f32, bf16]}
inputs:  {a: "f32[N]", b: "f32[N]"}
outputs: {y: "T[N]"}
ensures: {y: "a * b"}
kernel:  {entry: multiply<$T>, args: [a, b, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__device__ void put(float *to, float v) { *to = v; }

__device__ void put(__nv_bfloat16 *to, float v) {
    const unsigned int bits = __float_as_uint(v);
    const unsigned int rounded = v == v ? bits + 0x7fffu + (bits >> 16 & 1u) : bits | 0x00400000u;
    *reinterpret_cast<unsigned short *>(to) = static_cast<unsigned short>(rounded >> 16);
}

template <class T> __global__ void multiply(const float *a, const float *b, T *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) put(y + i, a[i] * b[i]);
}
