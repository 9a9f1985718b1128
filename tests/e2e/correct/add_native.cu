/* cupel: 1
id: add-native
about: Adds vectors in their own type, without a float in sight; one operation rounds once either way.
dims:    {N: 1..4096}
types:   {T: [f32, f16, bf16]}
inputs:  {a: "T[N]", b: "T[N]"}
outputs: {y: "T[N]"}
ensures: {y: "a + b"}
kernel:  {entry: add<$T>, args: [a, b, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <class T> __global__ void add(const T *a, const T *b, T *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i];
}
