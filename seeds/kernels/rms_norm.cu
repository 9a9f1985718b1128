/* cupel: 1
id: rms-norm
about: Root mean square norm with weight, one block a row.
dims:    {M: 1..1024, N: 1..8192}
types:   {T: [f32, bf16]}
params:  {eps: 1e-6}
inputs:  {x: "T[M, N]", weight: "f32[N]"}
outputs: {y: "T[M, N]"}
ensures: {y: "rms_norm(x, weight, eps)"}
kernel:
  entry: rms_norm_kernel<$T, 256>
  args:  [y, x, weight, eps, N]
  grid:  [M]
  block: [256]
*/
#include <cuda_bf16.h>
#include <cuda_runtime.h>

template <typename scalar_t, int THREADS>
__global__ void rms_norm_kernel(scalar_t *__restrict__ out, const scalar_t *__restrict__ input,
                                const float *__restrict__ weight, const float epsilon, const int hidden) {
    __shared__ float warp_sums[THREADS / 32];
    __shared__ float s_scale;
    const int64_t base = (int64_t)blockIdx.x * hidden;

    float variance = 0.0f;
    for (int i = threadIdx.x; i < hidden; i += THREADS) {
        const float v = (float)input[base + i];
        variance += v * v;
    }
#pragma unroll
    for (int mask = 16; mask; mask >>= 1) variance += __shfl_xor_sync(~0u, variance, mask);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = variance;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int w = 0; w < THREADS / 32; w++) total += warp_sums[w];
        s_scale = rsqrtf(total / hidden + epsilon);
    }
    __syncthreads();

    for (int i = threadIdx.x; i < hidden; i += THREADS)
        out[base + i] = (scalar_t)((float)input[base + i] * s_scale * weight[i]);
}
