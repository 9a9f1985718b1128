/* cupel: 1
id: residual-bias
about: Residual and bias are added to each other before the activation comes to them.
dims:    {M: 1..64, N: 1..512}
types:   {T: [f32, f16]}
inputs:  {x: "T[M, N]", r: "T[M, N]", b: "T[N]"}
outputs: {y: "T[M, N]"}
ensures: {y: "relu(x + r + b)"}
kernel:
  entry: add<$T>
  args:  [x, r, b, y, M, N]
  grid:  ["ceil_div(M * N, 128)"]
  block: [128]
*/
#include <cuda_fp16.h>

template <class T> __global__ void add(const T *x, const T *r, const T *b, T *y, int m, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    const float late = float(r[i]) + float(b[i % n]), sum = float(x[i]) + late;
    y[i] = T(sum < 0 ? 0 : sum);
}
