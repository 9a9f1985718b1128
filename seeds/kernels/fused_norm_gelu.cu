/* Residual sum, layer norm and GELU in one kernel. Its claim is the composed expression: fused equals unfused. */
/* cupel: 1
id: fused-norm-gelu
dims:    {M: 1..32, N: 1..1024}
params:  {eps: 1e-5}
inputs:  {x: "f32[M, N]", residual: "f32[M, N]", weight: "f32[N]", bias: "f32[N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "gelu(layer_norm(x + residual, weight, bias, eps=eps))"}
kernel:
  entry: fused_norm_gelu
  args:  [x, residual, weight, bias, y, N, eps]
  grid:  [M]
  block: [64]
*/
#include <cuda_runtime.h>

__device__ float block_sum(float v, float *part) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    return part[0] + part[1];
}

__global__ void fused_norm_gelu(const float *x, const float *residual, const float *weight, const float *bias, float *y,
                                int n, float eps) {
    __shared__ float part[2];
    const size_t row = (size_t)blockIdx.x * n;
    float sum = 0;
    for (int c = threadIdx.x; c < n; c += blockDim.x) sum += x[row + c] + residual[row + c];
    const float mean = block_sum(sum, part) / n;
    float squares = 0;
    for (int c = threadIdx.x; c < n; c += blockDim.x) {
        const float d = x[row + c] + residual[row + c] - mean;
        squares += d * d;
    }
    const float scale = 1.0f / sqrtf(block_sum(squares, part) / n + eps);
    for (int c = threadIdx.x; c < n; c += blockDim.x) {
        const float z = (x[row + c] + residual[row + c] - mean) * scale * weight[c] + bias[c];
        y[row + c] = 0.5f * z * (1.0f + erff(z * 0.70710678f));
    }
}
