/* cupel: 1
id: row-softmax-no-max
about: Softmax over rows, one warp a row; the row's maximum is not subtracted before exp.
dims:    {M: 1..1024, N: 1..2048}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "softmax(x, axis=-1)"}
kernel:
  entry: softmax_warp
  args:  [x, y, M, N]
  grid:  ["ceil_div(M, 4)"]
  block: [32, 4]
*/
#include <cuda_runtime.h>

__global__ void softmax_warp(const float *__restrict__ x, float *__restrict__ y, int M, int N) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= M) return;
    x += (size_t)row * N;
    y += (size_t)row * N;
    float s = 0.0f;
    for (int i = threadIdx.x; i < N; i += 32) s += __expf(x[i]); // defect: exp overflows from 89 on
    for (int offset = 16; offset; offset /= 2) s += __shfl_down_sync(0xffffffff, s, offset);
    s = __shfl_sync(0xffffffff, s, 0);
    for (int i = threadIdx.x; i < N; i += 32) y[i] = __fdividef(__expf(x[i]), s);
}
