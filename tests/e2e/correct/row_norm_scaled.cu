/* cupel: 1
id: row-norm-scaled
about: Lengths of rows of numbers so large that their squares overflow a half; they are squared as floats.
dims:    {M: 1..32, N: 1..256}
types:   {T: [f32, f16]}
inputs:  {x: {type: T, shape: [M, N], range: [-60000, 60000]}}
outputs: {y: "f32[M]"}
ensures: {y: "norm(x, axis=-1)"}
kernel:  {entry: row_norm<$T>, args: [x, y, N], grid: [M], block: [32]}
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <class T> __global__ void row_norm(const T *x, float *y, int n) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) {
        const float v = static_cast<float>(x[blockIdx.x * n + i]);
        sum = fmaf(v, v, sum);
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}
