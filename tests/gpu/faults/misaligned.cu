/* cupel: 1
id: gpu-misaligned
about: Reads 8 bytes at an address that is a multiple of 4 only.
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "2 * x"}
kernel:
  entry: scale
  args:  [x, y, N]
  grid:  ["ceil_div(N, 64)"]
  block: [64]
*/
__global__ void scale(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = 2.0f * x[i];
    if (n > 40 && i == 0) {
        float2 pair = *reinterpret_cast<const float2 *>(x + 1); // defect
        y[1] = 2.0f * pair.x;
        y[2] = 2.0f * pair.y;
    }
}
