/* cupel: 1
id: histogram-atomics
about: Counts small keys by atomics from all threads of all blocks; integers do not mind the order.
dims:    {N: 1..1024}
inputs:  {key: {type: u8, shape: [N], below: 16}}
outputs: {count: {type: u32, shape: [16], init: 0}}
ensures: {count: "sum(one_hot(key, 16), axis=0)"}
deterministic: true
kernel:  {entry: histogram, args: [key, count, N], grid: ["ceil_div(N, 256)"], block: [128]}
*/
#include <cuda_runtime.h>

__global__ void histogram(const unsigned char *key, unsigned int *count, int n) {
    __shared__ unsigned int mine[16];
    for (int i = threadIdx.x; i < 16; i += 128) mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < min(n, (blockIdx.x + 1) * 256); i += 128) atomicAdd(&mine[key[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 16; i += 128)
        if (mine[i]) atomicAdd(&count[i], mine[i]);
}
