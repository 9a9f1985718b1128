/* cupel: 1
id: clamp-bound-for-nan
about: Clamps four elements a thread; NaN comes out as a bound.
dims:    {N: 4..16384}
requires: ["N % 4 == 0"]
types:   {T: [f32, f16]}
inputs:  {x: "T[N]"}
outputs: {y: "T[N]"}
ensures: {y: "clamp(x, min=-1, max=1)"}
kernel:
  entry: clamp4<$T>
  args:  [x, y, N / 4]
  grid:  ["ceil_div(N, 1024)"]
  block: [256]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <class T> struct alignas(4 * sizeof(T)) four {
    T at[4];
};

template <class T> __global__ void clamp4(const T *x, T *y, int quarters) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quarters) return;
    four<T> v = reinterpret_cast<const four<T> *>(x)[i];
    for (T &element : v.at) {
        const float f = static_cast<float>(element);
        element = static_cast<T>(f < 1.0f ? (f > -1.0f ? f : -1.0f) : 1.0f); // defect: NaN fails the first test
    }
    reinterpret_cast<four<T> *>(y)[i] = v;
}
