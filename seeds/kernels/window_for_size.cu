/* Rows weighted by a ramp that is worked out once for each size and kept in device memory with the size that it is for. */
/* cupel: 1
id: window-for-size
dims:    {N: 1..8192}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "x * ((arange(N) + 1) / N)"}
kernel:
  entry: weigh
  args:  [x, y, N]
  grid:  [1]
  block: [128]
*/
#include <cuda_runtime.h>

__device__ float window[8192];
__device__ int window_size;

__global__ void weigh(const float *x, float *y, int n) {
    const bool ready = window_size == n;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (!ready) window[i] = (float)(i + 1) / n;
        y[i] = x[i] * window[i];
    }
    if (threadIdx.x == 0) window_size = n;
}
