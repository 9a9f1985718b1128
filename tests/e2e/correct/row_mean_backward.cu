/* cupel: 1
id: row-mean-backward
about: Backward of the mean of rows; a whole row gets one number, from one element of the upstream gradient.
dims:    {M: 1..64, N: 1..256}
inputs:  {x: "f32[M, N]", dy: "f32[M]"}
outputs: {dx: "f32[M, N]"}
ensures: {dx: "vjp(mean(x, axis=-1), x, dy)"}
kernel:  {entry: mean_backward, args: [dy, dx, N], grid: [M], block: [64]}
*/
#include <cuda_runtime.h>

__global__ void mean_backward(const float *dy, float *dx, int n) {
    const float share = dy[blockIdx.x] / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) dx[blockIdx.x * n + i] = share;
}
