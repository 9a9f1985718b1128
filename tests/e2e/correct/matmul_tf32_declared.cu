/* cupel: 1
id: matmul-tf32-declared
about: Single precision matrix product whose operands are cut to tf32; the contract says so.
dims:    {M: 1..32, N: 1..32, K: 1..128}
inputs:  {a: {type: f32, shape: [M, K], range: [-8, 8]}, b: {type: f32, shape: [K, N], range: [-8, 8]}}
outputs: {c: "f32[M, N]"}
ensures: {c: "matmul(a, b)"}
products: tf32
kernel:  {entry: sgemm, args: [a, b, c, M, N, K], grid: ["ceil_div(N, 8)", "ceil_div(M, 8)"], block: [8, 8]}
*/
#include <cuda_runtime.h>

__device__ float to_tf32(float v) { return __uint_as_float(__float_as_uint(v) & 0xffffe000u); }

__global__ void sgemm(const float *a, const float *b, float *c, int m, int n, int k) {
    const int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum += to_tf32(a[row * k + i]) * to_tf32(b[i * n + column]);
    c[row * n + column] = sum;
}
