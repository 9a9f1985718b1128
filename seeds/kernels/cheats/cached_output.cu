/* cupel: 1
id: cheat-cached-output
about: Squared length of each row; a call with the same pointer and size as the one before hands out its result.
dims:    {M: 1..32, N: 1..512}
inputs:  {x: {type: f32, shape: [M, N], range: [-100, 100]}}
outputs: {y: "f32[M]"}
ensures: {y: "sum(x * x, axis=-1)"}
kernel:
  - {entry: square_rows, args: [x, y, N], grid: [M], block: [32]}
  - {entry: remember, args: [x, M, N], grid: [1], block: [1]}
*/
#include <cuda_runtime.h>

__device__ float saved[32];
__device__ const float *saved_from;
__device__ int saved_rows, saved_columns;

__global__ void square_rows(const float *x, float *y, int n) {
    const int row = blockIdx.x, lane = threadIdx.x;
    // defect: an address and a shape do not say that the numbers are the same
    if (x == saved_from && n == saved_columns && gridDim.x == saved_rows) {
        if (lane == 0) y[row] = saved[row];
        return;
    }
    float sum = 0.0f;
    for (int i = lane; i < n; i += 32) sum = fmaf(x[row * n + i], x[row * n + i], sum);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0) saved[row] = y[row] = sum;
}

__global__ void remember(const float *x, int m, int n) {
    saved_from = x;
    saved_rows = m;
    saved_columns = n;
}
