/* Rows weighted by a ramp that is worked out once for each size. It is remembered for which sizes that was done, but all
 * share one buffer: a size that comes again after another one finds the other one's ramp. */
/* cupel: 1
id: window-stale
dims:    {N: 1..1024}
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

__device__ float window[1024];
__device__ unsigned char is_ready[1025];

__global__ void weigh(const float *x, float *y, int n) {
    const bool ready = is_ready[n];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (!ready) window[i] = (float)(i + 1) / n;
        y[i] = x[i] * window[i];
    }
    if (threadIdx.x == 0) is_ready[n] = 1;
}
