/* cupel: 1
id: limits-registers-bounded
about: "As registers, but the compiler is told how large blocks are."
dims:    {N: 1..65536}
inputs:  {x: "f32[128, N]"}
outputs: {y: "f32[128, N]"}
ensures: {y: x * 3}
kernel:
  entry: hoard
  args:  [x, y, N]
  grid:  ["ceil_div(N, 1024)"]
  block: [1024]
*/
__global__ void __launch_bounds__(1024) hoard(const float *x, float *y, int n) {
    float a[128];
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
#pragma unroll
    for (int i = 0; i < 128; i++) a[i] = x[i * (long)n + column];
#pragma unroll
    for (int i = 0; i < 128; i++) y[(127 - i) * (long)n + column] = a[127 - i] * 3;
}
