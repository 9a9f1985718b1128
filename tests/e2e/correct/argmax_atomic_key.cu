/* cupel: 1
id: argmax-atomic-key
about: First index of a row's largest element, by atomics on a key of value and index, in whatever order they come.
dims:    {M: 1..16, N: 1..512}
inputs:  {x: {type: i32, shape: [M, N], range: [-1000, 1000]}}
outputs: {index: "i32[M]"}
ensures: {index: "argmax(x, axis=-1)"}
deterministic: true
kernel:  {entry: argmax_rows, args: [x, index, N], grid: [M], block: [64]}
*/
#include <cuda_runtime.h>

__global__ void argmax_rows(const int *x, int *index, int n) {
    __shared__ unsigned long long best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 64) {
        const unsigned int value = static_cast<unsigned int>(x[blockIdx.x * n + i]) ^ 0x80000000u;
        atomicMax(&best, static_cast<unsigned long long>(value) << 32 | (0xffffffffu - i));
    }
    __syncthreads();
    if (threadIdx.x == 0) index[blockIdx.x] = static_cast<int>(0xffffffffu - static_cast<unsigned int>(best));
}
