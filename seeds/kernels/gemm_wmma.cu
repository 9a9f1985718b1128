/* cupel: 1
id: gemm-wmma
about: >
  Matrix product through wmma fragments of 16 by 16 by 16, one warp a tile; the tiles at the edges go through shared
  memory that is filled up with zeros.
dims:    {M: 1..128, N: 1..128, K: 1..192}
inputs:  {a: "f16[M, K]", b: "f16[K, N]"}
outputs: {c: "f32[M, N]"}
ensures: {c: "matmul(a, b)"}
kernel:
  entry: gemm_wmma
  args:  [a, b, c, M, N, K]
  grid:  ["ceil_div(N, 16)", "ceil_div(M, 16)"]
  block: [32]
*/
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int T = 16;

__global__ void gemm_wmma(const half *a, const half *b, float *c, int M, int N, int K) {
    __shared__ __align__(32) half as[T * T], bs[T * T];
    __shared__ __align__(32) float cs[T * T];
    const int row0 = blockIdx.y * T, column0 = blockIdx.x * T, lane = threadIdx.x;
    wmma::fragment<wmma::matrix_a, T, T, T, half, wmma::row_major> a_frag;
    wmma::fragment<wmma::matrix_b, T, T, T, half, wmma::row_major> b_frag;
    wmma::fragment<wmma::accumulator, T, T, T, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int i = lane; i < T * T; i += 32) {
            const int row = row0 + i / T, column = column0 + i % T, ka = k0 + i % T, kb = k0 + i / T;
            as[i] = row < M && ka < K ? a[(size_t)row * K + ka] : __float2half(0.0f);
            bs[i] = kb < K && column < N ? b[(size_t)kb * N + column] : __float2half(0.0f);
        }
        __syncthreads();
        wmma::load_matrix_sync(a_frag, as, T);
        wmma::load_matrix_sync(b_frag, bs, T);
        wmma::mma_sync(sum, a_frag, b_frag, sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(cs, sum, T, wmma::mem_row_major);
    __syncthreads();
    for (int i = lane; i < T * T; i += 32)
        if (row0 + i / T < M && column0 + i % T < N) c[(size_t)(row0 + i / T) * N + column0 + i % T] = cs[i];
}
