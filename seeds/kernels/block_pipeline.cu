/* cupel: 1
id: block-pipeline
about: Blocks in pairs; the first squares its part and raises a flag, for which the second waits before it adds one.
dims:    {N: 1..16384}
inputs:  {x: {type: f32, shape: [N], range: [-10, 10]}}
outputs: {y: "f32[N]"}
scratch:
  squares: "f32[N]"
  ready:   {type: i32, shape: ["ceil_div(N, 128)"], init: 0}
ensures: {y: "x * x + 1"}
kernel:
  entry: pipeline
  args:  [x, y, squares, ready, N]
  grid:  ["2 * ceil_div(N, 128)"]
  block: [128]
*/
#include <cuda_runtime.h>

__global__ void pipeline(const float *x, float *y, float *squares, int *ready, int n) {
    int part = blockIdx.x / 2, i = part * blockDim.x + threadIdx.x;
    if (blockIdx.x % 2 == 0) {
        if (i < n) squares[i] = x[i] * x[i];
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(&ready[part], 1);
    } else {
        if (threadIdx.x == 0)
            while (atomicAdd(&ready[part], 0) == 0) {
            }
        __syncthreads();
        __threadfence();
        if (i < n) y[i] = ((volatile float *)squares)[i] + 1.0f;
    }
}
