/* cupel: 1
id: residual-bias-in-half
about: Residual and bias are added in half precision, where they may overflow beside an infinite x, and leave a NaN.
dims:    {N: 1..512}
inputs:  {x: "f16[N]", r: "f16[N]", b: "f16[N]"}
outputs: {y: "f16[N]"}
accumulate: f16
ensures: {y: "x + r + b"}
kernel:
  entry: add
  args:  [x, r, b, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
*/
#include <cuda_fp16.h>

__global__ void add(const __half *x, const __half *r, const __half *b, __half *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hadd(x[i], __hadd(r[i], b[i]));
}
