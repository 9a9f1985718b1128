// entries: layernorm_forward_kernel3; adamw_kernel<float, float>; encoder_forward; softmax_forward_kernel; attention::scores; matmul_backward_bias<__nv_bfloat16>
// Long training files: macros for the float type, C standard library on the host, constants and device globals, functors.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <assert.h>
#include <unistd.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cublasLt.h>
#include <nvtx3/nvToolsExt.h>
#include "missing/dataloader.h"

#if defined(ENABLE_BF16)
typedef __nv_bfloat16 floatX;
#define CUBLAS_LOWP CUDA_R_16BF
#else
typedef float floatX;
#define CUBLAS_LOWP CUDA_R_32F
#endif
#define WARP_SIZE 32U
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
static size_t cublaslt_workspace_size = 32 * 1024 * 1024;
static void *cublaslt_workspace = NULL;
static cublasComputeType_t cublas_compute_type;
cublasLtHandle_t cublaslt_handle;
cudaDeviceProp deviceProp;
int cuda_arch_major = 0;

class NvtxRange {
 public:
    NvtxRange(const char *s) { nvtxRangePush(s); }
    NvtxRange(const std::string &base_str, int number) {
        std::string range_string = base_str + " " + std::to_string(number);
        nvtxRangePush(range_string.c_str());
    }
    ~NvtxRange() { nvtxRangePop(); }
};
#define NVTX_RANGE_FN() NvtxRange nvtx_range(__FUNCTION__)

typedef struct {
    int max_seq_len;
    int vocab_size;
} GPT2Config;
constexpr const int NUM_PARAMETER_TENSORS = 16;
typedef struct {
    floatX *wte;
    float *wpe;
} ParameterTensors;
static_assert(sizeof(ParameterTensors) == 2 * sizeof(void *), "Inconsistent sizes!");

__device__ float *scratch;
__constant__ float d_rng_scale = 0.5f;

__device__ float4 add_float4(const float4 &a, const float4 &b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
template <class D, class S> __device__ D cast_value(S val);
template <> __device__ float cast_value<float, float>(float val) { return val; }
template <> __device__ float cast_value<float, __nv_bfloat16>(__nv_bfloat16 val) { return __bfloat162float(val); }

using reduction_func_t = float (*)(float);
__device__ inline float warpReduceSum(float val) {
    for (int offset = 16; offset > 0; offset /= 2) val += __shfl_xor_sync(0xFFFFFFFF, val, offset);
    return val;
}
template <reduction_func_t warp_reduction>
__device__ inline float blockReduce(float val, bool final_sync = false, float out_of_bounds = 0.0f) {
    __shared__ float shared_val[WARP_SIZE];
    const int lane_id = threadIdx.x % WARP_SIZE, warp_id = threadIdx.x / WARP_SIZE, num_warps = blockDim.x / WARP_SIZE;
    float warp_val = warp_reduction(val);
    if (lane_id == 0) { shared_val[warp_id] = warp_val; }
    __syncthreads();
    warp_val = (lane_id < num_warps) ? shared_val[lane_id] : out_of_bounds;
    float block_val = warp_reduction(warp_val);
    if (final_sync) { __syncthreads(); }
    return block_val;
}

__global__ void layernorm_forward_kernel3(floatX *__restrict__ out, float *__restrict__ mean, const floatX *__restrict__ inp, int N, int C) {
    int lane_id = threadIdx.x % WARP_SIZE, idx = blockIdx.x * (blockDim.x / WARP_SIZE) + threadIdx.x / WARP_SIZE;
    if (idx >= N) { return; }
    const floatX *x = inp + idx * C;
    float sum = 0.0f;
    for (int i = lane_id; i < C; i += WARP_SIZE) { sum += (float)x[i]; }
    float m = warpReduceSum(sum) / C;
    if (lane_id == 0 && mean != nullptr) { __stcs(mean + idx, m); }
    for (int c = lane_id; c < C; c += WARP_SIZE) { __stcs(out + idx * C + c, (floatX)(((float)__ldcs(x + c) - m) * rsqrtf(m + 1e-5f))); }
}

__device__ float lerp(float start, float end, float weight) { return fma(weight, end, fma(-weight, start, start)); }
template <typename Tp, typename Tg>
__global__ void adamw_kernel(Tp *params_memory, float *master, Tg *grads, float *m_memory, size_t num_parameters, ptrdiff_t w_stride, float learning_rate,
                             float beta1, unsigned int seed) {
    size_t idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= num_parameters) { return; }
    float grad = (float)grads[idx];
    m_memory[idx] = lerp(grad, m_memory[idx], beta1);
    params_memory[idx + blockIdx.y * w_stride] -= learning_rate * m_memory[idx] * d_rng_scale;
    if (scratch != NULL) scratch[0] = seed;
}

__global__ void encoder_forward(floatX *out, const int *inp, const floatX *wte, int B, int T, int C) {
    int idx = (blockIdx.x * blockDim.x + threadIdx.x);
    int N = B * T * C;
    if (idx >= N) { return; }
    out[idx] = wte[(size_t)inp[idx / C] * C + idx % C];
}

__global__ void __launch_bounds__(1024, 1) softmax_forward_kernel(float *x, int n) {
    float v = threadIdx.x < n ? x[threadIdx.x] : 0.f;
    x[threadIdx.x] = v / blockReduce<warpReduceSum>(v);
}

namespace attention {
template <int D> struct Tile { float data[D]; __device__ float &at(int i) { return data[i]; } };
__global__ void scores(float *s, Tile<4> t, const GPT2Config config) { s[threadIdx.x] = t.at(threadIdx.x & 3) + config.vocab_size; }
}

template <typename T> __global__ void matmul_backward_bias(float *dbias, const T *dout, int OC) {
    int i = threadIdx.x;
    if (i < OC) atomicAdd(&dbias[i], cast_value<float>(dout[i]));
}

void layernorm_forward(floatX *out, float *mean, floatX *inp, int B, int T, int C, cudaStream_t stream) {
    NVTX_RANGE_FN();
    layernorm_forward_kernel3<<<CEIL_DIV(B * T, 8), 256, 0, stream>>>(out, mean, inp, B * T, C);
    cudaCheck(cudaGetLastError());
}
void gpt2_write_to_checkpoint(GPT2 *model, const char *checkpoint_path) {
    FILE *model_file = fopenCheck(checkpoint_path, "wb");
    int model_header[256];
    memset(model_header, 0, sizeof(model_header));
    printf0("Writing model to %s\n", checkpoint_path);
    fcloseCheck(model_file);
}
#ifndef TESTING
int main(int argc, char *argv[]) {
    GPT2 model;
    DataLoader loader;
    for (int i = 1; i < argc; i += 2) { if (argv[i][0] != '-') { exit(EXIT_FAILURE); } }
    return 0;
}
#endif
