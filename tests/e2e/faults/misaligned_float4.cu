/* cupel: 1
id: fault-misaligned-float4
about: Loads a float4 from an address that is not a multiple of 16.
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
    if (n % 4 == 0 && i + 5 <= n && i % 4 == 0) {
        float4 v = *reinterpret_cast<const float4 *>(x + i + 1); // defect
        y[i] = 2.0f * x[i] + 0.0f * (v.x == v.x ? 0.0f : 1.0f);
    } else {
        y[i] = 2.0f * x[i];
    }
}
