/* cupel: 1
id: column-mean-half
about: Means of columns of halves, one thread a column; partial sums of 64 rows meet in shared memory as halves.
dims:    {M: 1..1024, N: 1..64}
inputs:  {x: {type: f16, shape: [M, N], range: [-100, 100]}}
outputs: {y: "f32[N]"}
ensures: {y: "mean(x, axis=0)"}
kernel:
  entry: column_mean
  args:  [x, y, M, N]
  grid:  ["ceil_div(N, 32)"]
  block: [32, 16]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void column_mean(const __half *x, float *y, int m, int n) {
    __shared__ __half parts[16][33]; // defect: a float sum is cut back to a half here
    const int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (column < n)
        for (int row = threadIdx.y; row < m; row += 16) sum += __half2float(x[row * n + column]);
    parts[threadIdx.y][threadIdx.x] = __float2half(sum);
    __syncthreads();
    if (threadIdx.y != 0 || column >= n) return;
    float total = 0.0f;
    for (int part = 0; part < 16; part++) total += __half2float(parts[part][threadIdx.x]);
    y[column] = total / m;
}
