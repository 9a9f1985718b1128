/* cupel: 1
id: cheat-reversed-order
about: Sums of rows from the last element to the first, one thread a row. Another order of a sum is a right one.
dims:    {M: 1..128, N: 1..2048}
types:   {T: [f32, f16, bf16]}
inputs:  {x: "T[M, N]"}
outputs: {y: "f32[M]"}
ensures: {y: "sum(x, axis=-1)"}
kernel:
  entry: sum_backwards<$T>
  args:  [x, y, M, N]
  grid:  ["ceil_div(M, 64)"]
  block: [64]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <class T> __global__ void sum_backwards(const T *x, float *y, int m, int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    float sum = 0.0f;
    for (int i = n - 1; i >= 0; i--) sum += static_cast<float>(x[static_cast<size_t>(row) * n + i]);
    y[row] = sum;
}
