/* cupel: 1
id: prefix-count-int
about: Offsets of ragged rows whose running sum is kept in 32 bits.
dims:    {N: 1..1024}
inputs:  {length: {type: i32, shape: [N], range: [0, 1000000000]}}
outputs: {offset: "i64[N]"}
ensures: {offset: "cumsum(length, 0) - length"}
kernel:
  entry: prefix_count
  args:  [length, offset, N]
  grid:  [1]
  block: [1]
*/
#include <cuda_runtime.h>

__global__ void prefix_count(const int *length, long long *offset, int N) {
    unsigned int sum = 0; // defect: 64 bits are claimed
    for (int i = 0; i < N; i++) {
        offset[i] = sum;
        sum += length[i];
    }
}
