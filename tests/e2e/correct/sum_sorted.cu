/* cupel: 1
id: sum-sorted
about: Sums of rows whose elements are sorted by magnitude first, so that what comes first depends on the values.
dims:    {M: 1..2, N: 1..64}
inputs:  {x: {type: f32, shape: [M, N], finite: true}}
outputs: {y: "f32[M]"}
ensures: {y: "sum(x, axis=-1)"}
kernel:  {entry: sum_rows, args: [x, y, N], grid: [M], block: [64]}
*/
#include <cuda_runtime.h>

__global__ void sum_rows(const float *x, float *y, int n) {
    __shared__ float values[64];
    const int i = threadIdx.x;
    values[i] = i < n ? x[blockIdx.x * n + i] : 0.0f;
    __syncthreads();
    for (int size = 2; size <= 64; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            const int j = i ^ step;
            const float a = values[i], b = values[j];
            __syncthreads();
            const bool rising = (i & size) == 0, lower = i < j;
            if ((fabsf(a) > fabsf(b)) == (rising == lower) && fabsf(a) != fabsf(b)) values[i] = b;
            __syncthreads();
        }
    if (i != 0) return;
    float sum = 0.0f;
    for (int k = 0; k < 64; k++) sum += values[k];
    y[blockIdx.x] = sum;
}
