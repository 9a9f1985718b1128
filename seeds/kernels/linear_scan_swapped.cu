/* cupel: 1
id: linear-scan-swapped
about: A linear recurrence by warp scans; the lanes combine their pairs with the operands swapped.
dims:    {M: 1..16, N: 1..256}
inputs:  {a: {type: f32, shape: [M, N], range: [-1, 1]}, b: {type: f32, shape: [M, N], range: [-8, 8]}}
outputs: {h: "f32[M, N]"}
ensures: {h: "linear_scan(a, b)"}
kernel:
  entry: scan_rows
  args:  [a, b, h, N]
  grid:  [M]
  block: [32]
*/
#include <cuda_runtime.h>

struct step {
    float decay, state;
};

// What `first` and then `second` do to a state. The operator does not commute.
__device__ step combine(step first, step second) {
    return {first.decay * second.decay, second.decay * first.state + second.state};
}

__global__ void scan_rows(const float *a, const float *b, float *h, int n) {
    const int lane = threadIdx.x;
    const size_t row = static_cast<size_t>(blockIdx.x) * n;
    float carry = 0.0f;
    for (int begin = 0; begin < n; begin += 32) {
        const int i = begin + lane;
        step mine = {i < n ? a[row + i] : 1.0f, i < n ? b[row + i] : 0.0f};
        for (int d = 1; d < 32; d *= 2) {
            const step before = {__shfl_up_sync(~0u, mine.decay, d), __shfl_up_sync(~0u, mine.state, d)};
            if (lane >= d) mine = combine(mine, before); // defect: before comes first
        }
        const float state = begin > 0 ? mine.decay * carry + mine.state : mine.state;
        if (i < n) h[row + i] = state;
        carry = __shfl_sync(~0u, state, 31);
    }
}
