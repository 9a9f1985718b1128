/* cupel: 1
id: bf16-store-truncates
about: Product of two vectors, stored as a type that is packed by hand.
dims:    {N: 1..16384}
types:   {T: [f32, bf16]}
inputs:  {a: {type: f32, shape: [N], finite: true}, b: {type: f32, shape: [N], finite: true}}
outputs: {y: "T[N]"}
ensures: {y: "a * b"}
math: precise
kernel:
  entry: multiply<$T>
  args:  [a, b, y, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_bf16.h>
#include <cuda_runtime.h>

template <class T> struct store;

template <> struct store<float> {
    static __device__ void put(float *to, float v) { *to = v; }
};

template <> struct store<__nv_bfloat16> {
    static __device__ void put(__nv_bfloat16 *to, float v) {
        // defect: the upper half of a float is the number rounded towards zero
        *reinterpret_cast<unsigned short *>(to) = static_cast<unsigned short>(__float_as_uint(v) >> 16);
    }
};

template <class T> __global__ void multiply(const float *a, const float *b, T *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) store<T>::put(y + i, a[i] * b[i]);
}
