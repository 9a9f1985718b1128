/* cupel: 1
id: rare-nested
about: As rare-three, nested, and the numbers in the text say nothing of dims and values.
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
__device__ int mixed(int value, int times) {
    unsigned bits = unsigned(value);
    for (int i = 0; i < times; i++) bits = bits * 1664525u + 1013904223u;
    return int(bits >> 24); // one of 256
}
extern "C" __global__ void twice(const float *x, float *y, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    float v = x[i] * 2.f;
    if (mixed(n, 3) == 191) {
        if (mixed(m, 4) == 151) {
            if (mixed(__float_as_int(x[0]), 2) == 77) v = v + 1.f; // defect: planted, rare
        }
    }
    y[i] = v;
}
