/* cuda::barrier, cuda::pipeline, cuda::atomic, and mbarrier beneath them. */
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/limits>
#include <cuda/std/type_traits>

#include "feature.cuh"

namespace cg = cooperative_groups;

__device__ inline unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

__global__ void cuda_barrier(const unsigned *x, unsigned *y) {
    FEATURE(3);
    __shared__ unsigned kept[1024];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    const unsigned rank = feature_rank(), threads = block_threads();
    if (rank == 0) init(&bar, threads);
    __syncthreads();
    for (unsigned round = 0; round < 3; round++) {
        kept[rank] = x[round];
        auto token = bar.arrive();
        bar.wait(std::move(token));
        y[round] = kept[threads - 1 - rank];
        bar.arrive_and_wait();
    }
}
/* A tile of a word a thread, two stages, one ahead. */
__global__ void cuda_pipeline(const unsigned *x, unsigned *y) {
    FEATURE(4);
    __shared__ unsigned kept[2][1024];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const unsigned rank = feature_rank(), threads = block_threads();
    for (unsigned tile = 0, ahead = 0; tile < 4; tile++) {
        for (; ahead < 4 && ahead < tile + 2; ahead++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&kept[ahead % 2][rank], x + ahead, sizeof(unsigned), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        y[tile] = kept[tile % 2][(rank + 1) % threads];
        pipe.consumer_release();
    }
}
__global__ void cuda_pipeline_thread(const unsigned *x, unsigned *y) {
    FEATURE(8);
    __shared__ __align__(16) unsigned kept[1024 * 8];
    unsigned *own = kept + 8 * feature_rank();
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(own, x, cuda::aligned_size_t<16>(16), pipe);
    pipe.producer_commit();
    pipe.producer_acquire();
    cuda::memcpy_async(own + 4, x + 4, 16, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    for (int i = 0; i < 4; i++) y[i] = own[i];
    pipe.consumer_release();
    pipe.consumer_wait();
    for (int i = 4; i < 8; i++) y[i] = own[i];
    pipe.consumer_release();
}
__global__ void cuda_atomic(const unsigned *x, unsigned *y) {
    FEATURE(7);
    __shared__ unsigned sum;
    __shared__ int least;
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> count;
    const unsigned rank = feature_rank();
    if (rank == 0) sum = 0, least = cuda::std::numeric_limits<int>::max(), count.store(0, cuda::memory_order_relaxed);
    __syncthreads();
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> total(sum);
    total.fetch_add(x[0], cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_block>(least).fetch_min((int)x[1]);
    count++;
    count += 2;
    __syncthreads();
    y[0] = total.load(), y[1] = (unsigned)least, y[2] = count.load(cuda::memory_order_acquire);
    unsigned mine = x[2], wanted = x[2];
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> own(y[3]);
    own.store(mine, cuda::memory_order_release);
    y[4] = own.compare_exchange_strong(wanted, x[3]);
    y[5] = own.exchange(x[4]);
    y[6] = own.fetch_sub(1) ^ own.load();
    static_assert(cuda::std::is_same<decltype(mine), unsigned>::value, "the library's traits");
}
__global__ void ptx_mbarrier(const unsigned *x, unsigned *y) {
    FEATURE(2);
    __shared__ unsigned kept[1024];
    __shared__ unsigned long long bar;
    const unsigned rank = feature_rank(), threads = block_threads(), at = (unsigned)__cvta_generic_to_shared(&bar);
    if (rank == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(threads) : "memory");
    __syncthreads();
    for (unsigned round = 0; round < 2; round++) {
        kept[rank] = x[round];
        asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(at) : "memory");
        unsigned done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(at), "r"(round) : "memory");
        y[round] = kept[threads - 1 - rank];
        __syncthreads();
    }
}
