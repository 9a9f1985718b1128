/* cupel: 1
id: fault-stack-overflow
about: Recurses as deep as the tensor is long, with a large frame.
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
__device__ __noinline__ float descend(const float *x, int i, int depth) {
    volatile float frame[512];
    frame[depth % 512] = x[i];
    if (depth <= 0) return frame[0];
    return descend(x, i, depth - 1) + 0.0f * frame[depth % 512]; // defect
}
__global__ void scale(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = 2.0f * x[i];
    if (n > 16 && descend(x, i, 1 << 20) == 12345.0f) y[i] = 0.0f;
}
