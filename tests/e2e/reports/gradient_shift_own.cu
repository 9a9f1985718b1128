/* cupel: 1
id: gradient-shift-own
about: Negates a gradient that may start anywhere; the elements before the first full vector are counted from its own pointer.
dims:    {N: 1..4096}
inputs:  {dy: {type: f32, shape: [N], align: element}, y: {type: f32, shape: [N], align: element}}
outputs: {dx: "f32[N]"}
ensures: {dx: "y - dy"}
kernel:
  entry: difference
  args:  [dy, y, dx, N]
  grid:  [1]
  block: [128]
*/
__global__ void difference(const float *dy, const float *y, float *dx, int n) {
    int shift = (16 - (int)(reinterpret_cast<uintptr_t>(dy) % 16)) % 16 / 4;
    shift = min(shift, n);
    if (threadIdx.x < shift) dx[threadIdx.x] = y[threadIdx.x] - dy[threadIdx.x];
    int vectors = (n - shift) / 4;
    for (int v = threadIdx.x; v < vectors; v += blockDim.x) {
        float4 d = reinterpret_cast<const float4 *>(dy + shift)[v];
        for (int i = 0; i < 4; i++) dx[shift + 4 * v + i] = y[shift + 4 * v + i] - (&d.x)[i];
    }
    for (int i = shift + 4 * vectors + threadIdx.x; i < n; i += blockDim.x) dx[i] = y[i] - dy[i];
}
