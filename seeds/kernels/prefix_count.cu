/* cupel: 1
id: prefix-count
about: Offsets of ragged rows - the running sum of 64-bit lengths before each row.
dims:    {N: 1..1024}
inputs:  {length: {type: i64, shape: [N], range: [0, 4503599627370496]}}
outputs: {offset: "i64[N]", total: "i64[]"}
ensures:
  offset: "cumsum(length, 0) - length"
  total:  "sum(length)"
kernel:
  entry: prefix_count
  args:  [length, offset, total, N]
  grid:  [1]
  block: [1024]
*/
#include <cuda_runtime.h>

__global__ void prefix_count(const long long *length, long long *offset, long long *total, int N) {
    __shared__ long long sums[1024];
    int i = threadIdx.x;
    long long own = i < N ? length[i] : 0;
    sums[i] = own;
    __syncthreads();
    for (int step = 1; step < 1024; step *= 2) {
        long long other = i >= step ? sums[i - step] : 0;
        __syncthreads();
        sums[i] += other;
        __syncthreads();
    }
    if (i < N) offset[i] = sums[i] - own;
    if (i == N - 1) *total = sums[i];
}
