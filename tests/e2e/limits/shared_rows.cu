/* cupel: 1
id: limits-shared-rows
about: "8 KiB of shared memory for each of several rows."
dims:    {N: 1..65536, R: 1..32}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: x * 2}
kernel:
  entry: twice
  args:  [x, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
  shared: R * 8192
*/
__global__ void twice(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 2;
}
