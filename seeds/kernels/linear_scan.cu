/* cupel: 1
id: linear-scan
about: A linear recurrence along each row, in chunks of 64 steps with a carry.
dims:    {M: 1..8, N: 1..2048}
inputs:  {a: {type: f32, shape: [M, N], range: [0, 1]}, b: "f32[M, N]"}
outputs: {h: "f32[M, N]"}
ensures: {h: "linear_scan(a, b)"}
kernel:
  entry: linear_scan
  args:  [a, b, h, N]
  grid:  [M]
  block: [64]
*/
#include <cuda_runtime.h>

#define CHUNK 64

// h_t = a_t h_{t-1} + b_t, one row a block. A pair (a, h) is what a stretch of steps does to the state before it.
__global__ void linear_scan(const float *a, const float *b, float *h, int n) {
    __shared__ float decays[CHUNK], states[CHUNK];
    const float *row_a = a + (size_t)blockIdx.x * n, *row_b = b + (size_t)blockIdx.x * n;
    float carry = 0.0f;
    for (int begin = 0; begin < n; begin += CHUNK) {
        int i = begin + threadIdx.x;
        float decay = i < n ? row_a[i] : 1.0f, state = i < n ? row_b[i] : 0.0f;
        decays[threadIdx.x] = decay;
        states[threadIdx.x] = state;
        __syncthreads();
        for (int step = 1; step < CHUNK; step *= 2) {
            bool joins = threadIdx.x >= step;
            float decay_before = joins ? decays[threadIdx.x - step] : 1.0f;
            float state_before = joins ? states[threadIdx.x - step] : 0.0f;
            __syncthreads();
            state += decay * state_before;
            decay *= decay_before;
            decays[threadIdx.x] = decay;
            states[threadIdx.x] = state;
            __syncthreads();
        }
        if (begin > 0) state += decay * carry;
        if (i < n) h[(size_t)blockIdx.x * n + i] = state;
        __syncthreads();
        states[threadIdx.x] = state;
        __syncthreads();
        carry = states[CHUNK - 1];
        __syncthreads();
    }
}

void launch_linear_scan(const float *a, const float *b, float *h, int m, int n, cudaStream_t stream) {
    linear_scan<<<m, CHUNK, 0, stream>>>(a, b, h, n);
}
