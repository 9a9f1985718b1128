/* cupel: 1
id: fault-null-store
about: Stores through a null pointer when N is 33 or more.
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
    y[i] = 2.0f * x[i];
    float *nowhere = n >= 33 ? nullptr : y;
    if (i == 32) *nowhere = 1.0f; // defect
}
