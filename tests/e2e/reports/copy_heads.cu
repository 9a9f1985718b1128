/* cupel: 1
id: copy-heads
about: Copies rows of a head into a cache whose rows are longer; 16 bytes at a time where the source's address allows it.
dims:    {T: 1..32, D: [8, 16, 32, 46, 48, 64, 80], S: [46, 64, 80, 96]}
requires: ["D <= S"]
inputs:  {k: "f16[T, D]"}
outputs: {cache: "f16[T, S]"}
ensures: {cache: "pad(k, [0, S - D])"}
kernel:
  - {entry: clear, args: [cache, "T * S"], grid: ["ceil_div(T * S, 256)"], block: [256]}
  - {entry: copy_rows, args: [k, cache, D, S], grid: [T], block: [32]}
*/
#include <cuda_fp16.h>

__global__ void clear(__half *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = __float2half(0.0f);
}

__global__ void copy_rows(const __half *k, __half *cache, int D, int S) {
    const __half *from = k + (size_t)blockIdx.x * D;
    __half *to = cache + (size_t)blockIdx.x * S;
    if (D % 8 == 0 && reinterpret_cast<uintptr_t>(from) % 16 == 0) { // defect: the target's address counts too
        for (int i = threadIdx.x; i < D / 8; i += blockDim.x)
            reinterpret_cast<int4 *>(to)[i] = reinterpret_cast<const int4 *>(from)[i]; // line: store
        return;
    }
    for (int i = threadIdx.x; i < D; i += blockDim.x) to[i] = from[i];
}
