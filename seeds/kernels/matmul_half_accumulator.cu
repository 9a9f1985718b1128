/* cupel: 1
id: matmul-half-accumulator
about: Matrix product of halves, one thread an element; the running sum is kept in half.
dims:    {M: 1..256, N: 1..256, K: 1..2048}
inputs:  {a: "f16[M, K]", b: "f16[K, N]"}
outputs: {c: "f16[M, N]"}
ensures: {c: "matmul(a, b)"}
accumulate: f32
kernel:
  entry: hgemm_naive
  args:  [a, b, c, M, N, K]
  grid:  ["ceil_div(N, 32)", "ceil_div(M, 8)"]
  block: [32, 8]
*/
#include <cuda_fp16.h>

__global__ void hgemm_naive(const half *a, const half *b, half *c, int M, int N, int K) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        half sum = __float2half(0.0f); // defect: the accumulator must be a float
        for (int k = 0; k < K; ++k) sum = __hfma(a[m * K + k], b[k * N + n], sum);
        c[m * N + n] = sum;
    }
}
