/* cupel: 1
id: gelu-half-cube
about: Tanh-GELU whose cubic term is formed in the element type.
dims:    {N: 1..16384}
types:   {T: [f32, f16]}
inputs:  {x: {type: T, shape: [N], range: [-200, 200]}}
outputs: {y: "T[N]"}
ensures: {y: "gelu(x, approximate='tanh')"}
kernel:
  entry: gelu<$T>
  args:  [x, y, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <class T> __global__ void gelu(const T *__restrict__ x, T *__restrict__ y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const T cube = x[i] * x[i] * x[i]; // defect: half has no number beyond 65504, which is 40.3 cubed, and 11 bits
    const float v = static_cast<float>(x[i]), inner = 0.7978845608f * (v + 0.044715f * static_cast<float>(cube));
    y[i] = static_cast<T>(0.5f * v * (1.0f + tanhf(inner)));
}
