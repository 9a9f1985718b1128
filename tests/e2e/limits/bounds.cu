/* cupel: 1
id: limits-bounds
about: "Blocks of 256 threads of a kernel that is bounded to 128."
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: x * 2}
kernel:
  entry: twice
  args:  [x, y, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
__global__ void __launch_bounds__(128) twice(const float *x, float *y, int n) {
    int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 2;
}
