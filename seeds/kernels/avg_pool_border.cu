/* cupel: 1
id: avg-pool-border
about: Mean over 3 by 3 windows, stride 2, padding 1; divides by 9 at the border too.
dims:    {P: 1..12, H: 1..64, W: 1..64}
let:     {HO: "(H - 1) / 2 + 1", WO: "(W - 1) / 2 + 1"}
inputs:  {x: "f32[P, H, W]"}
outputs: {y: "f32[P, HO, WO]"}
ensures: {y: "avg_pool2d(x, 3, 2, 1, count_include_pad=false)"}
kernel:
  entry: avg_pool
  args:  [x, y, P, H, W, HO, WO]
  grid:  ["ceil_div(P * HO * WO, 128)"]
  block: [128]
*/
#include <cuda_runtime.h>

extern "C" __global__ void avg_pool(const float *x, float *y, int P, int H, int W, int HO, int WO) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= P * HO * WO) return;
    const int plane = i / (HO * WO), top = i / WO % HO * 2 - 1, left = i % WO * 2 - 1;
    float sum = 0.0f;
    for (int row = max(top, 0); row < min(top + 3, H); ++row)
        for (int column = max(left, 0); column < min(left + 3, W); ++column)
            sum += x[((size_t)plane * H + row) * W + column];
    y[i] = sum / 9.0f; // defect: at the border the window holds fewer elements
}
