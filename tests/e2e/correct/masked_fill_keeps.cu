/* cupel: 1
id: masked-fill-keeps
about: Stores where its mask is set and leaves everything else as it lies, which the contract calls keep.
dims:    {M: 1..32, N: 1..128}
inputs:  {mask: "bool[M, N]", v: "f32[M]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "where(mask, unsqueeze(v, -1), keep)"}
kernel:  {entry: masked_fill, args: [mask, v, y, N], grid: [M], block: [64]}
*/
#include <cuda_runtime.h>

__global__ void masked_fill(const bool *mask, const float *v, float *y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (mask[blockIdx.x * n + i]) y[blockIdx.x * n + i] = v[blockIdx.x];
}
