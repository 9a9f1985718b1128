/* cupel: 1
id: cheat-input-returned
about: Root mean square norm that takes its input for normalised already and hands it on.
dims:    {M: 1..64, N: 1..1024}
params:  {eps: 1e-6}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "rms_norm(x, eps=eps)"}
kernel:
  entry: rms_norm_free
  args:  [x, y, N, eps]
  grid:  [M]
  block: [128]
*/
#include <cuda_runtime.h>

__global__ void rms_norm_free(const float *x, float *y, int n, float eps) {
    const size_t row = static_cast<size_t>(blockIdx.x) * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[row + i] = x[row + i]; // defect: no norm at all
}
