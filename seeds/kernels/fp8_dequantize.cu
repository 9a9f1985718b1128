/* cupel: 1
id: fp8-dequantize
about: fp8 values times a scale a row, four elements a load.
dims:    {M: 1..64, N: 4..2048}
requires: ["N % 4 == 0"]
types:   {T: [f32, f16, bf16]}
inputs:  {q: "e5m2[M, N]", s: "f32[M]"}
outputs: {y: "T[M, N]"}
ensures: {y: "q * unsqueeze(s, 1)"}
kernel:
  entry: fp8_dequantize<$T>
  args:  [q, s, y, N]
  grid:  [M]
  block: [64]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

template <class T> __global__ void fp8_dequantize(const __nv_fp8x4_e5m2 *q, const float *s, T *y, int N) {
    float scale = s[blockIdx.x];
    for (int i = threadIdx.x; i < N / 4; i += blockDim.x) {
        float4 v = float4(q[blockIdx.x * (N / 4) + i]);
        T *to = y + blockIdx.x * N + 4 * i;
        to[0] = T(v.x * scale), to[1] = T(v.y * scale), to[2] = T(v.z * scale), to[3] = T(v.w * scale);
    }
}
