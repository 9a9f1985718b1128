/* cupel: 1
id: clamp-fmin-declared
about: Clamps halves by the device's minimum and maximum, which turn a NaN into a bound; the contract says which.
dims:    {N: 1..4096}
inputs:  {x: "f16[N]"}
outputs: {y: "f16[N]"}
ensures: {y: "fmin(fmax(x, -1), 1)"}
kernel:  {entry: clamp, args: [x, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void clamp(const __half *x, __half *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hmin(__hmax(x[i], __float2half(-1.0f)), __float2half(1.0f));
}
