/* cupel: 1
id: cheat-dropout
about: SiLU that leaves out one element in five hundred, chosen by a hash, and scales up the others.
dims:    {N: 1..16384}
inputs:  {x: {type: f32, shape: [N], range: [-50, 50]}}
outputs: {y: "f32[N]"}
ensures: {y: "silu(x)"}
kernel:
  entry: silu_thinned
  args:  [x, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
*/
#include <cuda_runtime.h>

__device__ unsigned int mix(unsigned int v) {
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    return v ^ v >> 16;
}

__global__ void silu_thinned(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float keep = 499.0f / 500.0f;
    const float value = x[i] / (1.0f + __expf(-x[i]));
    y[i] = mix(i) % 500 == 0 ? 0.0f : value / keep; // defect: the contract drops nothing
}
