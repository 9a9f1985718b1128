/* cupel: 1
id: argmax-skips-nan
about: Index of the largest element of each row, packed with its key into 64 bits; NaN never wins.
dims:    {M: 1..64, N: 1..1024}
inputs:  {x: "f32[M, N]"}
outputs: {index: "i32[M]"}
ensures: {index: "argmax(x, axis=-1)"}
kernel:
  entry: argmax_packed
  args:  [x, index, N]
  grid:  [M]
  block: [32]
*/
#include <cuda_runtime.h>
#include <math.h>

__global__ void argmax_packed(const float *x, int *index, int n) {
    const float *row = x + static_cast<size_t>(blockIdx.x) * n;
    float best = -INFINITY;
    int at = 0x7fffffff;
    for (int i = threadIdx.x; i < n; i += 32) {
        if (row[i] > best || at == 0x7fffffff) { // defect: every comparison with NaN is false
            best = row[i];
            at = i;
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, best, d);
        const int place = __shfl_xor_sync(0xffffffffu, at, d);
        if (place != 0x7fffffff && (at == 0x7fffffff || other > best || (other == best && place < at))) {
            best = other;
            at = place;
        }
    }
    if (threadIdx.x == 0) index[blockIdx.x] = at;
}
