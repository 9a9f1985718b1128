/* cupel: 1
id: dot-half-declared
about: Dot products of halves, summed in half; the contract says accumulate f16.
dims:    {M: 1..32, N: 1..512}
inputs:  {a: {type: f16, shape: [M, N], range: [-4, 4]}, b: {type: f16, shape: [M, N], range: [-4, 4]}}
outputs: {y: "f16[M]"}
ensures: {y: "sum(a * b, axis=-1)"}
accumulate: f16
kernel:  {entry: dot_rows, args: [a, b, y, N], grid: [M], block: [32]}
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void dot_rows(const __half *a, const __half *b, __half *y, int n) {
    __half sum = __float2half(0.0f);
    for (int i = threadIdx.x; i < n; i += 32) sum = __hfma(a[blockIdx.x * n + i], b[blockIdx.x * n + i], sum);
    for (int d = 16; d > 0; d /= 2) sum = __hadd(sum, __shfl_xor_sync(~0u, sum, d));
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
