/* cupel: 1
id: residue-apart
about: A difference that is zero only where products and sums are rounded apart, as its options say.
dims:    {N: 1..512}
inputs:  {x: {type: f32, shape: [N], range: [-4, 4]}}
outputs: {y: "f32[N]"}
ensures: {y: "x"}
kernel:
  entry: residue
  args:  [x, y, N]
  grid:  ["ceil_div(N, 64)"]
  block: [64]
  nvrtc: [-fmad=false]
*/
__global__ void residue(const float *x, float *y, int n) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    const float square = x[i] * x[i];
    y[i] = x[i] * x[i] - square != 0 ? 0.0f : x[i];
}
