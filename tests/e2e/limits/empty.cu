/* cupel: 1
id: limits-empty
about: "Empty tensors are claimed, and the grid is empty for them."
dims:    {N: 0..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: x * 2}
kernel:
  entry: twice
  args:  [x, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
*/
__global__ void twice(const float *x, float *y, int n) {
    int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 2;
}
