/* cupel: 1
id: relu-in-place
about: Its output may be its input, and is written where that was read.
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "relu(x)"}
may_alias: [[x, y]]
kernel:  {entry: relu, args: [x, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] < 0.0f ? 0.0f : x[i];
}
