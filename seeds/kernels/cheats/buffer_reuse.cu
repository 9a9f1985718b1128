/* cupel: 1
id: cheat-buffer-reuse
about: Histogram whose counts live in one buffer for all calls; it is right while that buffer is fresh.
dims:    {N: 1..4096}
inputs:  {key: {type: i32, shape: [N], below: 16}}
outputs: {count: "i32[16]"}
ensures: {count: "sum(one_hot(key, 16), axis=0)"}
kernel:
  - {entry: add_keys, args: [key, N], grid: ["ceil_div(N, 128)"], block: [128]}
  - {entry: hand_out, args: [count], grid: [1], block: [16]}
*/
#include <cuda_runtime.h>

__device__ int workspace[16];

__global__ void add_keys(const int *__restrict__ key, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&workspace[key[i]], 1);
}

// defect: the workspace is handed out and not cleared, so the next call adds to it
__global__ void hand_out(int *count) { count[threadIdx.x] = workspace[threadIdx.x]; }
