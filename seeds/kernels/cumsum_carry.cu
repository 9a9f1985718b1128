/* cupel: 1
id: cumsum-carry
about: Running sum along each row, one block a row, 128 elements at a time with the carry in shared memory.
dims:    {M: 1..256, N: 1..4096}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "cumsum(x, axis=-1)"}
kernel:
  entry: cumsum_tiles
  args:  [x, y, N]
  grid:  [M]
  block: [128]
*/
#include <cuda_runtime.h>

constexpr int kTile = 128;

__global__ void cumsum_tiles(const float *__restrict__ x, float *__restrict__ y, int N) {
    __shared__ float warp_totals[kTile / 32];
    __shared__ float carry;
    x += (size_t)blockIdx.x * N;
    y += (size_t)blockIdx.x * N;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) carry = 0.0f;

    for (int start = 0; start < N; start += kTile) {
        const int i = start + threadIdx.x;
        float sum = i < N ? x[i] : 0.0f;
        for (int step = 1; step < 32; step *= 2) {
            const float before = __shfl_up_sync(0xffffffffu, sum, step);
            if (lane >= step) sum += before;
        }
        if (lane == 31) warp_totals[warp] = sum;
        __syncthreads();
        for (int w = 0; w < warp; w++) sum += warp_totals[w];
        sum += carry;
        if (i < N) y[i] = sum;
        __syncthreads();
        if (threadIdx.x == kTile - 1) carry = sum;
        __syncthreads();
    }
}
