/* cupel: 1
id: matmul-k-tail
about: Matrix product through 32 by 32 tiles in shared memory; the last, partly filled tile along K is dropped.
dims:    {M: 1..512, N: 1..512, K: 32..1024}
inputs:  {a: "f32[M, K]", b: "f32[K, N]"}
outputs: {c: "f32[M, N]"}
ensures: {c: "matmul(a, b)"}
kernel:
  entry: sgemm
  args:  [a, b, c, M, N, K]
  grid:  ["ceil_div(N, 32)", "ceil_div(M, 32)"]
  block: [32, 8]
*/
#include <cuda_runtime.h>

#define TILE 32
#define ROWS 8

extern "C" __global__ void sgemm(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    float acc[TILE / ROWS] = {0.0f};
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int t = 0; t < K / TILE; t++) { // defect: K / TILE must be rounded up
        for (int r = threadIdx.y; r < TILE; r += ROWS) {
            int row = blockIdx.y * TILE + r, ka = t * TILE + threadIdx.x, kb = t * TILE + r;
            As[r][threadIdx.x] = (row < M && ka < K) ? A[row * K + ka] : 0.0f;
            Bs[r][threadIdx.x] = (kb < K && col < N) ? B[kb * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TILE; k++)
#pragma unroll
            for (int j = 0; j < TILE / ROWS; j++) acc[j] += As[threadIdx.y + j * ROWS][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < TILE / ROWS; j++) {
        int row = blockIdx.y * TILE + threadIdx.y + j * ROWS;
        if (row < M && col < N) C[row * N + col] = acc[j];
    }
}
