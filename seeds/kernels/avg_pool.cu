/* cupel: 1
id: avg-pool
about: Mean over 3 by 3 windows, stride 2, padding 1; what lies outside does not count.
dims:    {P: 1..12, H: 1..64, W: 1..64}
let:     {HO: "(H - 1) / 2 + 1", WO: "(W - 1) / 2 + 1"}
types:   {T: [f32, f16]}
inputs:  {x: "T[P, H, W]"}
outputs: {y: "T[P, HO, WO]"}
ensures: {y: "avg_pool2d(x, 3, 2, 1, count_include_pad=false)"}
kernel:
  entry: avg_pool<$T>
  args:  [x, y, P, H, W, HO, WO]
  grid:  ["ceil_div(P * HO * WO, 128)"]
  block: [128]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <typename T>
__global__ void avg_pool(const T *__restrict__ x, T *__restrict__ y, int P, int H, int W, int HO, int WO) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= P * HO * WO) return;
    const int plane = i / (HO * WO), top = i / WO % HO * 2 - 1, left = i % WO * 2 - 1;
    const int first_row = max(top, 0), last_row = min(top + 3, H), first = max(left, 0),
              last = min(left + 3, W);
    float sum = 0.0f;
    for (int row = first_row; row < last_row; ++row)
        for (int column = first; column < last; ++column)
            sum += (float)x[((size_t)plane * H + row) * W + column];
    y[i] = (T)(sum / (float)((last_row - first_row) * (last - first)));
}
