/* cupel: 1
id: mask-fill-clamped
about: Masked elements become a number that the caller gives, as long as a half can hold it.
dims:    {N: 1..2048}
types:   {T: [f32, f16]}
params:  {fill: {one_of: [0, -inf, nan, -1e4]}}
inputs:  {x: "T[N]", m: "bool[N]"}
outputs: {y: "T[N]"}
ensures: {y: "where(m, fill, x)"}
kernel: {entry: mask<$T>, args: [x, m, y, fill, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_fp16.h>

template <class T> __global__ void mask(const T *x, const bool *m, T *y, float fill, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // defect: an infinity is made the largest half
    if (i < n) y[i] = m[i] ? T(fmaxf(fill, -65504.0f)) : x[i];
}
