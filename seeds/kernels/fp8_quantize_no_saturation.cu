/* cupel: 1
id: fp8-quantize-no-saturation
about: A conversion to fp8 that claims to saturate and gives NaN above 448.
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {q: "e4m3[N]"}
ensures: {q: "clamp(x, -448, 448)"}
kernel:
  entry: convert
  args:  [x, q, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_fp8.h>

__global__ void convert(const float *x, __nv_fp8_e4m3 *q, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) q[i].__x = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E4M3); // defect: __NV_SATFINITE was meant
}
