/* cupel: 1
id: cumsum-sequential
about: Running sums and products of rows, one float each all along; they drift as their lengths allow.
dims:    {M: 1..32, N: 1..1024}
inputs:  {x: {type: f32, shape: [M, N], finite: true}}
outputs: {s: "f32[M, N]", p: "f32[M, N]"}
ensures: {s: "cumsum(x, axis=-1)", p: "cumprod(x, axis=-1)"}
kernel:  {entry: run, args: [x, s, p, M, N], grid: [1], block: [32]}
*/
#include <cuda_runtime.h>

__global__ void run(const float *x, float *s, float *p, int m, int n) {
    if (threadIdx.x >= m) return;
    float sum = 0.0f, product = 1.0f;
    for (int i = threadIdx.x * n; i < (threadIdx.x + 1) * n; i++) {
        s[i] = sum += x[i];
        p[i] = product *= x[i];
    }
}
