/* cupel: 1
id: inside-mask
about: Which elements lie in an interval, and whether a row has any.
dims:    {M: 1..128, N: 1..1024}
params:  {lo: {range: [-4, 0]}, hi: {range: [0, 4]}}
inputs:  {x: "f32[M, N]"}
outputs: {mask: "bool[M, N]", some: "bool[M]"}
ensures:
  mask: "(x >= lo) and (x <= hi)"
  some: "any((x >= lo) and (x <= hi), axis=1)"
kernel:
  entry: inside
  args:  [x, mask, some, N, lo, hi]
  grid:  [M]
  block: [128]
*/
#include <cuda_runtime.h>

__global__ void inside(const float *x, bool *mask, bool *some, int N, float lo, float hi) {
    int found = 0;
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        float v = x[blockIdx.x * N + i];
        bool in = v >= lo && v <= hi;
        mask[blockIdx.x * N + i] = in;
        found |= in;
    }
    found = __syncthreads_or(found);
    if (threadIdx.x == 0) some[blockIdx.x] = found != 0;
}
