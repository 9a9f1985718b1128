/* cupel: 1
id: relu-backward
about: Gradient of relu, 0 at 0 as in PyTorch.
dims:    {N: 1..100000}
types:   {T: [f32, f16]}
inputs:  {x: "T[N]", dy: "T[N]"}
outputs: {dx: "T[N]"}
ensures: {dx: "vjp(relu(x), x, dy)"}
kernel:
  entry: relu_backward<$T>
  args:  [x, dy, dx, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <typename T>
__global__ void relu_backward(const T *__restrict__ x, const T *__restrict__ dy, T *__restrict__ dx, int N) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) dx[i] = (float)x[i] > 0.0f ? dy[i] : (T)0.0f;
}
