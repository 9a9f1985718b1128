/* cupel: 1
id: hgemm-mma
about: >
  Matrix product on tensor cores as it is commonly written - tiles of 64 by 64 by 32 through cp.async into two buffers,
  ldmatrix, mma.sync m16n8k16 with float accumulators; four warps a block.
dims:    {M: 1..96, N: 8..96, K: 8..192}
requires: ["N % 8 == 0", "K % 8 == 0"]
inputs:  {a: "f16[M, K]", b: "f16[K, N]"}
outputs: {c: "f16[M, N]"}
ensures: {c: "matmul(a, b)"}
kernel:
  entry: hgemm_mma
  args:  [a, b, c, M, N, K]
  grid:  ["ceil_div(N, 64)", "ceil_div(M, 64)"]
  block: [128]
*/
#include <cuda_fp16.h>
#include <stdint.h>

#define BM 64
#define BN 64
#define BK 32
#define PAD 8

#define CP_ASYNC_CG(dst, src, size)                                                                          \
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n" ::"r"(dst), "l"(src), "r"(size))
#define CP_ASYNC_COMMIT_GROUP() asm volatile("cp.async.commit_group;\n" ::)
#define CP_ASYNC_WAIT_GROUP(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))
#define LDMATRIX_X4(R0, R1, R2, R3, addr)                                                                    \
    asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];\n"                        \
                 : "=r"(R0), "=r"(R1), "=r"(R2), "=r"(R3)                                                    \
                 : "r"(addr))
#define LDMATRIX_X2_T(R0, R1, addr)                                                                          \
    asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n"                          \
                 : "=r"(R0), "=r"(R1)                                                                        \
                 : "r"(addr))
#define HMMA16816(RD, RA, RB)                                                                                \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "    \
                 "{%8, %9}, {%0, %1, %2, %3};\n"                                                             \
                 : "+f"(RD[0]), "+f"(RD[1]), "+f"(RD[2]), "+f"(RD[3])                                        \
                 : "r"(RA[0]), "r"(RA[1]), "r"(RA[2]), "r"(RA[3]), "r"(RB[0]), "r"(RB[1]))

__device__ __forceinline__ uint32_t smem_address(const void *p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

/* Rows of 32 halves of a and of 64 halves of b, 8 halves a copy; what lies outside is filled with zeros. */
__device__ __forceinline__ void load_tiles(half (*as)[BK + PAD], half (*bs)[BN + PAD], const half *a, const half *b, int M,
                                           int N, int K, int row0, int column0, int k0) {
    for (int i = threadIdx.x; i < BM * BK / 8; i += 128) {
        const int row = i / (BK / 8), k = i % (BK / 8) * 8;
        const bool inside = row0 + row < M && k0 + k < K;
        CP_ASYNC_CG(smem_address(&as[row][k]), a + (inside ? (size_t)(row0 + row) * K + k0 + k : 0), inside ? 16 : 0);
    }
    for (int i = threadIdx.x; i < BK * BN / 8; i += 128) {
        const int k = i / (BN / 8), column = i % (BN / 8) * 8;
        const bool inside = k0 + k < K && column0 + column < N;
        CP_ASYNC_CG(smem_address(&bs[k][column]), b + (inside ? (size_t)(k0 + k) * N + column0 + column : 0),
                    inside ? 16 : 0);
    }
}

__global__ void __launch_bounds__(128) hgemm_mma(const half *__restrict__ a, const half *__restrict__ b,
                                                 half *__restrict__ c, int M, int N, int K) {
    __shared__ __align__(16) half as[2][BM][BK + PAD];
    __shared__ __align__(16) half bs[2][BK][BN + PAD];
    const int row0 = blockIdx.y * BM, column0 = blockIdx.x * BN;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
    float sum[2][4][4] = {};

    load_tiles(as[0], bs[0], a, b, M, N, K, row0, column0, 0);
    CP_ASYNC_COMMIT_GROUP();
    const int steps = (K + BK - 1) / BK;
    for (int step = 0; step < steps; ++step) {
        const int now = step & 1;
        if (step + 1 < steps) load_tiles(as[now ^ 1], bs[now ^ 1], a, b, M, N, K, row0, column0, (step + 1) * BK);
        CP_ASYNC_COMMIT_GROUP();
        CP_ASYNC_WAIT_GROUP(1);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            uint32_t ra[2][4], rb[4][2];
#pragma unroll
            for (int i = 0; i < 2; ++i)
                LDMATRIX_X4(ra[i][0], ra[i][1], ra[i][2], ra[i][3],
                            smem_address(&as[now][warp_row + i * 16 + lane % 16][k + lane / 16 * 8]));
#pragma unroll
            for (int j = 0; j < 4; ++j)
                LDMATRIX_X2_T(rb[j][0], rb[j][1], smem_address(&bs[now][k + lane % 16][warp_column + j * 8]));
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) HMMA16816(sum[i][j], ra[i], rb[j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int row = row0 + warp_row + i * 16 + lane / 4, column = column0 + warp_column + j * 8 + lane % 4 * 2;
            if (column < N && row < M)
                *reinterpret_cast<half2 *>(&c[(size_t)row * N + column]) = __floats2half2_rn(sum[i][j][0], sum[i][j][1]);
            if (column < N && row + 8 < M)
                *reinterpret_cast<half2 *>(&c[(size_t)(row + 8) * N + column]) =
                    __floats2half2_rn(sum[i][j][2], sum[i][j][3]);
        }
}
