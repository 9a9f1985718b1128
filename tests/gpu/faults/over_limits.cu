/* cupel: 1
id: gpu-over-limits
about: Launches as many threads a block as the tensor has elements.
dims:    {N: 1..2048}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "2 * x"}
kernel:
  entry: scale
  args:  [x, y, N]
  grid:  [1]
  block: [N]
*/
__global__ void scale(const float *x, float *y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i]; // defect: of the launch, N threads a block
}
