/* cupel: 1
id: silu-gate-empty
about: Gated activation that claims batches without rows; its launcher does not look.
dims:    {M: 0..64, N: 1..512}
types:   {T: [f32, bf16]}
inputs:  {gate: {type: T, shape: [M, N], range: [-20, 20]}, up: {type: T, shape: [M, N], range: [-20, 20]}}
outputs: {y: "T[M, N]"}
ensures: {y: "silu(gate) * up"}
limits: [sm_90]
kernel:
  entry: silu_gate<$T>
  args:  [gate, up, y, M * N]
  grid:  ["ceil_div(M * N, 256)"]
  block: [256]
*/
#include <cuda_bf16.h>
#include <cuda_runtime.h>

template <class T> __global__ void silu_gate(const T *gate, const T *up, T *y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float g = static_cast<float>(gate[i]);
    y[i] = static_cast<T>(g / (1.0f + expf(-g)) * static_cast<float>(up[i]));
}

// defect: a grid of no blocks is an error
template <class T> void launch(const T *gate, const T *up, T *y, int m, int n, cudaStream_t stream) {
    silu_gate<T><<<(m * n + 255) / 256, 256, 0, stream>>>(gate, up, y, m * n);
}
