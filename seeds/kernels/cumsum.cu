/* cupel: 1
id: row-cumsum
about: Running sum along each row, one block a row, 128 elements at a time with a carry.
dims:    {M: 1..256, N: 1..4096}
inputs:  {x: "f32[M, N]"}
outputs: {y: "f32[M, N]"}
ensures: {y: "cumsum(x, axis=-1)"}
kernel:
  entry: cumsum_rows
  args:  [x, y, N]
  grid:  [M]
  block: [128]
*/
#include <cuda_runtime.h>

#define CHUNK 128

__global__ void cumsum_rows(const float *x, float *y, int N) {
    __shared__ float scan[2][CHUNK];
    x += (size_t)blockIdx.x * N;
    y += (size_t)blockIdx.x * N;
    float carry = 0.0f;
    for (int start = 0; start < N; start += CHUNK) {
        int i = start + threadIdx.x, from = 0;
        scan[0][threadIdx.x] = i < N ? x[i] : 0.0f;
        __syncthreads();
        for (int step = 1; step < CHUNK; step *= 2) { // Hillis and Steele
            float v = scan[from][threadIdx.x];
            if (threadIdx.x >= step) v += scan[from][threadIdx.x - step];
            scan[1 - from][threadIdx.x] = v;
            from = 1 - from;
            __syncthreads();
        }
        if (i < N) y[i] = carry + scan[from][threadIdx.x];
        carry += scan[from][CHUNK - 1];
        __syncthreads();
    }
}
