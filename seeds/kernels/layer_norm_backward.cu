/* cupel: 1
id: layer-norm-backward
about: Gradient of layer norm by its input, one warp a row.
dims:    {M: 1..512, N: 1..2048}
types:   {T: [f32, f16]}
params:  {eps: 1e-5}
inputs:  {x: "T[M, N]", weight: "T[N]", dy: "T[M, N]"}
outputs: {dx: "T[M, N]"}
ensures: {dx: "vjp(layer_norm(x, weight, eps=eps), x, dy)"}
kernel:
  entry: layer_norm_backward<$T>
  args:  [x, weight, dy, dx, M, N, eps]
  grid:  ["ceil_div(M * 32, 128)"]
  block: [128]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ inline float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xFFFFFFFF, v, offset);
    return v;
}

/* One warp a row: statistics by two passes, then both sums of the upstream gradient in a third. */
template <typename T>
__global__ void layer_norm_backward(const T *__restrict__ x, const T *__restrict__ weight, const T *__restrict__ dy,
                                    T *__restrict__ dx, int M, int N, float eps) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
    if (row >= M) return;
    const T *in = x + (size_t)row * N, *up = dy + (size_t)row * N;
    T *out = dx + (size_t)row * N;

    float sum = 0.0f;
    for (int i = lane; i < N; i += warpSize) sum += (float)in[i];
    const float mean = warp_sum(sum) / N;
    float squares = 0.0f;
    for (int i = lane; i < N; i += warpSize) {
        const float d = (float)in[i] - mean;
        squares += d * d;
    }
    const float rstd = rsqrtf(warp_sum(squares) / N + eps);

    float plain = 0.0f, along = 0.0f;
    for (int i = lane; i < N; i += warpSize) {
        const float g = (float)up[i] * (float)weight[i];
        plain += g;
        along += g * (((float)in[i] - mean) * rstd);
    }
    plain = warp_sum(plain) / N;
    along = warp_sum(along) / N;

    for (int i = lane; i < N; i += warpSize) {
        const float g = (float)up[i] * (float)weight[i];
        const float normalised = ((float)in[i] - mean) * rstd;
        out[i] = (T)(rstd * (g - plain - normalised * along));
    }
}
