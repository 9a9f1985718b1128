/* cupel: 1
id: row-cached-in-shared
about: Holds a whole row in dynamic shared memory, up to the most that the device gives, by opting in.
dims:    {M: 1..2, N: 1..58112}
inputs:  {x: {type: f32, shape: [M, N], range: [-50, 50]}}
outputs: {y: "f32[M, N]"}
ensures: {y: "x - mean(x, axis=-1, keepdim=true)"}
limits:  [sm_90]
kernel:  {entry: centre, args: [x, y, N], grid: [M], block: [32], shared: 4 * N}
*/
#include <cuda_runtime.h>

__global__ void centre(const float *x, float *y, int n) {
    extern __shared__ float row[];
    for (int i = threadIdx.x; i < n; i += 32) row[i] = x[static_cast<size_t>(blockIdx.x) * n + i];
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) sum += row[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    for (int i = threadIdx.x; i < n; i += 32) y[static_cast<size_t>(blockIdx.x) * n + i] = row[i] - sum / n;
}

void launch(const float *x, float *y, int m, int n) {
    cudaFuncSetAttribute(centre, cudaFuncAttributeMaxDynamicSharedMemorySize, 4 * n);
    centre<<<m, 32, 4 * n>>>(x, y, n);
}
