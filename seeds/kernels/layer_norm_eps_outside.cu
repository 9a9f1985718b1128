/* cupel: 1
id: layer-norm-eps-outside
about: Layer norm with weight and bias, one warp a row; eps is added to the deviation instead of the variance.
dims:    {M: 1..1024, N: 1..4096}
types:   {T: [f32, f16]}
params:  {eps: 1e-5}
inputs:  {x: "T[M, N]", weight: "T[N]", bias: "T[N]"}
outputs: {y: "T[M, N]"}
ensures: {y: "layer_norm(x, weight, bias, eps)"}
kernel:
  entry: layer_norm_forward<$T>
  args:  [x, weight, bias, y, M, N, eps]
  grid:  ["ceil_div(M * 32, 128)"]
  block: [128]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ inline float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xFFFFFFFF, v, offset);
    return v;
}

template <typename T>
__global__ void layer_norm_forward(const T *__restrict__ x, const T *__restrict__ weight, const T *__restrict__ bias,
                                   T *__restrict__ y, int M, int N, float eps) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int lane = threadIdx.x % warpSize;
    if (row >= M) return;
    const T *in = x + (size_t)row * N;
    T *out = y + (size_t)row * N;

    float sum = 0.0f;
    for (int i = lane; i < N; i += warpSize) sum += (float)in[i];
    float mean = warp_sum(sum) / N;

    float squares = 0.0f;
    for (int i = lane; i < N; i += warpSize) {
        float d = (float)in[i] - mean;
        squares += d * d;
    }
    float scale = 1.0f / (sqrtf(warp_sum(squares) / N) + eps); // defect: eps belongs inside the root

    for (int i = lane; i < N; i += warpSize) {
        float normalised = ((float)in[i] - mean) * scale;
        out[i] = (T)(normalised * (float)weight[i] + (float)bias[i]);
    }
}
