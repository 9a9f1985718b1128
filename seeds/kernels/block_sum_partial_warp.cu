/* cupel: 1
id: block-sum-partial-warp
about: Sum of each row by warp shuffles; the warps are counted by rounding down, so a partial warp is lost.
dims:    {M: 1..256, N: 1..16384, B: 32..1024}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M]"}
ensures: {y: "sum(x, axis=-1)"}
kernel:
  entry: row_sum_warps
  args:  [x, y, N]
  grid:  [M]
  block: [B]
*/
#include <cuda_runtime.h>

__inline__ __device__ float warp_reduce(float v, unsigned mask) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        float other = __shfl_down_sync(mask, v, offset);
        if ((threadIdx.x & 31) + offset < min(32u, blockDim.x - (threadIdx.x & ~31u))) v += other;
    }
    return v;
}

__global__ void row_sum_warps(const float *x, float *y, int N) {
    __shared__ float partial[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float *row = x + (size_t)blockIdx.x * N;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += blockDim.x) sum += row[i];
    sum = warp_reduce(sum, __activemask());
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        int warps = blockDim.x / 32; // defect: must be rounded up
        sum = lane < warps ? partial[lane] : 0.0f;
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (lane == 0) y[blockIdx.x] = sum;
    }
}
