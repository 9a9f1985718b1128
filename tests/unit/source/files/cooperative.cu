// entries: plain_sum
// refused: cg_sum: 13: cooperative groups
// refused: uses_helper: 9: cooperative groups
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__device__ float tile_sum(cg::thread_block_tile<32> &tile, float v) { return cg::reduce(tile, v, cg::plus<float>()); }

__device__ float helper(float v) { return v; }

__global__ void cg_sum(const float *x, float *y) { cg::thread_block block = cg::this_thread_block();
    y[block.thread_rank()] = x[0];
}
__global__ void uses_helper(const float *x, float *y) { y[0] = tile_sum(*(int *)x, 1.f); }
__global__ void plain_sum(const float *x, float *y) { y[0] = helper(x[0]); }
