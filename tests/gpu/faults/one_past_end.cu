/* cupel: 1
id: gpu-one-past-end
about: Writes one element past the end when N is odd.
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
    if (i < n + n % 2) y[i] = 2.0f * (i < n ? x[i] : 0.0f); // defect
}
