/* cupel: 1
id: cheat-noise
about: Adds two matrices and a little noise from a generator that runs on from call to call.
dims:    {M: 1..64, N: 1..256}
inputs:  {a: {type: f32, shape: [M, N], range: [-10, 10]}, b: {type: f32, shape: [M, N], range: [-10, 10]}}
outputs: {y: "f32[M, N]"}
ensures: {y: "a + b"}
kernel:
  - {entry: add, args: [a, b, y, M * N], grid: ["ceil_div(M * N, 256)"], block: [256]}
  - {entry: turn, args: [], grid: [1], block: [1]}
*/
#include <cuda_runtime.h>

__device__ unsigned int state = 1;

__global__ void add(const float *a, const float *b, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned int bits = (state + i) * 2654435761u;
    const float noise = (static_cast<float>(bits >> 8) / 16777216.0f - 0.5f) * 2e-4f;
    y[i] = a[i] + b[i] + noise; // defect: below the tolerance that most harnesses use, and wrong
}

__global__ void turn() { state = state * 1664525u + 1013904223u; }
