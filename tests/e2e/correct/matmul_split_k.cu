/* cupel: 1
id: matmul-split-k
about: Matrix product whose K is split over blocks; a second kernel adds up the parts in a fixed order.
dims:    {M: 1..16, N: 1..16, K: 1..256}
inputs:  {a: "f32[M, K]", b: "f32[K, N]"}
outputs: {c: "f32[M, N]"}
scratch: {parts: "f32[4, M, N]"}
ensures: {c: "matmul(a, b)"}
deterministic: true
kernel:
  - {entry: multiply_parts, args: [a, b, parts, M, N, K], grid: ["ceil_div(N, 8)", "ceil_div(M, 8)", 4], block: [8, 8]}
  - {entry: add_parts, args: [parts, c, M * N], grid: ["ceil_div(M * N, 64)"], block: [64]}
*/
#include <cuda_runtime.h>

__global__ void multiply_parts(const float *a, const float *b, float *parts, int m, int n, int k) {
    const int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x, split = blockIdx.z;
    if (row >= m || column >= n) return;
    const int share = (k + 3) / 4, end = min(k, (split + 1) * share);
    float sum = 0.0f;
    for (int i = split * share; i < end; i++) sum += a[row * k + i] * b[i * n + column];
    parts[(split * m + row) * n + column] = sum;
}

__global__ void add_parts(const float *parts, float *c, int count) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < count) c[i] = (parts[i] + parts[count + i]) + (parts[2 * count + i] + parts[3 * count + i]);
}
