/* cupel: 1
id: hash-keys
about: 64-bit keys folded by their high half, and their bucket.
dims:    {N: 1..16384}
inputs:  {key: "u64[N]"}
outputs: {folded: "u64[N]", bucket: "u32[N]"}
ensures:
  folded: "key ^ (key >> 33)"
  bucket: "(key ^ (key >> 33)) % 1021"
kernel:
  entry: hash_keys
  args:  [key, folded, bucket, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_runtime.h>

__global__ void hash_keys(const unsigned long long *key, unsigned long long *folded, unsigned int *bucket, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    unsigned long long k = key[i] ^ key[i] >> 33;
    folded[i] = k;
    bucket[i] = (unsigned int)(k % 1021);
}
