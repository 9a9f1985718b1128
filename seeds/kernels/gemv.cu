/* cupel: 1
id: gemv
about: Matrix times vector, one thread a row, the vector by tiles of 64 through shared memory.
dims:    {M: 1..2048, K: 1..2048}
inputs:  {A: "f32[M, K]", x: "f32[K]"}
outputs: {y: "f32[M]"}
ensures: {y: "matmul(A, x)"}
kernel:
  entry: gemv
  args:  [A, x, y, M, K]
  grid:  ["ceil_div(M, 64)"]
  block: [64]
*/
#include <cuda_runtime.h>

#define TILE 64

__global__ void gemv(const float *A, const float *x, float *y, int M, int K) {
    __shared__ float part[TILE];
    int row = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        int k = start + threadIdx.x, count = K - start < TILE ? K - start : TILE;
        if (k < K) part[threadIdx.x] = x[k];
        __syncthreads();
        if (row < M)
            for (int j = 0; j < count; j++) sum += A[(size_t)row * K + start + j] * part[j];
        __syncthreads();
    }
    if (row < M) y[row] = sum;
}
