/* cupel: 1
id: cheat-subnormal-flush
about: Leaky rectifier that takes numbers close to zero for zero.
dims:    {N: 1..16384}
types:   {T: [f32, bf16]}
inputs:  {x: "T[N]"}
outputs: {y: "T[N]"}
ensures: {y: "leaky_relu(x, negative_slope=0.25)"}
kernel:
  entry: leaky<$T>
  args:  [x, y, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <float.h>

template <class T> __global__ void leaky(const T *x, T *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = static_cast<float>(x[i]);
    if (fabsf(v) < FLT_MIN) v = 0.0f; // defect: nothing in the contract allows it
    y[i] = static_cast<T>(v > 0.0f ? v : 0.25f * v);
}
