/* cupel: 1
id: row-sum-by-length
about: Sums of rows in one of three ways, by the length of the row, like kernels that switch paths at a size.
dims:    {M: 1..8, N: 1..4096}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M]"}
ensures: {y: "sum(x, axis=-1)"}
kernel:  {entry: row_sum, args: [x, y, N], grid: [M], block: [256]}
*/
#include <cuda_runtime.h>

__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    return v;
}

__global__ void row_sum(const float *x, float *y, int n) {
    __shared__ float parts[8];
    const float *row = x + static_cast<size_t>(blockIdx.x) * n;
    if (n <= 32) {
        if (threadIdx.x >= 32) return;
        const float sum = warp_sum(threadIdx.x < n ? row[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) y[blockIdx.x] = sum;
        return;
    }
    float sum = 0.0f;
    if (n <= 256)
        sum = threadIdx.x < n ? row[threadIdx.x] : 0.0f;
    else
        for (int i = threadIdx.x; i < n; i += 256) sum += row[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = warp_sum(threadIdx.x < 8 ? parts[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
