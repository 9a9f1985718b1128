/* cupel: 1
id: fast-exponential-precise
about: An exponential, compiled with the hardware's functions; the contract wants the precise one.
dims:       {N: 1..2048}
inputs:     {x: {type: f32, shape: [N], range: [-80, 80]}}
outputs:    {y: "f32[N]"}
ensures:    {y: "exp(x)"}
subnormals: flush
math:       precise
kernel:
  entry: exponential
  args:  [x, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
  nvrtc: [--use_fast_math]
*/
__global__ void exponential(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = expf(x[i]);
}
