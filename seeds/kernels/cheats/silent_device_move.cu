/* cupel: 1
id: cheat-silent-device-move
about: Leaves its result in memory of its own, from which the launcher moves it to the host and returns that.
dims:    {N: 1..1024}
inputs:  {x: {type: f32, shape: [N], range: [-10, 10]}}
outputs: {y: "f32[N]"}
ensures: {y: "exp(x)"}
kernel:
  entry: exp_staged
  args:  [x, y, N]
  grid:  ["ceil_div(N, 128)"]
  block: [128]
*/
#include <cuda_runtime.h>
#include <math.h>

__device__ float staged[1024];

__global__ void exp_staged(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) staged[i] = expf(x[i]); // defect: y, on the device, is never written
}

const float *launch(const float *x, float *y, int n, cudaStream_t stream) {
    static float host[1024];
    exp_staged<<<(n + 127) / 128, 128, 0, stream>>>(x, y, n);
    cudaMemcpyFromSymbol(host, staged, n * sizeof(float));
    return host;
}
