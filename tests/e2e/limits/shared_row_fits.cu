/* cupel: 1
id: limits-shared-row-fits
about: "As shared_row, for the rows that fit."
dims:    {M: 1..64, N: 1..58112}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: x + x}
kernel:
  entry: doubled
  args:  [x, y, N]
  grid:  [M]
  block: [128]
  shared: N * 4
*/
extern __shared__ float row[];
__global__ void doubled(const float *x, float *y, int columns) {
    const float *in = x + (long)blockIdx.x * columns;
    float *out = y + (long)blockIdx.x * columns;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) row[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = row[i] * 2;
}
