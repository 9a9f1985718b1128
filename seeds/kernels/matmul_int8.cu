/* cupel: 1
id: matmul-int8
about: Product of int8 matrices with 32-bit accumulators, requantised to int8.
dims:    {M: 1..128, N: 1..128, K: 0..1024}
params:  {scale: {range: [0.0001, 0.1]}}
inputs:  {a: "i8[M, K]", b: "i8[K, N]"}
outputs: {c: "i32[M, N]", q: "i8[M, N]"}
ensures:
  c: "matmul(cast(a, i32), cast(b, i32))"
  q: "clamp(round(matmul(cast(a, i32), cast(b, i32)) * scale), -128, 127)"
kernel:
  entry: matmul_int8
  args:  [a, b, c, q, M, N, K, scale]
  grid:  ["ceil_div(N, 16)", "ceil_div(M, 16)"]
  block: [16, 16]
*/
#include <cuda_runtime.h>

__global__ void matmul_int8(const signed char *a, const signed char *b, int *c, signed char *q, int M, int N, int K,
                            float scale) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    int sum = 0;
    for (int k = 0; k < K; k++) sum += a[row * K + k] * b[k * N + column];
    c[row * N + column] = sum;
    float scaled = rintf((float)sum * scale);
    q[row * N + column] = (signed char)fminf(fmaxf(scaled, -128.0f), 127.0f);
}
