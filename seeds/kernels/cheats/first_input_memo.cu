/* cupel: 1
id: cheat-first-input-memo
about: Centres the columns of a batch; the means are those of the first batch, wherever later ones lie.
dims:    {M: 1..128, N: 1..64}
inputs:  {x: {type: f32, shape: [M, N], range: [-100, 100]}}
outputs: {y: "f32[M, N]"}
ensures: {y: "x - mean(x, axis=0, keepdim=true)"}
kernel:
  - {entry: column_means, args: [x, M, N], grid: [1], block: [64]}
  - {entry: centre, args: [x, y, N], grid: [M], block: [64]}
*/
#include <cuda_runtime.h>

__device__ float means[64];
__device__ unsigned int done; // bit mask of the columns whose mean is known, two words
__device__ unsigned int done_high;

__global__ void column_means(const float *x, int m, int n) {
    const int column = threadIdx.x;
    if (column >= n) return;
    unsigned int *word = column < 32 ? &done : &done_high;
    if (*word >> (column % 32) & 1u) return; // defect: the batch is another one by now
    float sum = 0.0f;
    for (int row = 0; row < m; row++) sum += x[row * n + column];
    means[column] = sum / m;
    atomicOr(word, 1u << (column % 32));
}

__global__ void centre(const float *x, float *y, int n) {
    const int column = threadIdx.x;
    if (column < n) y[blockIdx.x * n + column] = x[blockIdx.x * n + column] - means[column];
}
