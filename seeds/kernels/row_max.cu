/* cupel: 1
id: row-max
about: Maximum of each row; a NaN anywhere makes the row's maximum NaN.
dims:    {M: 1..1024, N: 1..8192}
types:   {T: [f32, f16]}
inputs:  {x: "T[M, N]"}
outputs: {y: "T[M]"}
ensures: {y: "amax(x, axis=-1)"}
kernel:
  entry: row_max<$T>
  args:  [x, y, M, N]
  grid:  ["ceil_div(M, 4)"]
  block: [32, 4]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math_constants.h>

__device__ __forceinline__ float max_nan(float a, float b) {
    if (a != a || b != b) return CUDART_NAN_F;
    return a > b ? a : b;
}

template <typename T> __global__ void row_max(const T *x, T *y, int M, int N) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= M) return;
    float m = -CUDART_INF_F;
    for (int i = threadIdx.x; i < N; i += warpSize) m = max_nan(m, (float)x[(size_t)row * N + i]);
    for (int offset = 16; offset > 0; offset /= 2) m = max_nan(m, __shfl_xor_sync(0xffffffffu, m, offset));
    if (threadIdx.x == 0) y[row] = (T)m;
}
