/* cupel: 1
id: cheat-fp16-accumulator
about: Dot products of rows of halves, two at a time, summed where they are multiplied.
dims:    {M: 1..64, N: 2..2048}
requires: ["N % 2 == 0"]
inputs:  {a: {type: f16, shape: [M, N], range: [-8, 8]}, b: {type: f16, shape: [M, N], range: [-8, 8]}}
outputs: {y: "f32[M]"}
ensures: {y: "sum(a * b, axis=-1)"}
kernel:
  entry: dot_rows
  args:  [a, b, y, N / 2]
  grid:  [M]
  block: [32]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void dot_rows(const half2 *a, const half2 *b, float *y, int pairs) {
    a += static_cast<size_t>(blockIdx.x) * pairs;
    b += static_cast<size_t>(blockIdx.x) * pairs;
    half2 sum = __float2half2_rn(0.0f); // defect: the contract accumulates in f32
    for (int i = threadIdx.x; i < pairs; i += 32) sum = __hfma2(a[i], b[i], sum);
    float total = __low2float(sum) + __high2float(sum);
    for (int offset = 16; offset > 0; offset /= 2) total += __shfl_xor_sync(0xffffffffu, total, offset);
    if (threadIdx.x == 0) y[blockIdx.x] = total;
}
