/* cupel: 1
id: grid-softmax-no-sync
about: As grid_softmax.cu, but the blocks do not meet before they add up what all have left.
dims:    {N: 1..16384}
inputs:  {x: {type: f32, shape: [N], range: [-60, 60]}}
outputs: {y: "f32[N]"}
scratch: {parts: "f32[16, 2]"}
ensures: {y: "softmax(x, axis=0)"}
kernel:
  entry: softmax
  args:  [x, y, parts, N]
  grid:  ["min(ceil_div(N, 128), 16)"]
  block: [128]
  cooperative: true
*/
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

#define THREADS 128

struct part {
    float top, sum;
};

// What two parts of a vector are together: their largest, and the sum of exponentials relative to it.
struct joined {
    __device__ part operator()(part a, part b) const {
        float top = fmaxf(a.top, b.top);
        part both = {top, 0.0f};
        if (a.sum > 0.0f) both.sum += a.sum * expf(a.top - top);
        if (b.sum > 0.0f) both.sum += b.sum * expf(b.top - top);
        return both;
    }
};

__device__ part of_block(cg::thread_block block, part own, part *shared) {
    auto warp = cg::tiled_partition<32>(block);
    own = cg::reduce(warp, own, joined());
    if (warp.thread_rank() == 0) shared[warp.meta_group_rank()] = own;
    block.sync();
    part all = shared[0];
    for (unsigned w = 1; w < warp.meta_group_size(); w++) all = joined()(all, shared[w]);
    block.sync();
    return all;
}

__global__ void softmax(const float *x, float *y, float *parts, int n) {
    __shared__ part shared[THREADS / 32];
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    part own = {-INFINITY, 0.0f};
    for (int i = grid.thread_rank(); i < n; i += grid.size()) own.top = fmaxf(own.top, x[i]);
    for (int i = grid.thread_rank(); i < n; i += grid.size()) own.sum += expf(x[i] - own.top);
    own = of_block(block, own, shared);
    if (block.thread_rank() == 0) {
        parts[2 * blockIdx.x] = own.top;
        parts[2 * blockIdx.x + 1] = own.sum;
    }
    block.sync();
    part all = {parts[0], parts[1]};
    for (unsigned b = 1; b < gridDim.x; b++) all = joined()(all, part{parts[2 * b], parts[2 * b + 1]});
    for (int i = grid.thread_rank(); i < n; i += grid.size()) y[i] = expf(x[i] - all.top) / all.sum;
}

void launch(const float *x, float *y, float *parts, int n) {
    void *args[] = {&x, &y, &parts, &n};
    int blocks = (n + THREADS - 1) / THREADS;
    cudaLaunchCooperativeKernel((void *)softmax, dim3(blocks < 16 ? blocks : 16), dim3(THREADS), args, 0, 0);
}
