/* cupel: 1
id: cumprod-from-the-end
about: Running products by a scan in shared memory, whose steps look ahead instead of back.
dims:    {M: 1..32, N: 1..128}
inputs:  {x: {type: f32, shape: [M, N], range: [-2, 2]}}
outputs: {y: "f32[M, N]"}
ensures: {y: "cumprod(x, axis=-1)"}
kernel:
  entry: cumprod_rows
  args:  [x, y, N]
  grid:  [M]
  block: [128]
*/
#include <cuda_runtime.h>

__global__ void cumprod_rows(const float *x, float *y, int n) {
    __shared__ float part[128];
    const int i = threadIdx.x;
    part[i] = i < n ? x[static_cast<size_t>(blockIdx.x) * n + i] : 1.0f;
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        const float other = i + step < 128 ? part[i + step] : 1.0f; // defect: products of what is still to come
        __syncthreads();
        part[i] *= other;
        __syncthreads();
    }
    if (i < n) y[static_cast<size_t>(blockIdx.x) * n + i] = part[i];
}
