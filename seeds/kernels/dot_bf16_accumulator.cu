/* cupel: 1
id: dot-bf16-accumulator
about: Matrix-vector product of bfloat16, in tiles of 16; what the tiles add up to is kept in bfloat16.
dims:    {M: 1..64, K: 1..1024}
inputs:  {a: {type: bf16, shape: [M, K], range: [-4, 4]}, x: {type: bf16, shape: [K], range: [-4, 4]}}
outputs: {y: "f32[M]"}
ensures: {y: "matmul(a, x)"}
kernel:
  entry: gemv_tiles
  args:  [a, x, y, M, K]
  grid:  ["ceil_div(M, 32)"]
  block: [32]
*/
#include <cuda_bf16.h>
#include <cuda_runtime.h>

using bf16 = __nv_bfloat16;

__global__ void gemv_tiles(const bf16 *a, const bf16 *x, float *y, int m, int k) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    bf16 sum = __float2bfloat16(0.0f); // defect: the type of the operands, not that of the accumulator
    for (int begin = 0; begin < k; begin += 16) {
        float tile = 0.0f;
        for (int i = begin; i < min(begin + 16, k); i++)
            tile += __bfloat162float(a[static_cast<size_t>(row) * k + i]) * __bfloat162float(x[i]);
        sum = __float2bfloat16(__bfloat162float(sum) + tile);
    }
    y[row] = __bfloat162float(sum);
}
