/* cupel: 1
id: grey-image
about: A colour image of bytes to grey, and its contrast stretched, four channels a pixel.
dims:    {H: 1..64, W: 1..128}
params:  {low: {one_of: [0, 16, 64]}}
inputs:  {rgba: "u8[H, W, 4]"}
outputs: {grey: "u8[H, W]", stretched: "u8[H, W]"}
define:  {wide: "cast(rgba, i32)", light: "(wide[:, :, 0] * 77 + wide[:, :, 1] * 150 + wide[:, :, 2] * 29) >> 8"}
ensures:
  grey: "light"
  stretched: "clamp((light - low) * 2, 0, 255)"
kernel:
  entry: grey_image
  args:  [rgba, grey, stretched, H, W, low]
  grid:  ["ceil_div(W, 32)", "ceil_div(H, 8)"]
  block: [32, 8]
*/
#include <cuda_runtime.h>

__global__ void grey_image(const uchar4 *rgba, unsigned char *grey, unsigned char *stretched, int H, int W, int low) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    uchar4 p = rgba[y * W + x];
    int light = (p.x * 77 + p.y * 150 + p.z * 29) >> 8;
    grey[y * W + x] = light;
    stretched[y * W + x] = min(max((light - low) * 2, 0), 255);
}
