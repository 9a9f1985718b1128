/* cupel: 1
id: scale-rare
about: Doubles its input, but for one length in 97 above 200.
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
extern "C" __global__ void scale(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i] * 2.f;
    if (n % 97 == 7 && n > 200) v = v + 1.f; // defect: planted, rare
    y[i] = v;
}
