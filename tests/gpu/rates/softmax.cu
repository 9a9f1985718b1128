/* cupel: 1
id: rate-softmax
about: Softmax over 4 rows of 256 elements.
dims:    {M: [4], N: [256]}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "softmax(x, axis=-1)"}
kernel:
  entry: softmax_rows<float>
  args:  [x, y, N]
  grid:  [M]
  block: [256]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

namespace {

constexpr int kWarp = 32;

template <class T> __device__ __forceinline__ float to_float(T v) { return static_cast<float>(v); }

__device__ __forceinline__ float warp_max(float v) {
#pragma unroll
    for (int offset = kWarp / 2; offset > 0; offset >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, offset));
    return v;
}

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
    for (int offset = kWarp / 2; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
    return v;
}

} // namespace

template <class T> __global__ void softmax_rows(const T *__restrict__ x, T *__restrict__ y, int N) {
    __shared__ float partial[kWarp];
    const T *row = x + static_cast<size_t>(blockIdx.x) * N;
    T *out = y + static_cast<size_t>(blockIdx.x) * N;
    const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;

    float m = -INFINITY;
    bool nan = false;
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        float v = to_float(row[i]);
        nan |= v != v;
        m = fmaxf(m, v);
    }
    m = warp_max(m);
    if (lane == 0) partial[warp] = m;
    nan = __syncthreads_or(nan);
    m = warp_max(lane < warps ? partial[lane] : -INFINITY);
    if (nan) m = NAN;
    __syncthreads();

    float s = 0.0f;
    for (int i = threadIdx.x; i < N; i += blockDim.x) s += __expf(to_float(row[i]) - m);
    s = warp_sum(s);
    if (lane == 0) partial[warp] = s;
    __syncthreads();
    s = warp_sum(lane < warps ? partial[lane] : 0.0f);

    const float scale = 1.0f / s;
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        out[i] = static_cast<T>(__expf(to_float(row[i]) - m) * scale);
}

template <class T> void launch_softmax(const T *x, T *y, int M, int N, cudaStream_t stream) {
    softmax_rows<T><<<M, 256, 0, stream>>>(x, y, N);
}

template void launch_softmax<float>(const float *, float *, int, int, cudaStream_t);
template void launch_softmax<__half>(const __half *, __half *, int, int, cudaStream_t);
