/* Cooperative groups: blocks, tiles, coalesced groups, partitions, reductions, scans, copies, the grid. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>

#include "feature.cuh"

namespace cg = cooperative_groups;

__global__ void group_block(const unsigned *x, unsigned *y) {
    FEATURE(10);
    __shared__ unsigned place[1024];
    cg::thread_block block = cg::this_thread_block();
    unsigned last = block.size() - 1;
    y[0] = block.thread_rank();
    y[1] = block.num_threads();
    y[2] = block.group_index().x + 100 * block.group_index().y;
    y[3] = block.thread_index().x + 100 * block.thread_index().y + 10000 * block.thread_index().z;
    y[4] = block.dim_threads().x + 100 * block.group_dim().y;
    place[block.thread_rank()] = x[0];
    block.sync();
    y[5] = place[last - block.thread_rank()];
    cg::sync(block);
    place[block.thread_rank()] = x[1];
    auto token = block.barrier_arrive();
    y[6] = (unsigned)cg::group_size(block);
    block.barrier_wait(std::move(token));
    y[7] = place[last - block.thread_rank()];
    cg::thread_group any = block;
    any.sync();
    y[8] = (unsigned)any.size();
    y[9] = (unsigned)cg::thread_rank(any);
}

template <unsigned N> __device__ void tile_facts(const unsigned *x, unsigned *y) {
    auto tile = cg::tiled_partition<N>(cg::this_thread_block());
    cg::thread_block_tile<N> plain = tile;
    y[0] = tile.thread_rank() + 100 * tile.size() + 10000 * plain.num_threads();
    y[1] = plain.meta_group_rank() + 10000 * plain.meta_group_size();
    y[2] = tile.ballot(x[0] & 1);
    tile.sync();
}
__global__ void group_tiles(const unsigned *x, unsigned *y) {
    FEATURE(18);
    tile_facts<32>(x, y);
    tile_facts<16>(x, y + 3);
    tile_facts<8>(x, y + 6);
    tile_facts<4>(x, y + 9);
    tile_facts<2>(x, y + 12);
    tile_facts<1>(x, y + 15);
}
__global__ void group_tiles_of_tiles(const unsigned *x, unsigned *y) {
    FEATURE(6);
    auto half = cg::tiled_partition<16>(cg::this_thread_block());
    auto quad = cg::tiled_partition<4>(half);
    y[0] = quad.thread_rank();
    y[1] = quad.meta_group_rank() + 100 * quad.meta_group_size();
    y[2] = quad.any(x[0] & 1);
    cg::thread_group some = cg::tiled_partition(cg::this_thread_block(), 8);
    some.sync();
    y[3] = (unsigned)(some.thread_rank() + 100 * some.size());
    cg::thread_group fewer = cg::tiled_partition(some, 2);
    fewer.sync();
    y[4] = (unsigned)(fewer.thread_rank() + 100 * fewer.size());
    y[5] = cg::this_thread().size();
}
__global__ void group_votes(const unsigned *x, unsigned *y) {
    FEATURE(6);
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int alike;
    y[0] = tile.any(x[0] & 1);
    y[1] = tile.all(x[0] & 1);
    y[2] = tile.ballot(x[0] & 2);
    y[3] = tile.match_any(x[0] % 3);
    y[4] = tile.match_all(x[0] & 1, alike);
    y[5] = (unsigned)alike;
}

struct three {
    unsigned a;
    double b;
    unsigned c;
};
__global__ void group_shuffles(const unsigned *x, unsigned *y) {
    FEATURE(8);
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    y[0] = tile.shfl(x[0], 3);
    y[1] = tile.shfl_up(x[0], 2);
    y[2] = tile.shfl_down(x[0], 5);
    y[3] = tile.shfl_xor(x[0], 6);
    three all = {x[0], (double)x[1], x[2]};
    three first = tile.shfl(all, 0);
    y[4] = first.a;
    put(y + 5, first.b);
    y[7] = first.c;
}
__global__ void group_coalesced(const unsigned *x, unsigned *y) {
    FEATURE(8);
    if (x[0] % 3 != 0) {
        cg::coalesced_group together = cg::coalesced_threads();
        y[0] = together.thread_rank() + 100 * together.size();
        y[1] = together.shfl(x[1], 0);
        y[2] = together.shfl_up(x[1], 1);
        y[3] = together.shfl_down(x[1], 2);
        y[4] = together.ballot(x[1] & 1);
        y[5] = together.any(x[1] & 1) + 10 * together.all(x[1] & 1);
        y[6] = together.match_any(x[1] & 3);
        y[7] = cg::reduce(together, x[1], cg::plus<unsigned>());
        together.sync();
    }
}
__global__ void group_partitions(const unsigned *x, unsigned *y) {
    FEATURE(8);
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    cg::coalesced_group same = cg::labeled_partition(warp, x[0] % 5);
    y[0] = same.thread_rank() + 100 * same.size();
    y[1] = same.meta_group_size();
    y[2] = cg::reduce(same, x[1], cg::bit_xor<unsigned>());
    cg::coalesced_group side = cg::binary_partition(warp, (x[0] & 4) != 0);
    y[3] = side.thread_rank() + 100 * side.size();
    y[4] = side.meta_group_rank() + 10 * side.meta_group_size();
    y[5] = cg::reduce(side, x[1], cg::greater<unsigned>());
    auto pairs = cg::tiled_partition(side, 2);
    y[6] = pairs.thread_rank() + 10 * pairs.meta_group_rank();
    y[7] = pairs.shfl(x[2], 0);
}

struct largest_first {
    __device__ three operator()(const three &a, const three &b) const { return b.a > a.a || (b.a == a.a && b.c < a.c) ? b : a; }
};
__global__ void group_reductions(const unsigned *x, unsigned *y) {
    FEATURE(16);
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    y[0] = (unsigned)cg::reduce(tile, (int)x[0], cg::plus<int>());
    y[1] = (unsigned)cg::reduce(tile, (int)x[0], cg::less<int>());
    y[2] = (unsigned)cg::reduce(tile, (int)x[0], cg::greater<int>());
    y[3] = cg::reduce(tile, x[0], cg::bit_and<unsigned>());
    y[4] = cg::reduce(tile, x[0], cg::bit_or<unsigned>());
    y[5] = cg::reduce(tile, x[0], cg::bit_xor<unsigned>());
    y[6] = bits(cg::reduce(tile, (float)(x[0] & 255), cg::plus<float>()));
    put(y + 7, cg::reduce(tile, (double)(x[0] & 255), cg::greater<double>()));
    put(y + 9, cg::reduce(tile, (unsigned long long)x[0] << 20, cg::plus<unsigned long long>()));
    y[11] = cg::reduce(tile, x[0] | 1, [](unsigned a, unsigned b) { return a * b; });
    three best = cg::reduce(tile, three{x[0] & 7, 0, tile.thread_rank()}, largest_first());
    y[12] = best.a;
    y[13] = best.c;
    y[14] = cg::inclusive_scan(tile, x[0]);
    y[15] = cg::exclusive_scan(tile, x[0], cg::plus<unsigned>());
}
__global__ void group_copies(const unsigned *x, unsigned *y) {
    const unsigned *own = x;
    FEATURE(3);
    __shared__ __align__(16) unsigned in[8 * 256];
    cg::thread_block block = cg::this_thread_block();
    unsigned threads = block.size(), first = 8 * (feature_thread() - feature_rank());
    cg::memcpy_async(block, in, own + first, sizeof(unsigned) * 8 * threads);
    cg::wait(block);
    y[0] = in[8 * (threads - 1 - block.thread_rank())];
    block.sync();
    cg::memcpy_async(block, in, threads + 1, own + first + 1, threads);
    cg::wait_prior<0>(block);
    y[1] = in[threads - 1 - block.thread_rank()];
    auto quad = cg::tiled_partition<4>(block);
    block.sync();
    cg::memcpy_async(quad, in + 4 * quad.meta_group_rank(), own + first, cuda::aligned_size_t<16>(16));
    cg::wait(quad);
    y[2] = in[4 * quad.meta_group_rank() + (3 - quad.thread_rank())];
}
__global__ void group_one(const unsigned *x, unsigned *y) {
    FEATURE(3);
    __shared__ unsigned counted;
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<4>(block);
    if (block.thread_rank() == 0) counted = 0;
    block.sync();
    cg::invoke_one(tile, [&](unsigned by) { atomicAdd(&counted, by); }, 3u);
    block.sync();
    y[0] = counted;
    y[1] = cg::invoke_one_broadcast(tile, [&] { return x[0] + 1; });
    block.sync();
    cg::invoke_one(block, [&] { counted = 77; });
    block.sync();
    y[2] = counted;
}
__global__ void group_grid(const unsigned *x, unsigned *y) {
    unsigned *all = y;
    FEATURE(8);
    cg::grid_group grid = cg::this_grid();
    y[0] = (unsigned)grid.thread_rank();
    y[1] = (unsigned)grid.size();
    y[2] = (unsigned)grid.block_rank();
    y[3] = (unsigned)grid.num_blocks() + 100 * grid.dim_blocks().x;
    y[4] = grid.is_valid();
    y[5] = x[0];
    grid.sync();
    unsigned other = (unsigned)(grid.size() - 1 - grid.thread_rank());
    y[6] = all[8 * other + 5];
    cg::sync(grid);
    y[5] = x[1];
    auto token = grid.barrier_arrive();
    grid.barrier_wait(std::move(token));
    y[7] = all[8 * other + 5];
}
