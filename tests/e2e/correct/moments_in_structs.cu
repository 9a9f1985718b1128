/* cupel: 1
id: moments-in-structs
about: Mean and variance by blocks; three floats at a time lie in shared memory and in the scratch buffer, at any multiple of 4.
dims:    {N: 1..4000}
let:     {G: "ceil_div(N, 128)"}
inputs:  {x: {type: f32, shape: [N], range: [-100, 100]}}
outputs: {y: "f32[2]"}
scratch: {p: "f32[G, 3]"}
ensures: {y: "stack([mean(x), var(x, correction=0)])"}
kernel:
  - {entry: of_block, args: [x, p, N], grid: [G], block: [128]}
  - {entry: of_all, args: [p, y, G], grid: [1], block: [32]}
*/
#include <cuda_runtime.h>

struct moments {
    float mean, m2, count;
};

__device__ moments merge(moments a, moments b) {
    const float count = a.count + b.count;
    if (b.count == 0.0f) return a;
    const float delta = b.mean - a.mean, share = b.count / count;
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share, count};
}

__device__ moments of_warp(moments mine) {
    for (int d = 16; d > 0; d /= 2)
        mine = merge(mine, {__shfl_down_sync(~0u, mine.mean, d), __shfl_down_sync(~0u, mine.m2, d),
                            __shfl_down_sync(~0u, mine.count, d)});
    return mine;
}

__global__ void of_block(const float *x, float *p, int n) {
    __shared__ moments of_warps[4];
    const int i = blockIdx.x * 128 + threadIdx.x;
    moments mine = {i < n ? x[i] : 0.0f, 0.0f, i < n ? 1.0f : 0.0f};
    mine = of_warp(mine);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int w = 1; w < 4; w++) mine = merge(mine, of_warps[w]);
    reinterpret_cast<moments *>(p)[blockIdx.x] = mine;
}

__global__ void of_all(const float *p, float *y, int blocks) {
    moments mine = {0.0f, 0.0f, 0.0f};
    for (int b = threadIdx.x; b < blocks; b += 32) mine = merge(mine, reinterpret_cast<const moments *>(p)[b]);
    mine = of_warp(mine);
    if (threadIdx.x == 0) y[0] = mine.mean, y[1] = mine.m2 / mine.count;
}
