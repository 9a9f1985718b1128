/* cupel: 1
id: fault-empty-loop
about: Never ends when N is a multiple of 5, in a loop that touches nothing.
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
    while (n % 5 == 0) {} // defect
    y[i] = 2.0f * x[i];
}
