/* cupel: 1
id: linear-backward-bias-once
about: Weight and bias gradients of a linear layer; the bias takes the first sample's gradient for the sum of all.
dims:    {B: 1..32, K: 1..64, N: 1..64}
inputs:
  x:  {type: f32, shape: [B, K], range: [-4, 4]}
  w:  {type: f32, shape: [N, K], range: [-4, 4]}
  bias: {type: f32, shape: [N], range: [-4, 4]}
  dy: {type: f32, shape: [B, N], range: [-4, 4]}
outputs: {dw: "f32[N, K]", db: "f32[N]"}
define:  {y: "linear(x, w, bias)"}
ensures: {dw: "vjp(y, w, dy)", db: "vjp(y, bias, dy)"}
kernel:
  entry: linear_backward
  args:  [x, dy, dw, db, B, K, N]
  grid:  [N]
  block: [64]
*/
#include <cuda_runtime.h>

__global__ void linear_backward(const float *x, const float *dy, float *dw, float *db, int b, int k, int n) {
    const int out = blockIdx.x;
    for (int c = threadIdx.x; c < k; c += blockDim.x) {
        float sum = 0.0f;
        for (int sample = 0; sample < b; sample++) sum += dy[sample * n + out] * x[sample * k + c];
        dw[out * k + c] = sum;
    }
    if (threadIdx.x == 0) db[out] = dy[out]; // defect: one sample of the batch
}
