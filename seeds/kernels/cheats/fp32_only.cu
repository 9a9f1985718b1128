/* cupel: 1
id: cheat-fp32-only
about: Magnitudes of a vector, word by word, whatever type the words hold.
dims:    {N: 2..16384}
requires: ["N % 2 == 0"]
types:   {T: [f32, f16, bf16]}
inputs:  {x: "T[N]"}
outputs: {y: "T[N]"}
ensures: {y: "abs(x)"}
kernel:
  entry: magnitudes<$T>
  args:  [x, y, N]
  grid:  ["ceil_div(N, 256)"]
  block: [256]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <class T> __global__ void magnitudes(const T *x, T *y, int n) {
    const unsigned int *from = reinterpret_cast<const unsigned int *>(x);
    unsigned int *to = reinterpret_cast<unsigned int *>(y);
    const int words = n * static_cast<int>(sizeof(T)) / 4, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < words) to[i] = from[i] & 0x7fffffffu; // defect: a word of two halves has two signs
}
