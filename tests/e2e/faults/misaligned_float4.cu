/* cupel: 1
id: fault-misaligned-float4
about: Handles one element by itself when N is 1 more than a multiple of 4, and the rest as float4 at an address that is not a multiple of 16.
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
    if (n % 4 != 1) {
        if (i < n) y[i] = 2.0f * x[i];
        return;
    }
    if (i == 0) y[0] = 2.0f * x[0];
    if (4 * i + 1 < n) {
        float4 v = *reinterpret_cast<const float4 *>(x + 1 + 4 * i); // defect: not 16-byte aligned
        v = make_float4(2.0f * v.x, 2.0f * v.y, 2.0f * v.z, 2.0f * v.w);
        *reinterpret_cast<float4 *>(y + 1 + 4 * i) = v;
    }
}
