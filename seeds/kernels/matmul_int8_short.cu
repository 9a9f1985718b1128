/* cupel: 1
id: matmul-int8-short
about: Product of int8 matrices whose accumulators are too short.
dims:    {M: 1..96, N: 1..96, K: 1..1024}
inputs:  {a: "i8[M, K]", b: "i8[K, N]"}
outputs: {c: "i32[M, N]"}
ensures: {c: "matmul(cast(a, i32), cast(b, i32))"}
kernel:
  entry: matmul_int8
  args:  [a, b, c, M, N, K]
  grid:  ["ceil_div(N, 16)", "ceil_div(M, 16)"]
  block: [16, 16]
*/
#include <cuda_runtime.h>

__global__ void matmul_int8(const char *a, const char *b, int *c, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    short sum = 0; // defect: three products of -128 and -128 do not fit
    for (int k = 0; k < K; k++) sum += a[row * K + k] * b[k * N + column];
    c[row * N + column] = sum;
}
