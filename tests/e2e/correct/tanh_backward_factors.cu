/* cupel: 1
id: tanh-backward-factors
about: Backward of tanh as dy (1 - y)(1 + y), which rounds otherwise than dy (1 - y y).
dims:    {N: 1..4096}
types:   {T: [f32, f16]}
inputs:  {x: {type: T, shape: [N], range: [-20, 20]}, dy: {type: T, shape: [N], range: [-100, 100]}}
outputs: {dx: "T[N]"}
ensures: {dx: "vjp(tanh(x), x, dy)"}
kernel:  {entry: tanh_backward<$T>, args: [x, dy, dx, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <class T> __global__ void tanh_backward(const T *x, const T *dy, T *dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float y = tanhf(static_cast<float>(x[i]));
    dx[i] = static_cast<T>(static_cast<float>(dy[i]) * (1.0f - y) * (1.0f + y));
}
