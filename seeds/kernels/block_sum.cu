/* cupel: 1
id: block-sum
about: Sum of each row, one block of B threads a row, B being anything a device takes.
dims:    {M: 1..256, N: 1..16384, B: 1..1024}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M]"}
ensures: {y: "sum(x, axis=-1)"}
kernel:
  entry: row_sum
  args:  [x, y, N]
  grid:  [M]
  block: [B]
  shared: "B * 4"
*/
#include <cuda_runtime.h>

__global__ void row_sum(const float *x, float *y, int N) {
    extern __shared__ float partial[];
    const float *row = x + (size_t)blockIdx.x * N;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += blockDim.x) sum += row[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned n = blockDim.x; n > 1;) {
        unsigned half = (n + 1) / 2;
        if (threadIdx.x < n - half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
        n = half;
    }
    if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}

void row_sum_host(const float *x, float *y, int M, int N, int threads) {
    row_sum<<<M, threads, threads * sizeof(float)>>>(x, y, N);
}
