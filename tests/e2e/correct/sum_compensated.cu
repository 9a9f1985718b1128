/* cupel: 1
id: sum-compensated
about: Sums of rows with Kahan's compensation, whose correction looks like zero to a reader.
dims:    {M: 1..32, N: 1..1024}
inputs:  {x: {type: f32, shape: [M, N], finite: true}}
outputs: {y: "f32[M]"}
ensures: {y: "sum(x, axis=-1)"}
kernel:  {entry: sum_rows, args: [x, y, M, N], grid: [1], block: [32]}
*/
#include <cuda_runtime.h>

__global__ void sum_rows(const float *x, float *y, int m, int n) {
    const int row = threadIdx.x;
    if (row >= m) return;
    float sum = 0.0f, rest = 0.0f;
    for (int i = 0; i < n; i++) {
        const float term = x[static_cast<size_t>(row) * n + i] - rest;
        const float next = sum + term;
        rest = (next - sum) - term;
        sum = next;
    }
    y[row] = sum;
}
