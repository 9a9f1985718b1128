/* cupel: 1
id: rope-head-sizes
about: Rotary embedding for two head sizes and even numbers of tokens, no others; the contract claims no more.
dims:    {L: 2..128, D: [64, 128]}
requires: ["L % 2 == 0"]
types:   {T: [f32, bf16]}
inputs:
  x: {type: T, shape: [L, D], range: [-10, 10]}
  cos: {type: f32, shape: [L, D / 2], range: [-1, 1]}
  sin: {type: f32, shape: [L, D / 2], range: [-1, 1]}
outputs: {y: "T[L, D]"}
ensures: {y: "rope(x, cos, sin)"}
kernel:  {entry: "rope<$T, $D>", args: [x, cos, sin, y], grid: [L / 2], block: [D / 2, 2]}
*/
#include <cuda_bf16.h>
#include <cuda_runtime.h>

template <class T, int D> __global__ void rope(const T *x, const float *cos, const float *sin, T *y) {
    static_assert(D == 64 || D == 128, "head sizes");
    const int row = 2 * blockIdx.x + threadIdx.y, i = threadIdx.x;
    const float a = static_cast<float>(x[row * D + i]), b = static_cast<float>(x[row * D + i + D / 2]);
    const float c = cos[row * (D / 2) + i], s = sin[row * (D / 2) + i];
    y[row * D + i] = static_cast<T>(a * c - b * s);
    y[row * D + i + D / 2] = static_cast<T>(b * c + a * s);
}
