/* cupel: 1
id: warp-sum-no-sync
about: Sum of each row, one warp a row, the last steps through shared memory, as if a
  warp always ran abreast.
dims:    {M: 1..512, N: 1..4096}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M]"}
ensures: {y: "sum(x, axis=-1)"}
kernel:
  entry: sum_rows
  args:  [x, y, M, N]
  grid:  ["ceil_div(M, 4)"]
  block: [128]
*/
#include <cuda_runtime.h>

// Adds up 32 values in shared memory; the result lies in the first.
__device__ void warp_reduce(volatile float *values, int lane) {
    for (int half = 16; half > 0; half /= 2) {
        if (lane < half) values[lane] += values[lane + half];
    }
}

__global__ void sum_rows(const float *x, float *y, int M, int N) {
    __shared__ float partial[4][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.x * 4 + warp;
    if (row >= M) return;
    float sum = 0.0f;
    for (int i = lane; i < N; i += 32) sum += x[(size_t)row * N + i];
    partial[warp][lane] = sum;
    // defect: and so in warp_reduce, which relies on lanes that step together
    warp_reduce(partial[warp], lane);
    if (lane == 0) y[row] = partial[warp][0];
}
