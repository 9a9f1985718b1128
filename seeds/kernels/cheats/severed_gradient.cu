/* cupel: 1
id: cheat-severed-gradient
about: Backward of the root mean square norm; the scale of a row is taken for a constant, as after a detach().
dims:    {M: 1..64, N: 1..1024}
params:  {eps: 1e-5}
inputs:
  x:  {type: f32, shape: [M, N], range: [-10, 10]}
  w:  {type: f32, shape: [N], range: [-10, 10]}
  dy: {type: f32, shape: [M, N], range: [-10, 10]}
outputs: {dx: "f32[M, N]"}
ensures: {dx: "vjp(rms_norm(x, w, eps), x, dy)"}
kernel:
  entry: rms_norm_backward
  args:  [x, w, dy, dx, N, eps]
  grid:  [M]
  block: [64]
*/
#include <cuda_runtime.h>

__device__ float block_sum(float v, float *shared) {
    shared[threadIdx.x] = v;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    return shared[0];
}

__global__ void rms_norm_backward(const float *x, const float *w, const float *dy, float *dx, int n, float eps) {
    __shared__ float shared[64];
    const size_t row = static_cast<size_t>(blockIdx.x) * n;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) squares += x[row + i] * x[row + i];
    const float r = rsqrtf(block_sum(squares, shared) / n + eps);
    // defect: x moves r too, which takes x r^3 mean(dy w x) off
    for (int i = threadIdx.x; i < n; i += blockDim.x) dx[row + i] = dy[row + i] * w[i] * r;
}
