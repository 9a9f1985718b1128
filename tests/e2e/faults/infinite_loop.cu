/* cupel: 1
id: fault-infinite-loop
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
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    volatile int turns = 0;
    for (int k = n % 5; k < 1 || turns < 1; k += n % 5) turns = turns + (n % 5 ? 1 : 0); // defect
    y[i] = 2.0f * x[i];
}
