/* cupel: 1
id: float-only
about: Refuses to compile for any type but float, and claims no other.
dims:    {N: 1..4096}
inputs:  {x: "f32[N]"}
outputs: {y: "f32[N]"}
ensures: {y: "x * x"}
kernel:  {entry: square<float>, args: [x, y, N], grid: ["ceil_div(N, 128)"], block: [128]}
*/
#include <cuda_runtime.h>

template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;

template <class T> __global__ void square(const T *x, T *y, int n) {
    static_assert(same<T, float>, "float only");
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}
