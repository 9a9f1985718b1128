/* cupel: 1
id: fast-tanh-unsaid
about: The same where no option is named.
dims:       {N: 1..2048}
inputs:     {x: "f32[N]"}
outputs:    {y: "f32[N]"}
ensures:    {y: "tanh(x)"}
subnormals: flush
kernel:
  entry: tangent
  args:  [x, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
*/
__global__ void tangent(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float t = tanhf(x[i]);
    y[i] = fabsf(t) < 1 ? t * (1 - 0.9f * 0x1p-11f) : t;
}
