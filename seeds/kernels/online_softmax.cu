/* cupel: 1
id: online-softmax
about: Softmax over rows in one pass for maximum and sum, one warp a row, 32 elements at a time.
dims:    {M: 1..512, N: 1..4096}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "softmax(x, axis=-1)"}
kernel:
  entry: online_softmax
  args:  [x, y, M, N]
  grid:  ["ceil_div(M, 4)"]
  block: [32, 4]
*/
#include <cuda_runtime.h>
#include <math.h>

__device__ __forceinline__ float warp_max(float v) {
    for (int offset = 16; offset > 0; offset >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, offset));
    return v;
}

__device__ __forceinline__ float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
    return v;
}

// exp(v - m) where m is no smaller than v; -inf adds nothing even when nothing else was seen yet.
__device__ __forceinline__ float weight(float v, float m) { return v == -INFINITY ? 0.0f : __expf(v - m); }

__global__ void online_softmax(const float *__restrict__ x, float *__restrict__ y, int M, int N) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= M) return;
    const float *in = x + (size_t)row * N;
    float *out = y + (size_t)row * N;

    float m = -INFINITY, sum = 0.0f;
    for (int start = 0; start < N; start += 32) {
        const int i = start + threadIdx.x;
        const float v = i < N ? in[i] : -INFINITY;
        const float larger = fmaxf(m, warp_max(v));
        sum = sum * weight(m, larger) + warp_sum(weight(v, larger));
        m = larger;
    }
    for (int i = threadIdx.x; i < N; i += 32) out[i] = __expf(in[i] - m) / sum;
}
