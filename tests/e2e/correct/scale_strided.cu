/* cupel: 1
id: scale-strided
about: Scales a matrix of any strides, negative and zero ones among them, through pointers of any alignment.
dims:    {M: 1..64, N: 1..64}
params:  {alpha: {range: [-2, 2]}}
layouts: any
inputs:  {x: {type: f32, shape: [M, N], finite: true}}
outputs: {y: "f32[M, N]"}
ensures: {y: "alpha * x"}
kernel:
  entry: scale
  args:  [x, "stride(x, 0)", "stride(x, 1)", y, "stride(y, 0)", "stride(y, 1)", alpha, M, N]
  grid:  ["ceil_div(N, 16)", "ceil_div(M, 16)"]
  block: [16, 16]
*/
#include <cuda_runtime.h>

__global__ void scale(const float *x, long long x0, long long x1, float *y, long long y0, long long y1, float alpha, int m,
                      int n) {
    const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < m && column < n) y[row * y0 + column * y1] = alpha * x[row * x0 + column * x1];
}
