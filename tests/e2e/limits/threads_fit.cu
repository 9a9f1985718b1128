/* cupel: 1
id: limits-threads-fit
about: "Blocks of 32 by 32 threads: 1,024."
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: x * 2}
kernel:
  entry: twice
  args:  [x, y, N]
  grid:  ["ceil_div(N, 1024)"]
  block: [32, 32]
*/
__global__ void twice(const float *x, float *y, int n) {
    int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 2;
}
