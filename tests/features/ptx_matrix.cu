/* The matrix instructions of inline PTX and wmma, by whole warps; in a partial one nothing happens. Elements are small integers, so
 * that every sum is exact in any order. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "feature.cuh"

#define WHOLE_WARPS_ONLY(W)                                                                                  \
    FEATURE(W);                                                                                              \
    if (feature_lanes() != 0xffffffffu) {                                                                    \
        for (int i = 0; i < (W); i++) y[i] = 0;                                                              \
        return;                                                                                              \
    }

/* -4 to 3, from four bits of x. */
__device__ inline float small(unsigned x, int i) { return (float)((int)(x >> (4 * i) & 7) - 4); }
__device__ inline unsigned halves(unsigned x, int i) {
    return (unsigned)__half_as_ushort(__float2half(small(x, 2 * i))) | (unsigned)__half_as_ushort(__float2half(small(x, 2 * i + 1))) << 16;
}
__device__ inline unsigned brains(unsigned x, int i) {
    return (unsigned)__bfloat16_as_ushort(__float2bfloat16(small(x, 2 * i))) |
           (unsigned)__bfloat16_as_ushort(__float2bfloat16(small(x, 2 * i + 1))) << 16;
}

__global__ void ptx_ldmatrix(const unsigned *x, unsigned *y) {
    WHOLE_WARPS_ONLY(12)
    __shared__ __align__(16) unsigned rows[1024 * 4];
    unsigned *own = rows + 4 * feature_rank();
    const unsigned at = (unsigned)__cvta_generic_to_shared(own);
    for (int i = 0; i < 4; i++) own[i] = x[i];
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]) : "r"(at));
    asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];" : "=r"(y[4]), "=r"(y[5]) : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {%0}, [%1];" : "=r"(y[6]) : "r"(at));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y[7]) : "r"(x[4]));
    __syncwarp();
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(at), "r"(x[5]), "r"(x[6]) : "memory");
    __syncwarp();
    for (int i = 0; i < 4; i++) y[8 + i] = own[i];
}
__global__ void ptx_mma_half(const unsigned *x, unsigned *y) {
    WHOLE_WARPS_ONLY(14)
    float c[4], d[4];
    for (int i = 0; i < 4; i++) c[i] = d[i] = small(x[6], i);
    unsigned a[4], b[2], h[2];
    for (int i = 0; i < 4; i++) a[i] = halves(x[i / 2], i % 2);
    for (int i = 0; i < 2; i++) b[i] = halves(x[2], i), h[i] = halves(x[6], i);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int i = 0; i < 4; i++) y[i] = bits(d[i]);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(h[0]), "+r"(h[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    y[4] = h[0], y[5] = h[1];
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int i = 0; i < 4; i++) y[6 + i] = bits(d[i]);
    for (int i = 0; i < 4; i++) a[i] = brains(x[i / 2], i % 2);
    for (int i = 0; i < 2; i++) b[i] = brains(x[2], i);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int i = 0; i < 4; i++) y[10 + i] = bits(d[i]);
}
__global__ void ptx_mma_other(const unsigned *x, unsigned *y) {
    WHOLE_WARPS_ONLY(16)
    float c[4], d[4];
    for (int i = 0; i < 4; i++) c[i] = small(x[6], i);
    unsigned a[4], b[2];
    for (int i = 0; i < 4; i++) a[i] = __float_as_uint(small(x[0], i));
    for (int i = 0; i < 2; i++) b[i] = __float_as_uint(small(x[1], i));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    for (int i = 0; i < 4; i++) y[i] = bits(d[i]);
    int s[4];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]), "r"(x[0]), "r"(x[1]));
    for (int i = 0; i < 4; i++) y[4 + i] = (unsigned)s[i];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]));
    for (int i = 0; i < 4; i++) y[8 + i] = (unsigned)s[i];
    double e[2];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
                 : "=d"(e[0]), "=d"(e[1])
                 : "d"((double)small(x[0], 0)), "d"((double)small(x[0], 1)), "d"((double)small(x[0], 2)), "d"((double)small(x[0], 3)));
    put(y + 12, e[0]);
    put(y + 14, e[1]);
}

