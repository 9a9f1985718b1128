// Element-wise operators and a two-stage sum of a small transformer, with their host side: nothing here was
// written for a checker but the contracts.
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#define CUDA_CHECK(call)                                                                                     \
    do {                                                                                                     \
        cudaError_t status_ = (call);                                                                        \
        if (status_ != cudaSuccess) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));                 \
            exit(EXIT_FAILURE);                                                                              \
        }                                                                                                    \
    } while (0)

static cublasHandle_t cublas;
static std::vector<float> host_weights(1024, 0.5f);
static const std::string program_name = "transformer_ops";

template <typename T> struct Pack {
    T v[4];
};

/* cupel: 1
id: bias-gelu
about: y = gelu(x + bias), bias broadcast over rows, tanh form.
dims:    {M: 1..256, N: 1..1024}
types:   {T: [f32, f16]}
inputs:  {x: "T[M, N]", bias: "T[N]"}
outputs: {y: "T[M, N]"}
ensures: {y: "gelu(x + bias, approximate=\"tanh\")"}
kernel:
  entry: bias_gelu<$T>
  args:  [y, x, bias, {"M * N": i32}, N]
  grid:  ["ceil_div(M * N, 256)"]
  block: [256]
*/
template <typename T> __global__ void bias_gelu(T *y, const T *x, const T *bias, int count, int columns) {
    const float k = 0.7978845608028654f; // sqrt(2 / pi)
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float v = (float)x[i] + (float)bias[i % columns];
        y[i] = (T)(0.5f * v * (1.0f + tanhf(k * (v + 0.044715f * v * v * v))));
    }
}

/* cupel: 1
id: residual-add
about: residual += x in place, four halves at a time.
dims:    {N: 1..65536}
inputs:  {residual: "f16[N]", x: "f16[N]"}
outputs: {residual: "f16[N]"}
ensures: {residual: "residual + x"}
kernel:
  entry: residual_add
  args:  [residual, x, N]
  grid:  ["ceil_div(N, 1024)"]
  block: [256]
*/
__global__ void residual_add(half *residual, const half *x, int n) {
    int base = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (base + 4 <= n) {
        Pack<half> a = *reinterpret_cast<const Pack<half> *>(residual + base);
        const half2 *b = reinterpret_cast<const half2 *>(x + base);
        half2 low = __hadd2(make_half2(a.v[0], a.v[1]), b[0]);
        half2 high = __hadd2(make_half2(a.v[2], a.v[3]), b[1]);
        half2 *out = reinterpret_cast<half2 *>(residual + base);
        out[0] = low;
        out[1] = high;
    } else {
        for (int i = base; i < n; i++) residual[i] = __hadd(residual[i], x[i]);
    }
}

/* cupel: 1
id: two-stage-sum
about: Sum of a vector, a block's partial sums first, then one block over them.
dims:    {N: 1..100000}
let:     {G: "min(64, ceil_div(N, 512))"}
inputs:  {x: "f32[N]"}
outputs: {total: "f32[1]"}
scratch: {partial: "f32[G]"}
ensures: {total: "sum(x, axis=0, keepdim=true)"}
kernel:
  - {entry: partial_sums, args: [x, partial, N], grid: [G], block: [256]}
  - {entry: partial_sums, args: [partial, total, G], grid: [1], block: [256]}
*/
__global__ void partial_sums(const float *x, float *sums, int n) {
    __shared__ float warp_sums[8];
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    for (int offset = 16; offset; offset >>= 1) v += __shfl_down_sync(0xffffffffu, v, offset);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 8) {
        v = warp_sums[threadIdx.x];
        for (int offset = 4; offset; offset >>= 1) v += __shfl_down_sync(0xffu, v, offset);
        if (threadIdx.x == 0) sums[blockIdx.x] = v;
    }
}

class Workspace {
  public:
    explicit Workspace(size_t bytes) { CUDA_CHECK(cudaMalloc(&pointer_, bytes)); }
    ~Workspace() { cudaFree(pointer_); }
    template <typename T> T *as() { return static_cast<T *>(pointer_); }

  private:
    void *pointer_ = nullptr;
};

template <typename T> void run_bias_gelu(T *y, const T *x, const T *bias, int rows, int columns, cudaStream_t s = 0) {
    int count = rows * columns;
    bias_gelu<T><<<(count + 255) / 256, 256, 0, s>>>(y, x, bias, count, columns);
    CUDA_CHECK(cudaGetLastError());
}

void project(float *out, const float *in, const float *weight, int m, int n, int k) {
    const float one = 1.0f, zero = 0.0f;
    cublasStatus_t status = cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, weight, n, in, k, &zero, out, n);
    assert(status == CUBLAS_STATUS_SUCCESS);
}

float total(const std::vector<float> &values) {
    Workspace x(values.size() * sizeof(float)), partial(64 * sizeof(float)), result(sizeof(float));
    CUDA_CHECK(cudaMemcpy(x.as<float>(), values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    int n = static_cast<int>(values.size()), blocks = std::min(64, (n + 511) / 512);
    partial_sums<<<blocks, 256>>>(x.as<float>(), partial.as<float>(), n);
    partial_sums<<<1, 256>>>(partial.as<float>(), result.as<float>(), blocks);
    float sum = 0.0f;
    CUDA_CHECK(cudaMemcpy(&sum, result.as<float>(), sizeof sum, cudaMemcpyDeviceToHost));
    return sum;
}

int main(int argc, char **argv) {
    cublasCreate(&cublas);
    auto weights = std::make_unique<Workspace>(host_weights.size() * sizeof(float));
    auto report = [&](const char *what, float value) { printf("%s: %s %g\n", program_name.c_str(), what, value); };
    report("sum", total(host_weights));
    run_bias_gelu(weights->as<float>(), weights->as<float>(), weights->as<float>(), 4, 256);
    cublasDestroy(cublas);
    return argc > 1 && argv[1] ? 1 : 0;
}
