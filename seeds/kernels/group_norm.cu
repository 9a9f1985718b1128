/* cupel: 1
id: group-norm
about: Group norm over [N, C, R], one warp a group, variance by a second pass, mean folded into the bias.
dims:    {N: 1..8, G: 1..8, P: 1..16, R: 1..256}
let:     {C: "G * P"}
inputs:  {x: "f32[N, C, R]", weight: "f32[C]", bias: "f32[C]"}
outputs: {y: "f32[N, C, R]"}
ensures: {y: "group_norm(x, G, weight, bias, 1e-5)"}
kernel:
  entry: group_norm
  args:  [x, weight, bias, y, N, G, P, R]
  grid:  ["ceil_div(N * G, 4)"]
  block: [32, 4]
*/
#include <cuda_runtime.h>

__device__ __forceinline__ float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
    return v;
}

__global__ void group_norm(const float *__restrict__ x, const float *__restrict__ weight,
                           const float *__restrict__ bias, float *__restrict__ y, int N, int G, int P, int R) {
    const int group = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (group >= N * G) return;
    const int count = P * R, channel = group % G * P;
    const float *in = x + (size_t)group * count;
    float *out = y + (size_t)group * count;

    float sum = 0.0f, squares = 0.0f;
    for (int i = lane; i < count; i += 32) sum += in[i];
    const float mean = warp_sum(sum) / count;
    for (int i = lane; i < count; i += 32) squares += (in[i] - mean) * (in[i] - mean);
    const float rstd = rsqrtf(warp_sum(squares) / count + 1e-5f);

    for (int i = lane; i < count; i += 32) {
        const int c = channel + i / R;
        const float a = rstd * weight[c], b = bias[c] - mean * a;
        out[i] = in[i] * a + b;
    }
}
