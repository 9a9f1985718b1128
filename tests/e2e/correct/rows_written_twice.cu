/* cupel: 1
id: rows-written-twice
about: Uses its output as scratch memory, reads it back and stores over it; loads of four elements end in a scalar tail.
dims:    {M: 1..32, N: 1..256}
inputs:  {x: {type: f32, shape: [M, N], range: [-50, 50]}}
outputs: {y: "f32[M, N]"}
ensures: {y: "softmax(x, axis=-1)"}
kernel:  {entry: softmax_rows, args: [x, y, N], grid: [M], block: [32]}
*/
#include <cuda_runtime.h>
#include <math.h>

__global__ void softmax_rows(const float *x, float *y, int n) {
    const size_t row = static_cast<size_t>(blockIdx.x) * n;
    const int whole = row % 4 == 0 ? n / 4 * 4 : 0; // rows that do not begin at 16 bytes are read one by one
    float top = -INFINITY, sum = 0.0f;
    for (int i = 4 * threadIdx.x; i < whole; i += 128) {
        const float4 v = *reinterpret_cast<const float4 *>(x + row + i);
        top = fmaxf(fmaxf(fmaxf(top, v.x), fmaxf(v.y, v.z)), v.w);
    }
    for (int i = whole + threadIdx.x; i < n; i += 32) top = fmaxf(top, x[row + i]);
    for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
    for (int i = threadIdx.x; i < n; i += 32) sum += y[row + i] = __expf(x[row + i] - top);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    for (int i = threadIdx.x; i < n; i += 32) y[row + i] /= sum;
}
