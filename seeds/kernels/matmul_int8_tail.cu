/* cupel: 1
id: matmul-int8-tail
about: Product of int8 matrices, four products an instruction; the last K % 4 are left out.
dims:    {M: 1..64, N: 1..64, K: 1..512}
inputs:  {a: "i8[M, K]", b: "i8[N, K]"}
outputs: {c: "i32[M, N]"}
ensures: {c: "matmul(a, transpose(b))"}
kernel:
  entry: matmul_int8
  args:  [a, b, c, N, K]
  grid:  [M]
  block: [64]
*/
#include <cuda_runtime.h>

__device__ int four(const signed char *p) {
    unsigned char x = p[0], y = p[1], z = p[2], w = p[3];
    return (int)(x | y << 8 | z << 16 | (unsigned int)w << 24);
}

__global__ void matmul_int8(const signed char *a, const signed char *b, int *c, int N, int K) {
    int row = blockIdx.x, column = threadIdx.x;
    if (column >= N) return;
    int sum = 0;
    for (int k = 0; k + 3 < K; k += 4) // defect: nobody handles the tail
        sum = __dp4a(four(a + row * K + k), four(b + column * K + k), sum);
    c[row * N + column] = sum;
}
