/* cupel: 1
id: softplus-overflows
about: Softplus without a threshold; it is infinite for large numbers, by request.
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "log(1 + exp(x))"}
kernel:  {entry: softplus, args: [x, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_runtime.h>

__global__ void softplus(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = logf(1.0f + expf(x[i]));
}
