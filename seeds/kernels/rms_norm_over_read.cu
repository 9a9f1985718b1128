/* cupel: 1
id: rms-norm-over-read
about: Root mean square norm, one warp a row; the loop reads whole groups of 32 and masks the excess too late.
dims:    {M: 1..1024, N: 1..4096}
params:  {eps: 1e-6}
inputs:  {x: "f32[M, N]", weight: "f32[N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "rms_norm(x, weight, eps)"}
kernel:
  entry: rms_norm_warp
  args:  [x, weight, y, M, N, eps]
  grid:  ["ceil_div(M, 8)"]
  block: [32, 8]
*/
#include <cuda_runtime.h>

__global__ void rms_norm_warp(const float *x, const float *weight, float *y, int M, int N, float eps) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= M) return;
    const float *in = x + (size_t)row * N;
    float *out = y + (size_t)row * N;
    float total = 0.0f;
    for (int base = 0; base < N; base += 32) {
        int i = base + threadIdx.x;
        float v = in[i]; // defect: behind the last row this is not the kernel's memory
        total += i < N ? v * v : 0.0f;
    }
    for (int offset = 16; offset > 0; offset >>= 1) total += __shfl_xor_sync(0xffffffff, total, offset);
    float scale = rsqrtf(total / (float)N + eps);
    for (int i = threadIdx.x; i < N; i += 32) out[i] = in[i] * scale * weight[i];
}
