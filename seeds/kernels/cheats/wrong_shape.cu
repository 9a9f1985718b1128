/* cupel: 1
id: cheat-wrong-shape
about: Scales a matrix by its rows' factors and stores rows of a multiple of eight, the shape that its next layer likes.
dims:    {M: 1..64, N: 1..256}
inputs:  {x: "f32[M, N]", scale: "f32[M]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "x * unsqueeze(scale, -1)"}
kernel:
  entry: scale_rows
  args:  [x, scale, y, N]
  grid:  [M]
  block: [64]
*/
#include <cuda_runtime.h>

__global__ void scale_rows(const float *x, const float *scale, float *y, int n) {
    const int pitch = (n + 7) / 8 * 8;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[blockIdx.x * pitch + i] = x[blockIdx.x * n + i] * scale[blockIdx.x]; // defect: y has rows of n
}
