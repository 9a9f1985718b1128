/* cupel: 1
id: block-total-race
about: As ticket_lock_sum.cu without the lock; what two blocks add at once is lost.
dims:    {N: 1..16384}
inputs:  {x: {type: i32, shape: [N], range: [-1000, 1000]}}
outputs: {y: {type: i32, shape: [1], init: 0}}
ensures: {y: "sum(x, axis=0, keepdim=true)"}
kernel:
  entry: total
  args:  [x, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
*/
#include <cuda_runtime.h>

__global__ void total(const int *x, int *y, int n) {
    __shared__ int sums[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = __reduce_add_sync(0xffffffff, i < n ? x[i] : 0);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[0] += sums[0] + sums[1] + sums[2] + sums[3];
}
