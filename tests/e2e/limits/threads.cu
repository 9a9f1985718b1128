/* cupel: 1
id: limits-threads
about: "Blocks of 33 by 32 threads: 1,056."
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: x * 2}
kernel:
  entry: twice
  args:  [x, y, N]
  grid:  ["ceil_div(N, 1056)"]
  block: [33, 32]
*/
__global__ void twice(const float *x, float *y, int n) {
    int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 2;
}
