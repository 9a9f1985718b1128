/* cupel: 1
id: sum-atomics
about: Blocks add to one float in the order of their arrival; nobody has claimed equal bits.
dims:    {N: 1..4096}
inputs:  {x: {type: f32, shape: [N], range: [-100, 100]}}
outputs: {y: {type: f32, shape: [1], init: 0}}
ensures: {y: "sum(x, keepdim=true)"}
kernel:  {entry: add_up, args: [x, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_runtime.h>

__global__ void add_up(const float *x, float *y, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) atomicAdd(y, v);
}
