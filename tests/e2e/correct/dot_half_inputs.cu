/* cupel: 1
id: dot-half-inputs
about: Dot products of halves in single precision; that their inputs were rounded to half is not the kernel's doing.
dims:    {M: 1..32, N: 1..512}
inputs:  {a: "f16[M, N]", b: "f16[M, N]"}
outputs: {y: "f32[M]"}
ensures: {y: "sum(a * b, axis=-1)"}
kernel:  {entry: dot_rows, args: [a, b, y, N], grid: [M], block: [32]}
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void dot_rows(const __half *a, const __half *b, float *y, int n) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) sum += __half2float(a[blockIdx.x * n + i]) * __half2float(b[blockIdx.x * n + i]);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
