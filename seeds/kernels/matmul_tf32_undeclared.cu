/* cupel: 1
id: matmul-tf32-undeclared
about: Single precision matrix product whose operands are rounded for tensor cores, as cvt.rna.tf32 does.
dims:    {M: 1..64, N: 1..64, K: 1..256}
inputs:  {a: {type: f32, shape: [M, K], range: [-8, 8]}, b: {type: f32, shape: [K, N], range: [-8, 8]}}
outputs: {c: "f32[M, N]"}
ensures: {c: "matmul(a, b)"}
kernel:
  entry: sgemm
  args:  [a, b, c, M, N, K]
  grid:  ["ceil_div(N, 16)", "ceil_div(M, 16)"]
  block: [16, 16]
*/
#include <cuda_runtime.h>

// defect: the contract does not say products: tf32
__device__ float to_tf32(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }

__global__ void sgemm(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float tile_a[16][17], tile_b[16][17];
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int begin = 0; begin < k; begin += 16) {
        const int ka = begin + threadIdx.x, kb = begin + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < m && ka < k ? to_tf32(a[row * k + ka]) : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = kb < k && column < n ? to_tf32(b[kb * n + column]) : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
