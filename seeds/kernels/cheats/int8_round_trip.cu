/* cupel: 1
id: cheat-int8-round-trip
about: Matrix-vector product whose matrix goes through eight-bit integers, one scale a row, inside the kernel.
dims:    {M: 1..64, N: 1..1024}
inputs:  {a: {type: f32, shape: [M, N], range: [-100, 100]}, x: {type: f32, shape: [N], range: [-100, 100]}}
outputs: {y: "f32[M]"}
ensures: {y: "matmul(a, x)"}
kernel:
  entry: gemv_int8
  args:  [a, x, y, N]
  grid:  [M]
  block: [32]
*/
#include <cuda_runtime.h>

__global__ void gemv_int8(const float *a, const float *x, float *y, int n) {
    const float *row = a + static_cast<size_t>(blockIdx.x) * n;
    float largest = 1e-30f, sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) largest = fmaxf(largest, fabsf(row[i]));
    for (int d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, d));
    const float scale = largest / 127.0f;
    for (int i = threadIdx.x; i < n; i += 32) {
        const signed char code = static_cast<signed char>(__float2int_rn(row[i] / scale)); // defect: seven bits are left
        sum += code * scale * x[i];
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
