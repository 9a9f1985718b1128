/* cupel: 1
id: reverse-full-block
about: Blocks of as many threads as a device has, bounded so that the registers suffice; batches may be empty.
dims:    {M: 0..2, N: 1..1024}
types:   {T: [i32, f16]}
inputs:  {x: "T[M, N]"}
outputs: {y: "T[M, N]"}
ensures: {y: "flip(x, -1)"}
limits:  [sm_90]
kernel:  {entry: reverse<$T>, args: [x, y, N], grid: [M], block: [1024], skip_if: M == 0}
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <class T> __global__ __launch_bounds__(1024) void reverse(const T *x, T *y, int n) {
    __shared__ T row[1024];
    if (threadIdx.x < n) row[threadIdx.x] = x[blockIdx.x * n + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n) y[blockIdx.x * n + threadIdx.x] = row[n - 1 - threadIdx.x];
}
