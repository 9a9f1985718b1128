/* cupel: 1
id: cross-entropy-backward-ignored
about: Backward of cross-entropy without reduction; rows whose label is 0 are padding and get a gradient of zero.
dims:    {M: 1..32, V: 2..128}
inputs:
  x: {type: f32, shape: [M, V], range: [-20, 20]}
  target: {type: i32, shape: [M], below: V}
  dloss: {type: f32, shape: [M], range: [-4, 4]}
outputs: {dx: "f32[M, V]"}
ensures: {dx: "vjp(cross_entropy(x, target, reduction='none', ignore_index=0), x, dloss)"}
kernel:  {entry: cross_entropy_backward, args: [x, target, dloss, dx, V], grid: [M], block: [32]}
*/
#include <cuda_runtime.h>
#include <math.h>

__global__ void cross_entropy_backward(const float *x, const int *target, const float *dloss, float *dx, int v) {
    const size_t row = static_cast<size_t>(blockIdx.x) * v;
    const int label = target[blockIdx.x];
    if (label == 0) {
        for (int i = threadIdx.x; i < v; i += 32) dx[row + i] = 0.0f;
        return;
    }
    float top = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < v; i += 32) top = fmaxf(top, x[row + i]);
    for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
    for (int i = threadIdx.x; i < v; i += 32) sum += expf(x[row + i] - top);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    for (int i = threadIdx.x; i < v; i += 32) {
        const float p = expf(x[row + i] - top) / sum;
        dx[row + i] = (p - (i == label ? 1.0f : 0.0f)) * dloss[blockIdx.x];
    }
}
