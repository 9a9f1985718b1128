/* cupel: 1
id: rare-three
about: Doubles its input, but where three conditions meet that have nothing to do with each other.
dims:    {M: 1..200, N: 1..4096}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "2 * x"}
kernel:
  entry: twice
  args:  [x, y, M, N]
  grid:  ["ceil_div(M * N, 64)"]
  block: [64]
*/
extern "C" __global__ void twice(const float *x, float *y, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    float v = x[i] * 2.f;
    if (n % 211 == 17 && m == 187 && x[0] > 10.f && x[0] < 12.f) v = v + 1.f; // defect: planted, rare
    y[i] = v;
}
