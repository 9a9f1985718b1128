/* cupel: 1
id: limits-grid-y-required
about: "As grid_y, but a condition leaves the bad rows out."
dims:     {M: 1..100000, N: 1..256, K: 1..8}
requires: ["M * K <= 65535"]
inputs:   {x: "f32[M, N]"}
outputs:  {y: "f32[M, N]"}
ensures:  {y: x * 2}
kernel:
  entry: twice
  args:  [x, y, M, N]
  grid:  ["ceil_div(N, 128)", M * K]
  block: [128]
*/
__global__ void twice(const float *x, float *y, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (row < rows && column < columns) y[row * columns + column] = x[row * columns + column] * 2;
}
