/* cupel: 1
id: limits-grid-y
about: "Rows along grid.y, which ends at 65,535 although more rows are claimed."
dims:    {M: 1..100000, N: 1..256}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: x * 2}
kernel:
  entry: twice
  args:  [x, y, M, N]
  grid:  ["ceil_div(N, 128)", M]
  block: [128]
*/
__global__ void twice(const float *x, float *y, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < columns) y[row * columns + column] = x[row * columns + column] * 2;
}
