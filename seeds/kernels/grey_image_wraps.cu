/* cupel: 1
id: grey-image-wraps
about: A grey image whose contrast is stretched without a limit above.
dims:    {H: 1..64, W: 1..128}
inputs:  {grey: "u8[H, W]"}
outputs: {stretched: "u8[H, W]"}
ensures: {stretched: "clamp((cast(grey, i32) - 16) * 2, 0, 255)"}
kernel:
  entry: stretch
  args:  [grey, stretched, "H * W"]
  grid:  ["ceil_div(H * W, 256)"]
  block: [256]
*/
#include <cuda_runtime.h>

__global__ void stretch(const unsigned char *grey, unsigned char *stretched, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) stretched[i] = grey[i] < 16 ? 0 : (grey[i] - 16) * 2; // defect: 144 and more wraps
}
