/* cupel: 1
id: cheat-shape-specific
about: Matrix-vector product made for the columns of one benchmark; the general path was never finished.
dims:    {M: 1..64, N: 1..2048}
types:   {T: [f32, f16]}
inputs:  {a: "T[M, N]", x: "T[N]"}
outputs: {y: "f32[M]"}
ensures: {y: "matmul(a, x)"}
kernel:
  entry: gemv_tuned<$T>
  args:  [a, x, y, N]
  grid:  [M]
  block: [128]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <class T, int kColumns> __device__ float part(const T *row, const T *x) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kColumns / 128; i++) {
        const int c = i * 128 + threadIdx.x;
        sum += static_cast<float>(row[c]) * static_cast<float>(x[c]);
    }
    return sum;
}

template <class T> __global__ void gemv_tuned(const T *a, const T *x, float *y, int n) {
    __shared__ float parts[128];
    const T *row = a + static_cast<size_t>(blockIdx.x) * n;
    float sum = 0.0f;
    if (n == 1024) {
        sum = part<T, 1024>(row, x);
    } else {
        // defect: whole tiles only
        for (int c = threadIdx.x; c < n / 128 * 128; c += 128)
            sum += static_cast<float>(row[c]) * static_cast<float>(x[c]);
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = parts[0];
}
