/* cupel: 1
id: row-norm-half-squares
about: Lengths of rows, one warp a row; each square is rounded to the element type.
dims:    {M: 1..64, N: 1..512}
types:   {T: [f32, f16]}
inputs:  {x: {type: T, shape: [M, N], range: [-1000, 1000]}}
outputs: {y: "f32[M]"}
ensures: {y: "norm(x, axis=-1)"}
kernel:
  entry: row_norm<$T>
  args:  [x, y, M, N]
  grid:  ["ceil_div(M, 4)"]
  block: [32, 4]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <class T> __global__ void row_norm(const T *x, float *y, int m, int n) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= m) return;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) {
        const T v = x[static_cast<size_t>(row) * n + i];
        sum += static_cast<float>(v * v); // defect: 256 squared is infinite in half
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) y[row] = sqrtf(sum);
}
