/* cupel: 1
id: norm-late-largest
about: Lengths of rows, scaled by the largest element so far; what was summed before is not scaled anew.
dims:    {M: 1..64, N: 1..512}
inputs:  {x: {type: f32, shape: [M, N], range: [-1000, 1000]}}
outputs: {y: "f32[M]"}
ensures: {y: "norm(x, axis=-1)"}
kernel:
  entry: scaled_norm
  args:  [x, y, M, N]
  grid:  ["ceil_div(M, 64)"]
  block: [64]
*/
#include <cuda_runtime.h>
#include <math.h>

__global__ void scaled_norm(const float *x, float *y, int m, int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    float scale = 0.0f, squares = 0.0f;
    for (int i = 0; i < n; i++) {
        const float v = fabsf(x[row * n + i]);
        if (v > scale) {
            squares += 1.0f; // defect: the squares so far belong to the old scale
            scale = v;
        } else if (scale > 0.0f) {
            squares += (v / scale) * (v / scale);
        }
    }
    y[row] = scale * sqrtf(squares);
}
