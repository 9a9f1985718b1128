/* cupel: 1
id: relu-float4-tail
about: Rectifier, four elements a thread; the last N % 4 elements are never written.
dims:    {N: 4..100000}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "relu(x)"}
kernel:
  entry: relu4
  args:  [x, y, N]
  grid:  ["ceil_div(N, 1024)"]
  block: [256]
*/
#include <cuda_runtime.h>

__device__ __forceinline__ float relu(float v) { return v < 0.0f ? 0.0f : v; }

__global__ void relu4(const float *x, float *y, int N) {
    int idx = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (idx + 3 < N) { // defect: nobody handles the tail
        float4 v = *(const float4 *)(x + idx);
        v = make_float4(relu(v.x), relu(v.y), relu(v.z), relu(v.w));
        *(float4 *)(y + idx) = v;
    }
}
