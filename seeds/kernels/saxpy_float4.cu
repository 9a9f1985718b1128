/* cupel: 1
id: saxpy-float4
about: y = a * x + y, four elements a thread and the last ones by themselves; y is updated in place.
dims:    {N: 1..100000}
params:  {a: {range: [-4, 4]}}
inputs:  {x: "f32[N]", y: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "a * x + y"}
kernel:
  entry: saxpy4
  args:  [x, y, a, N]
  grid:  ["max(1, ceil_div(N / 4, 256))"]
  block: [256]
*/
#include <cuda_runtime.h>

__global__ void saxpy4(const float *__restrict__ x, float *__restrict__ y, float a, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N / 4) {
        float4 v = reinterpret_cast<const float4 *>(x)[i];
        float4 w = reinterpret_cast<float4 *>(y)[i];
        w.x += a * v.x;
        w.y += a * v.y;
        w.z += a * v.z;
        w.w += a * v.w;
        reinterpret_cast<float4 *>(y)[i] = w;
    }
    int tail = N / 4 * 4 + i;
    if (tail < N) y[tail] += a * x[tail];
}
