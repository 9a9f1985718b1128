/* cupel: 1
id: softmax-backward-sum-of-dy
about: Gradient of softmax that subtracts the plain sum of the upstream gradient.
dims:    {M: 1..512, N: 1..2048}
types:   {T: [f32, f16]}
inputs:  {x: "T[M, N]", dy: "T[M, N]"}
outputs: {dx: "T[M, N]"}
ensures: {dx: "vjp(softmax(x, axis=-1), x, dy)"}
kernel:
  entry: softmax_backward<$T>
  args:  [x, dy, dx, N]
  grid:  [M]
  block: [128]
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 128;

struct Sum {
    __device__ static float of(float a, float b) { return a + b; }
};
struct Largest {
    __device__ static float of(float a, float b) { return isnan(a) || a > b ? a : b; }
};

/* Every thread gets the result; scratch holds one value a thread. */
template <typename Op>
__device__ float block_reduce(float value, float *scratch) {
    __syncthreads();
    scratch[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) scratch[threadIdx.x] = Op::of(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    }
    __syncthreads();
    return scratch[0];
}

template <typename T>
__global__ void softmax_backward(const T *__restrict__ x, const T *__restrict__ dy, T *__restrict__ dx, int N) {
    __shared__ float scratch[THREADS];
    const size_t row = (size_t)blockIdx.x * N;
    float top = -INFINITY;
    for (int i = threadIdx.x; i < N; i += THREADS) top = Largest::of((float)x[row + i], top);
    top = block_reduce<Largest>(top, scratch);

    float exponentials = 0.0f;
    for (int i = threadIdx.x; i < N; i += THREADS) exponentials += expf((float)x[row + i] - top);
    const float total = block_reduce<Sum>(exponentials, scratch);

    float part = 0.0f;
    for (int i = threadIdx.x; i < N; i += THREADS) part += (float)dy[row + i]; // defect: without the weight y
    const float along = block_reduce<Sum>(part, scratch);

    for (int i = threadIdx.x; i < N; i += THREADS) {
        const float y = expf((float)x[row + i] - top) / total;
        dx[row + i] = (T)(y * ((float)dy[row + i] - along));
    }
}
