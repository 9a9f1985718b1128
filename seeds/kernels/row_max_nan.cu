/* cupel: 1
id: row-max-nan
about: Maximum of each row by fmaxf, which loses a NaN.
dims:    {M: 1..1024, N: 1..8192}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M]"}
ensures: {y: "amax(x, axis=-1)"}
kernel:
  entry: row_max_fast
  args:  [x, y, M, N]
  grid:  ["ceil_div(M, 4)"]
  block: [32, 4]
*/
#include <cuda_runtime.h>
#include <float.h>

__global__ void row_max_fast(const float *x, float *y, int M, int N) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= M) return;
    float m = -INFINITY;
    for (int i = threadIdx.x; i < N; i += warpSize) m = fmaxf(m, x[(size_t)row * N + i]); // defect: fmaxf(NaN, a) is a
    for (int offset = 16; offset > 0; offset /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, offset));
    if (threadIdx.x == 0) y[row] = m;
}
