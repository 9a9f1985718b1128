/* cupel: 1
id: leaky-flush-declared
about: Leaky rectifier that takes subnormals for zero; the contract says flush.
dims:    {N: 1..4096}
types:   {T: [f32, bf16]}
inputs:  {x: "T[N]"}
outputs: {y: "T[N]"}
ensures: {y: "leaky_relu(x, negative_slope=0.25)"}
subnormals: flush
kernel:  {entry: leaky<$T>, args: [x, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <float.h>

template <class T> __global__ void leaky(const T *x, T *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = static_cast<float>(x[i]);
    if (fabsf(v) < FLT_MIN) v = 0.0f;
    v = v > 0.0f ? v : 0.25f * v;
    y[i] = static_cast<T>(fabsf(v) < FLT_MIN ? 0.0f : v);
}
