/* cupel: 1
id: shared-neighbour-fixed
about: Magnitudes, with a look at the next value, which the last thread of a block has not.
dims:    {N: 1..4096}
inputs:  {x: {type: f32, shape: [N], range: [-100, 100]}}
outputs: {y: "f32[N]"}
ensures: {y: "abs(x)"}
kernel:
  entry: magnitudes
  args:  [x, y, N]
  grid:  ["ceil_div(N, 64)"]
  block: [64]
*/
__global__ void magnitudes(const float *x, float *y, int n) {
    __shared__ float values[64];
    __shared__ float weights[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    values[threadIdx.x] = i < n ? x[i] : 0;
    weights[threadIdx.x] = 1;
    __syncthreads();
    float next = threadIdx.x < 63 ? values[threadIdx.x + 1] : 0;
    if (i < n) y[i] = next > 1000 ? next : fabsf(values[threadIdx.x]) * weights[threadIdx.x];
}
