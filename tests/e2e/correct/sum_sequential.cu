/* cupel: 1
id: sum-sequential
about: Sums of rows by one running float each, from the first element to the last; a tree gives other last bits.
dims:    {M: 1..32, N: 1..2048}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M]"}
ensures: {y: "sum(x, axis=-1)"}
kernel:  {entry: sum_rows, args: [x, y, M, N], grid: [1], block: [32]}
*/
#include <cuda_runtime.h>

__global__ void sum_rows(const float *x, float *y, int m, int n) {
    const int row = threadIdx.x;
    if (row >= m) return;
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += x[static_cast<size_t>(row) * n + i];
    y[row] = sum;
}
