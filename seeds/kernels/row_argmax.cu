/* cupel: 1
id: row-argmax
about: Index of the largest element of each row; of equal ones the first, and a NaN is larger than any number.
dims:    {M: 1..256, N: 1..4096}
inputs:  {x: "f32[M, N]"}
outputs: {index: "i32[M]"}
ensures: {index: "argmax(x, axis=-1)"}
kernel:
  entry: argmax_rows
  args:  [x, index, N]
  grid:  [M]
  block: [128]
*/
#include <cuda_runtime.h>
#include <math.h>

#define THREADS 128

// Does (v, i) come before (w, j)? NaN first, then the larger value, then the smaller index.
__device__ bool better(float v, int i, float w, int j) {
    if (isnan(v) || isnan(w)) return isnan(v) && (!isnan(w) || i < j);
    return v > w || (v == w && i < j);
}

__global__ void argmax_rows(const float *x, int *index, int N) {
    __shared__ float values[THREADS];
    __shared__ int places[THREADS];
    const float *row = x + (size_t)blockIdx.x * N;
    float best = -INFINITY;
    int at = N; // past every index: loses against whatever the row holds
    for (int i = threadIdx.x; i < N; i += THREADS)
        if (better(row[i], i, best, at)) best = row[i], at = i;
    values[threadIdx.x] = best;
    places[threadIdx.x] = at;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            float v = values[threadIdx.x + half];
            int i = places[threadIdx.x + half];
            if (better(v, i, values[threadIdx.x], places[threadIdx.x])) {
                values[threadIdx.x] = v;
                places[threadIdx.x] = i;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) index[blockIdx.x] = places[0];
}
