/* cupel: 1
id: fp8-quantize
about: Rows quantised to fp8 by their own scale and back, four elements a load where they are aligned.
dims:    {M: 1..64, N: 1..2048}
types:   {Q: [e4m3, e5m2]}
params:  {limit: {one_of: [448, 57344, 16]}}
inputs:  {x: "f32[M, N]", s: {type: f32, shape: [M], range: [0.0009765625, 1024]}}
outputs: {q: "Q[M, N]", y: "f32[M, N]"}
ensures:
  q: "clamp(x / unsqueeze(s, 1), -limit, limit)"
  y: "cast(clamp(x / unsqueeze(s, 1), -limit, limit), Q) * unsqueeze(s, 1)"
math: precise
kernel:
  entry: fp8_quantize<$Q>
  args:  [x, s, q, y, N, {limit: f32}]
  grid:  [M]
  block: [128]
*/
#include <cuda_fp8.h>

template <class Q> __global__ void fp8_quantize(const float *x, const float *s, Q *q, float *y, int N, float limit) {
    int row = blockIdx.x;
    float scale = s[row];
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        float v = x[row * N + i] / scale;
        if (v > limit) v = limit; // a NaN passes both
        if (v < -limit) v = -limit;
        Q code = Q(v);
        q[row * N + i] = code;
        y[row * N + i] = float(code) * scale;
    }
}
