/* cupel: 1
id: inside-mask-nan
about: Which elements lie in an interval, asked the other way round.
dims:    {N: 1..4096}
params:  {lo: {range: [-4, 0]}, hi: {range: [0, 4]}}
inputs:  {x: "f32[N]"}
outputs: {mask: "bool[N]"}
ensures: {mask: "(x >= lo) and (x <= hi)"}
kernel:
  entry: inside
  args:  [x, mask, N, lo, hi]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_runtime.h>

__global__ void inside(const float *x, bool *mask, int N, float lo, float hi) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) mask[i] = !(x[i] < lo || x[i] > hi); // defect: a NaN is not outside
}
