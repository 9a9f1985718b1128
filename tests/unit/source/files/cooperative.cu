// entries: plain_sum; cg_sum; uses_helper
// refused: clustered: 15: thread block clusters
// refused: several: 18: grids over several devices
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__device__ float tile_sum(const cg::thread_block_tile<32> &tile, float v) { return cg::reduce(tile, v, cg::plus<float>()); }

__global__ void cg_sum(const float *x, float *y) { cg::thread_block block = cg::this_thread_block();
    y[block.thread_rank()] = x[0];
}
__global__ void uses_helper(const float *x, float *y) { y[0] = tile_sum(cg::tiled_partition<32>(cg::this_thread_block()), x[0]); }
__global__ void clustered(float *y) { auto cluster = cg::this_cluster(); cluster.sync(); y[0] = 1; }

__global__ void several(float *y) {
    cg::multi_grid_group all = cg::this_multi_grid();
    all.sync();
}
__global__ void plain_sum(const float *x, float *y) { y[0] = x[0]; }
