/* cupel: 1
id: ticket-lock-sum
about: Sum of integers; each block adds its own to the total while it holds a lock that is served in order of tickets.
dims:    {N: 1..32768}
inputs:  {x: {type: i32, shape: [N], range: [-1000, 1000]}}
outputs: {y: {type: i32, shape: [1], init: 0}}
scratch: {lock: {type: u32, shape: [2], init: 0}}
ensures: {y: "sum(x, axis=0, keepdim=true)"}
kernel:
  entry: total
  args:  [x, y, lock, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
*/
#include <cuda_runtime.h>

__global__ void total(const int *x, int *y, unsigned *lock, int n) {
    __shared__ int sums[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = __reduce_add_sync(0xffffffff, i < n ? x[i] : 0);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    unsigned ticket = atomicAdd(&lock[0], 1u);
    while (*(volatile unsigned *)&lock[1] != ticket) __nanosleep(20);
    __threadfence();
    *(volatile int *)y += sums[0] + sums[1] + sums[2] + sums[3];
    __threadfence();
    atomicAdd(&lock[1], 1u);
}
