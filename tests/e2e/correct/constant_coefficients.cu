/* cupel: 1
id: constant-coefficients
about: The host is to fill the coefficients, and the contract does not say with what.
dims:    {N: 1..1024}
inputs:  {x: {type: f32, shape: [N], finite: true}}
outputs: {y: "f32[N]"}
ensures: {y: "0.5 * x"}
kernel:
  entry: scale
  args:  [x, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
*/
__constant__ float factor[1];
__global__ void scale(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor[0] * x[i];
}
