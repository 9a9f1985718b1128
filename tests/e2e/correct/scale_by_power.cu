/* cupel: 1
id: scale-by-power
about: Scales by powers of two that are made of bits; the product itself rounds what falls below the normal numbers.
dims:    {N: 1..4096}
inputs:  {x: "f32[N]", k: {type: i32, shape: [N], range: [-20, 20]}}
outputs: {y: "f32[N]"}
ensures: {y: "x * exp2(cast(k, f32))"}
kernel:  {entry: scale_by_powers, args: [x, k, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_runtime.h>

__global__ void scale_by_powers(const float *x, const int *k, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * __uint_as_float(static_cast<unsigned int>(127 + k[i]) << 23);
}
