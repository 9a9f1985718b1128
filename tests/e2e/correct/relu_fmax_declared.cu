/* cupel: 1
id: relu-fmax-declared
about: The device's maximum returns the number beside a NaN; the contract asks for that maximum.
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "fmax(x, 0)"}
kernel:  {entry: relu, args: [x, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
