/* cupel: 1
id: reversed-rows-early
about: Reverses rows of up to 256 elements through shared memory, without waiting for the other threads' elements.
dims:    {M: 1..64, N: 1..256}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "flip(x, 1)"}
kernel:
  entry: reverse_rows
  args:  [x, y, N]
  grid:  [M]
  block: [256]
*/
__global__ void reverse_rows(const float *x, float *y, int N) {
    __shared__ float row[256];
    int i = threadIdx.x;
    if (i < N) row[i] = x[blockIdx.x * N + i]; // line: store
    // defect: no barrier
    if (i < N) y[blockIdx.x * N + i] = row[N - 1 - i]; // line: load
}
