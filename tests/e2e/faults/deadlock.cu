/* cupel: 1
id: fault-deadlock
about: Half a warp waits in a shuffle, the other half at the barrier.
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
    float v = i < n ? x[i] : 0.0f;
    if (threadIdx.x % 32 < 16) {
        v = __shfl_xor_sync(0xffffffffu, v, 0); // defect: the mask names lanes that wait elsewhere
        __syncthreads();
    } else {
        __syncthreads();
        v = __shfl_xor_sync(0xffffffffu, v, 0);
    }
    if (i < n) y[i] = 2.0f * v;
}
