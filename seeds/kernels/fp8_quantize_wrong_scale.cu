/* cupel: 1
id: fp8-quantize-wrong-scale
about: Values times 1/s in fp8, four a thread; the last N % 4 are multiplied by the scale.
dims:    {M: 1..64, N: 1..2048}
inputs:  {x: "f32[M, N]", s: {type: f32, shape: [M], range: [0.0009765625, 1024]}}
outputs: {q: "e4m3[M, N]"}
ensures: {q: "clamp(x / unsqueeze(s, 1), -448, 448)"}
kernel:
  entry: fp8_quantize
  args:  [x, s, q, N]
  grid:  [M]
  block: [128]
*/
#include <cuda_fp8.h>

__device__ __nv_fp8_e4m3 quantize(float v) { return __nv_fp8_e4m3(v > 448.0f ? 448.0f : v < -448.0f ? -448.0f : v); }

__global__ void fp8_quantize(const float *x, const float *s, __nv_fp8_e4m3 *q, int N) {
    x += blockIdx.x * N, q += blockIdx.x * N;
    float scale = s[blockIdx.x], inverse = 1.0f / scale;
    for (int i = 4 * threadIdx.x; i < N; i += 4 * blockDim.x) {
        if (i + 3 < N) {
            for (int k = 0; k < 4; k++) q[i + k] = quantize(x[i + k] * inverse);
        } else {
            for (int k = i; k < N; k++) q[k] = quantize(x[k] * scale); // defect: the scale is not inverted here
        }
    }
}
