/* cupel: 1
id: column-sum-one-writer
about: Adds to its output by floating-point atomics, one thread to each address, so the order is always the same.
dims:    {M: 1..128, N: 1..128}
inputs:  {x: "f32[M, N]"}
outputs: {y: {type: f32, shape: [N], init: 0}}
ensures: {y: "sum(x, axis=0)"}
kernel:  {entry: column_sum, args: [x, y, M, N], grid: ["ceil_div(N, 32)"], block: [32]}
*/
#include <cuda_runtime.h>

__global__ void column_sum(const float *x, float *y, int m, int n) {
    const int column = blockIdx.x * 32 + threadIdx.x;
    if (column < n)
        for (int row = 0; row < m; row++) atomicAdd(&y[column], x[row * n + column]);
}
