/* cupel: 1
id: cheat-nan-on-extremes
about: GELU by its tanh form, the tanh from one exponential that overflows for activations beyond eleven.
dims:    {N: 1..16384}
inputs:  {x: {type: f32, shape: [N], range: [-1000, 1000]}}
outputs: {y: "f32[N]"}
ensures: {y: "gelu(x, approximate='tanh')"}
kernel:
  entry: gelu_tanh
  args:  [x, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
*/
#include <cuda_runtime.h>

__global__ void gelu_tanh(const float *__restrict__ x, float *__restrict__ y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float v = x[i];
        const float e = expf(2.0f * 0.7978845608f * (v + 0.044715f * v * v * v));
        y[i] = 0.5f * v * (1.0f + (e - 1.0f) / (e + 1.0f)); // defect: inf / inf
    }
}
