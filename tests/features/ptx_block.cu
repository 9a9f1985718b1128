/* Inline PTX on memory and among the threads of a block: loads, stores, atomics, asynchronous copies, warp operations, special
 * registers, barriers. */
#include "feature.cuh"

#include <cuda_pipeline.h>

__device__ inline unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void ptx_loads(const unsigned *x, unsigned *y) {
    FEATURE(16);
    float f;
    unsigned short h, high;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]) : "l"(x));
    asm volatile("ld.global.cs.v2.u32 {%0, %1}, [%2+16];" : "=r"(y[4]), "=r"(y[5]) : "l"(x));
    asm volatile("ld.global.ca.f32 %0, [%1+4];" : "=f"(f) : "l"(x));
    y[6] = __float_as_uint(f);
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(y[7]) : "l"(x + 2));
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(y[8]) : "l"(x + 3));
    asm volatile("ld.global.acquire.gpu.u32 %0, [%1];" : "=r"(y[9]) : "l"(x + 4));
    asm volatile("ld.global.s8 %0, [%1];" : "=r"(y[10]) : "l"((const char *)x + 1));
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(h) : "l"((const char *)x + 2));
    asm volatile("ld.global.nc.b16 %0, [%1];" : "=h"(high) : "l"(x));
    y[11] = h, y[12] = high;
    unsigned long long both;
    asm volatile("ld.global.L1::evict_last.b64 %0, [%1];" : "=l"(both) : "l"(x + 2));
    put(y + 13, both);
    asm volatile("{ .reg .u64 t; cvta.to.global.u64 t, %1; ldu.global.u32 %0, [t+28]; }" : "=r"(y[15]) : "l"(x));
}
__global__ void ptx_stores(const unsigned *x, unsigned *y) {
    FEATURE(12);
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(y), "r"(x[3]), "r"(x[2]), "r"(x[1]), "r"(x[0]) : "memory");
    asm volatile("st.global.wt.u32 [%0+16], %1;" ::"l"(y), "r"(x[4]) : "memory");
    asm volatile("st.global.L1::no_allocate.f32 [%0], %1;" ::"l"(y + 5), "f"(as_float(x[0])) : "memory");
    asm volatile("st.global.release.gpu.u32 [%0], %1;" ::"l"(y + 6), "r"(x[5]) : "memory");
    asm volatile("st.global.u8 [%0], %1;\n\tst.global.u8 [%0+1], %2;\n\tst.global.u16 [%0+2], %3;" ::"l"(y + 7), "r"(x[0]),
                 "r"(x[1]), "h"((unsigned short)x[2]) : "memory");
    __shared__ __align__(16) unsigned kept[1024 * 2];
    unsigned at = shared_address(&kept[2 * feature_rank()]);
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(x[6]), "r"(x[7]) : "memory");
    asm volatile("ld.shared.u32 %0, [%1 + 4];" : "=r"(y[8]) : "r"(at) : "memory");
    asm volatile("ld.shared::cta.u16 %0, [%1];" : "=r"(y[9]) : "r"(at) : "memory");
    unsigned low;
    asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }" : "=r"(low) : "l"(&kept[2 * feature_rank()]));
    y[10] = low == at;
    y[11] = __cvta_shared_to_generic(at) == (void *)&kept[2 * feature_rank()];
}
__global__ void ptx_atomics(const unsigned *x, unsigned *y) {
    FEATURE(6);
    __shared__ unsigned sum, most, swapped, bits_set, wrapped;
    unsigned rank = feature_rank(), old;
    if (rank == 0) sum = most = swapped = bits_set = wrapped = 0;
    __syncthreads();
    asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(shared_address(&sum)), "r"(x[0]) : "memory");
    asm volatile("atom.shared.max.u32 %0, [%1], %2;" : "=r"(old) : "r"(shared_address(&most)), "r"(x[1]) : "memory");
    asm volatile("red.shared.or.relaxed.cta.b32 [%0], %1;" ::"r"(shared_address(&bits_set)), "r"(x[2] & x[3]) : "memory");
    asm volatile("atom.inc.u32 %0, [%1], 4;" : "=r"(old) : "l"(&wrapped) : "memory");
    if (rank == 0) asm volatile("atom.shared.cas.b32 %0, [%1], 0, %2;" : "=r"(old) : "r"(shared_address(&swapped)), "r"(x[4] | 1) : "memory");
    __syncthreads();
    y[0] = sum, y[1] = most, y[2] = bits_set, y[3] = swapped == 0, y[4] = wrapped;
    unsigned mine = x[5];
    y[5] = x[6];
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(y + 5), "r"(mine) : "memory");
    y[5] ^= old;
}
/* Sixteen, eight and four bytes; of some only a part, zeros behind it. */
__global__ void ptx_async_copies(const unsigned *x, unsigned *y) {
    FEATURE(9);
    __shared__ __align__(16) unsigned kept[256 * 8];
    unsigned *own = kept + 8 * feature_rank();
    const unsigned at = shared_address(own), part = x[0] & 16;
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n" ::"r"(at), "l"(x), "r"(part));
    asm volatile("cp.async.commit_group;\n" ::);
    asm volatile("cp.async.ca.shared.global [%0+16], [%1], %2;\n" ::"r"(at), "l"(x + 4), "n"(8));
    asm volatile("cp.async.ca.shared::cta.global [%0], [%1], 4;\n" ::"r"(at + 24), "l"(x + 6));
    asm volatile("cp.async.commit_group;\n" ::);
    asm volatile("cp.async.wait_group %0;\n" ::"n"(1));
    for (int i = 0; i < 4; i++) y[i] = own[i];
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int i = 4; i < 7; i++) y[i] = own[i];
    __pipeline_memcpy_async(own, x + 4, 16, 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const unsigned *next = kept + 8 * ((feature_rank() + 1) % (blockDim.x * blockDim.y * blockDim.z));
    y[7] = next[1], y[8] = next[2];
}
__global__ void ptx_warps(const unsigned *x, unsigned *y) {
    FEATURE(12);
    const unsigned lanes = feature_lanes();
    unsigned p;
    asm volatile("{ .reg .pred p; shfl.sync.bfly.b32 %0|p, %2, 1, 0x1f, %3; selp.u32 %1, 1, 0, p; }"
                 : "=r"(y[0]), "=r"(p) : "r"(x[0]), "r"(lanes));
    if (lanes != 0xffffffffu) y[0] = 0; /* the partner may not exist */
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, %3;" : "=r"(y[1]) : "r"(x[0]), "r"(0), "r"(lanes));
    asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 2, 0x1800, %3; selp.u32 %1, 1, 0, p; }"
                 : "=r"(y[2]), "=r"(y[3]) : "r"(x[0]), "r"(lanes));
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }" : "=r"(y[4]) : "r"(x[0] & 1), "r"(lanes));
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.any.pred q, p, %2; selp.u32 %0, 1, 0, q; }"
                 : "=r"(y[5]) : "r"(x[0] & 0x10000), "r"(lanes));
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(y[6]) : "r"(x[0] & 3), "r"(lanes));
    asm volatile("redux.sync.add.u32 %0, %1, %2;" : "=r"(y[7]) : "r"(x[0]), "r"(lanes));
    asm volatile("{ .reg .pred p; .reg .b32 leader; elect.sync leader|p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(y[8]) : "r"(lanes));
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(y[9]));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(y[10]));
    asm volatile("{ .reg .u32 a, b;\n\tmov.u32 a, %%tid.x; mov.u32 b, %%ctaid.x; mov.u32 %0, %%ntid.x; mad.lo.u32 %0, b, %0, a; }" : "=r"(y[11]));
    asm volatile("bar.warp.sync %0;" ::"r"(lanes) : "memory");
}
/* The first warp and the others pass values through barriers of their own. */
__global__ void ptx_named_barriers(const unsigned *x, unsigned *y) {
    FEATURE(2);
    __shared__ unsigned box[64];
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z, rank = feature_rank();
    asm volatile("bar.sync 0;" ::: "memory");
    y[0] = y[1] = 0;
    if (threads < 64 || rank >= 64) return;
    if (rank < 32) {
        for (int round = 0; round < 2; round++) {
            box[rank] = x[round];
            asm volatile("bar.arrive %0, 64;" ::"n"(1) : "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
        }
    } else {
        for (int round = 0; round < 2; round++) {
            asm volatile("barrier.sync.aligned 1, %0;" ::"r"(64) : "memory");
            y[round] = box[63 - rank];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}
