/* cupel: 1
id: epoch-kept
about: A barrier of the grid keeps its counters from call to call, so that the second call waits for ever.
dims:    {N: 1..512}
inputs:  {x: {type: f32, shape: [N], range: [-4, 4]}}
outputs: {y: {type: f32, shape: [N]}}
ensures: {y: "x * 2"}
kernel:
  entry: k
  args:  [x, y, N]
  grid:  ["ceil_div(N, 64)"]
  block: [64]
  cooperative: true
*/
__device__ volatile int arrived;
__device__ volatile int epoch;
__global__ void k(const float *x, float *y, int n) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (atomicAdd((int *)&arrived, 1) + 1 == (int)gridDim.x) epoch = epoch + 1;
        while (epoch != 1) {}
    }
    __syncthreads();
    if (i < n) y[i] = x[i] * 2;
}
