/* cupel: 1
id: flushed
about: A product in float, compiled to flush subnormal numbers, as the contract says.
dims:       {N: 1..2048}
inputs:     {x: "f32[N]", w: "f32[N]"}
outputs:    {y: "f32[N]"}
ensures:    {y: "x * w"}
subnormals: flush
kernel:
  entry: product
  args:  [x, w, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
  nvrtc: [-ftz=true]
*/
__global__ void product(const float *x, const float *w, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * w[i];
}
