/* cupel: 1
id: matmul
about: Matrix product through 16 by 16 tiles in shared memory.
dims:    {M: 1..1024, N: 1..1024, K: 1..1024}
types:   {T: [f32, f16]}
inputs:  {a: "T[M, K]", b: "T[K, N]"}
outputs: {c: "T[M, N]"}
ensures: {c: "matmul(a, b)"}
kernel:
  entry: matmul_tiled<$T>
  args:  [a, b, c, M, N, K]
  grid:  ["ceil_div(N, 16)", "ceil_div(M, 16)"]
  block: [16, 16]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int TILE = 16;

template <typename T>
__global__ void __launch_bounds__(TILE *TILE)
    matmul_tiled(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c, int M, int N, int K) {
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE + 1];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < M && ka < K ? (float)a[(size_t)row * K + ka] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = kb < K && column < N ? (float)b[(size_t)kb * N + column] : 0.0f;
        __syncthreads();
        const int tile = min(TILE, K - k0);
        for (int k = 0; k < tile; ++k) sum = fmaf(as[threadIdx.y][k], bs[k][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < M && column < N) c[(size_t)row * N + column] = (T)sum;
}
