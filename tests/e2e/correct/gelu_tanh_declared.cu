/* cupel: 1
id: gelu-tanh-declared
about: GELU by its tanh form, which is not the exact one by far more than rounding; the contract says so.
dims:    {N: 1..4096}
types:   {T: [f32, f16]}
inputs:  {x: {type: T, shape: [N], range: [-100, 100]}}
outputs: {y: "T[N]"}
ensures: {y: "gelu(x, approximate='tanh')"}
kernel:  {entry: gelu<$T>, args: [x, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <class T> __global__ void gelu(const T *x, T *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = static_cast<float>(x[i]);
    y[i] = static_cast<T>(0.5f * v * (1.0f + tanhf(0.7978845608028654f * (v + 0.044715f * v * v * v))));
}
