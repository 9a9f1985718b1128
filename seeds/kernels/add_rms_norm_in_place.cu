/* cupel: 1
id: add-rms-norm-in-place
about: Root mean square norm of a sum, one block a row; the sum is kept in an
  input.
dims:    {M: 1..512, N: 1..2048}
params:  {eps: 1e-6}
inputs:  {x: "f32[M, N]", residual: "f32[M, N]", weight: "f32[N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "rms_norm(x + residual, weight, eps)"}
kernel:
  entry: add_rms_norm
  args:  [x, residual, weight, y, N, eps]
  grid:  [M]
  block: [128]
*/
#include <cuda_runtime.h>

__global__ void add_rms_norm(const float *x, float *residual, const float *weight, float *y, int N, float eps) {
    __shared__ float warp_sums[4];
    const size_t row = (size_t)blockIdx.x * N;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        float v = x[row + i] + residual[row + i];
        residual[row + i] = v; // defect: the contract lists residual as an input, not as an output
        squares += v * v;
    }
    for (int offset = 16; offset > 0; offset >>= 1) squares += __shfl_xor_sync(0xffffffffu, squares, offset);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = squares;
    __syncthreads();
    squares = warp_sums[0] + warp_sums[1] + warp_sums[2] + warp_sums[3];
    const float scale = rsqrtf(squares / N + eps);
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        y[row + i] = residual[row + i] * scale * weight[i];
}
