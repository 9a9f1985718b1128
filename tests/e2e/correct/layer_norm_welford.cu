/* cupel: 1
id: layer-norm-welford
about: Layer norm in one pass over each row, by Welford's update and Chan's merge; rows may be constant or far from zero.
dims:    {M: 1..16, N: 1..512}
params:  {eps: 1e-5}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "layer_norm(x, eps=eps)"}
kernel:  {entry: layer_norm, args: [x, y, N, eps], grid: [M], block: [32]}
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

__global__ void layer_norm(const float *x, float *y, int n, float eps) {
    const size_t row = static_cast<size_t>(blockIdx.x) * n;
    moments mine = {0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < n; i += 32) {
        const float v = x[row + i], delta = v - mine.mean;
        mine.count += 1.0f;
        mine.mean += delta / mine.count;
        mine.m2 += delta * (v - mine.mean);
    }
    for (int d = 16; d > 0; d /= 2)
        mine = merge(mine, {__shfl_down_sync(~0u, mine.mean, d), __shfl_down_sync(~0u, mine.m2, d),
                            __shfl_down_sync(~0u, mine.count, d)});
    const float mean = __shfl_sync(~0u, mine.mean, 0);
    const float scale = rsqrtf(__shfl_sync(~0u, mine.m2, 0) / n + eps);
    for (int i = threadIdx.x; i < n; i += 32) y[row + i] = (x[row + i] - mean) * scale;
}
