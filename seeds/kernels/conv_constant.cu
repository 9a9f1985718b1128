/* cupel: 1
id: conv-constant
about: One-dimensional convolution with five taps in constant memory, which the host fills.
dims:    {N: 5..16384}
inputs:  {x: "f32[1, N]", w: "f32[1, 1, 5]"}
outputs: {y: "f32[1, N-4]"}
ensures: {y: "conv1d(x, w)"}
kernel:
  entry: convolve
  args:  [x, y, N]
  grid:  ["ceil_div(N - 4, 128)"]
  block: [128]
  symbols: {taps: w}
*/
#include <cuda_runtime.h>

#define TAPS 5

__constant__ float taps[TAPS];

__global__ void convolve(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + TAPS > n) return;
    float sum = 0.0f;
    for (int t = 0; t < TAPS; t++) sum += taps[t] * x[i + t];
    y[i] = sum;
}

void launch(const float *x, const float *w, float *y, int n) {
    cudaMemcpyToSymbol(taps, w, sizeof(float) * TAPS);
    convolve<<<(n - TAPS + 128) / 128, 128>>>(x, y, n);
}
