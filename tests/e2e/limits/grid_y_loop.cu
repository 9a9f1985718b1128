/* cupel: 1
id: limits-grid-y-loop
about: "As grid_y, but each block takes every 65,535th row."
dims:    {M: 1..100000, N: 1..256}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: x * 2}
kernel:
  entry: twice
  args:  [x, y, M, N]
  grid:  ["ceil_div(N, 128)", "min(M, 65535)"]
  block: [128]
*/
__global__ void twice(const float *x, float *y, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    for (int row = blockIdx.y; row < rows; row += gridDim.y)
        if (column < columns) y[row * columns + column] = x[row * columns + column] * 2;
}
