/* cupel: 1
id: gpu-infinite-loop
about: Never ends when N is a multiple of 5.
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
    __shared__ volatile int go;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    go = n % 5 == 0;
    __syncthreads();
    while (go) {} // defect
    if (i < n) y[i] = 2.0f * x[i];
}
