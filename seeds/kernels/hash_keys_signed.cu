/* cupel: 1
id: hash-keys-signed
about: 64-bit keys folded by a signed shift.
dims:    {N: 1..4096}
inputs:  {key: "u64[N]"}
outputs: {folded: "u64[N]"}
ensures: {folded: "key ^ (key >> 33)"}
kernel:
  entry: hash_keys
  args:  [key, folded, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_runtime.h>

__global__ void hash_keys(const unsigned long long *key, unsigned long long *folded, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) folded[i] = key[i] ^ (long long)key[i] >> 33; // defect: the sign comes along
}