using namespace nvcuda;

/* What goes in through fragments comes out as the product, whatever lies where in them. The warp's matrices are in shared memory. */
template <int M, int N, int K, class T, class S, class C, class LA, class LB>
__device__ void product(const unsigned *x, unsigned *y, wmma::layout_t order) {
    __shared__ __align__(32) S a[4][M * K], b[4][K * N];
    __shared__ __align__(32) C c[4][M * N];
    const int warp = feature_rank() / 32, lane = feature_rank() % 32;
    for (int i = lane; i < M * K; i += 32) a[warp][i] = (S)small(x[0] + (unsigned)i, i % 8);
    for (int i = lane; i < K * N; i += 32) b[warp][i] = (S)small(x[1] + (unsigned)i, i % 8);
    for (int i = lane; i < M * N; i += 32) c[warp][i] = (C)small(x[2] + (unsigned)i, i % 8);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc, sum;
    wmma::load_matrix_sync(fa, a[warp], std::is_same<LA, wmma::row_major>::value ? K : M);
    wmma::load_matrix_sync(fb, b[warp], std::is_same<LB, wmma::row_major>::value ? N : K);
    wmma::load_matrix_sync(fc, c[warp], order == wmma::mem_row_major ? N : M, order);
    wmma::fill_fragment(sum, (C)1);
    wmma::mma_sync(sum, fa, fb, sum);
    for (int i = 0; i < fc.num_elements; i++) sum.x[i] = sum.x[i] + fc.x[i];
    __syncwarp();
    wmma::store_matrix_sync(c[warp], sum, order == wmma::mem_row_major ? N : M, order);
    __syncwarp();
    for (int i = 0; i < M * N / 32; i++) y[i] = (unsigned)(int)(float)c[warp][lane + 32 * i];
    __syncwarp();
}
__global__ void wmma_half(const unsigned *x, unsigned *y) {
    WHOLE_WARPS_ONLY(8)
    product<16, 16, 16, half, half, float, wmma::row_major, wmma::row_major>(x - 8 * (feature_rank() % 32), y, wmma::mem_row_major);
}
__global__ void wmma_tall(const unsigned *x, unsigned *y) {
    WHOLE_WARPS_ONLY(8)
    product<32, 8, 16, half, half, half, wmma::col_major, wmma::row_major>(x - 8 * (feature_rank() % 32), y, wmma::mem_col_major);
}
__global__ void wmma_wide(const unsigned *x, unsigned *y) {
    WHOLE_WARPS_ONLY(8)
    product<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float, wmma::row_major, wmma::col_major>(x - 8 * (feature_rank() % 32), y,
                                                                                              wmma::mem_row_major);
}
__global__ void wmma_tf32(const unsigned *x, unsigned *y) {
    WHOLE_WARPS_ONLY(8)
    product<16, 16, 8, wmma::precision::tf32, float, float, wmma::col_major, wmma::col_major>(x - 8 * (feature_rank() % 32), y,
                                                                                              wmma::mem_col_major);
}
__global__ void wmma_bytes(const unsigned *x, unsigned *y) {
    WHOLE_WARPS_ONLY(8)
    product<16, 16, 16, signed char, signed char, int, wmma::row_major, wmma::col_major>(x - 8 * (feature_rank() % 32), y, wmma::mem_row_major);
}
__global__ void wmma_double(const unsigned *x, unsigned *y) {
    WHOLE_WARPS_ONLY(2)
    product<8, 8, 4, double, double, double, wmma::row_major, wmma::col_major>(x - 8 * (feature_rank() % 32), y, wmma::mem_row_major);
}
