/* cupel: 1
id: scale-by-largest-cached
about: Divides a vector by its largest magnitude, which is computed for the first vector alone.
dims:    {N: 1..16384}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "x / amax(abs(x))"}
kernel:
  - entry: find_scale
    args:  [x, N]
    grid:  [1]
    block: [256]
  - entry: divide
    args:  [x, y, N]
    grid:  ["ceil_div(N, 256)"]
    block: [256]
*/
#include <cuda_runtime.h>
#include <math.h>

__device__ float scale;
__device__ bool ready;

__device__ float larger(float a, float b) { return isnan(a) || a > b ? a : b; }

__global__ void find_scale(const float *x, int n) {
    __shared__ float largest[256];
    if (ready) return; // defect: the vector may be another one by now
    float best = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) best = larger(best, fabsf(x[i]));
    largest[threadIdx.x] = best;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) largest[threadIdx.x] = larger(largest[threadIdx.x], largest[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        scale = largest[0];
        ready = true;
    }
}

__global__ void divide(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] / scale;
}

void normalise(const float *x, float *y, int n) {
    find_scale<<<1, 256>>>(x, n);
    divide<<<(n + 255) / 256, 256>>>(x, y, n);
}
