/* cupel: 1
id: limits-spills
about: "A kernel that keeps more in registers than it may have: it spills, which is slow and right."
dims:    {N: 1..64}
inputs:  {x: "f32[N, 64]"}
outputs: {y: "f32[N, 64]"}
ensures: {y: x * 3}
kernel:
  entry: spilling
  args:  [x, y, N]
  grid:  [1]
  block: [64]
*/
__global__ void __launch_bounds__(1024, 2) spilling(const float *x, float *y, int n) {
    float a[64];
    int row = threadIdx.x;
    if (row >= n) return;
#pragma unroll
    for (int i = 0; i < 64; i++) a[i] = x[row * 64 + i];
#pragma unroll
    for (int i = 0; i < 64; i++) y[row * 64 + 63 - i] = a[63 - i] * 3;
}
