/* cupel: 1
id: gpu-silent-read
about: Reads past the end of its input; nothing depends on it.
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
    float beyond = *(const volatile float *)(x + i + 1); // defect
    y[i] = 2.0f * x[i];
    if (beyond > 1e30f) y[i] = 2.0f * x[i];
}
