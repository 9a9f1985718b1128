/* cupel: 1
id: mean-stops-early
about: Means of rows; a row is left as soon as an element no longer changes its sum.
dims:    {M: 1..64, N: 1..512}
inputs:  {x: {type: f32, shape: [M, N], range: [-1000, 1000]}}
outputs: {y: "f32[M]"}
ensures: {y: "mean(x, axis=-1)"}
kernel:
  entry: mean_rows
  args:  [x, y, M, N]
  grid:  ["ceil_div(M, 32)"]
  block: [32]
*/
#include <cuda_runtime.h>

__global__ void mean_rows(const float *x, float *y, int m, int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    float sum = x[row * n];
    for (int i = 1; i < n; i++) {
        const float next = sum + x[row * n + i];
        if (next == sum && sum != 0.0f) break; // defect: later elements may be larger
        sum = next;
    }
    y[row] = sum / n;
}
