/* cupel: 1
id: file-templates-switch
about: A softmax whose block size and vector width are chosen by macros over lambdas, with a variable that says the type.
dims:    {M: 1..64, N: 1..1024}
types:   {T: [f32, f16, bf16]}
inputs:  {x: "T[M, N]"}
outputs: {y: "T[M, N]"}
ensures: {y: "softmax(x, axis=-1)"}
kernel:
  entry: softmax_kernel<$T, 128, true>
  args:  [x, y, M, N]
  grid:  [M]
  block: [128]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "common.h"

#define BOOL_SWITCH(COND, CONST_NAME, ...)      \
    [&] {                                       \
        if (COND) {                             \
            constexpr bool CONST_NAME = true;   \
            return __VA_ARGS__();               \
        } else {                                \
            constexpr bool CONST_NAME = false;  \
            return __VA_ARGS__();               \
        }                                       \
    }()
#define FP16_SWITCH(KIND, ...)                  \
    [&] {                                       \
        if (KIND == Kind::half) {               \
            using elem_type = __half;           \
            return __VA_ARGS__();               \
        } else if (KIND == Kind::bfloat16) {    \
            using elem_type = __nv_bfloat16;    \
            return __VA_ARGS__();               \
        } else {                                \
            using elem_type = float;            \
            return __VA_ARGS__();               \
        }                                       \
    }()
#define HOST_DEVICE __forceinline__ __host__ __device__

enum class Kind { single, half, bfloat16 };

struct Params {
    const void *x;
    void *y;
    int rows, columns;
    Kind kind;
    cudaStream_t stream;
};

template <typename T> struct MaxOp {
    __device__ __forceinline__ T operator()(const T &a, const T &b) const { return a != a || b != b ? T(NAN) : a > b ? a : b; }
};
template <typename T> struct SumOp {
    __device__ __forceinline__ T operator()(const T &a, const T &b) const { return a + b; }
};
template <int THREADS> struct Allreduce {
    static_assert(THREADS == 32 || THREADS == 16 || THREADS == 8 || THREADS == 4);
    template <typename T, typename Operator> static __device__ __forceinline__ T run(T x, Operator &op) {
        constexpr int OFFSET = THREADS / 2;
        x = op(x, __shfl_xor_sync(uint32_t(-1), x, OFFSET));
        return Allreduce<OFFSET>::run(x, op);
    }
};
template <> struct Allreduce<4> {
    template <typename T, typename Operator> static __device__ __forceinline__ T run(T x, Operator &op) {
        x = op(x, __shfl_xor_sync(uint32_t(-1), x, 2));
        return op(x, __shfl_xor_sync(uint32_t(-1), x, 1));
    }
};
template <int kThreads, typename Operator> __device__ float block_reduce(float v, Operator op, float identity) {
    __shared__ float shared[kThreads / 32];
    v = Allreduce<32>::run(v, op);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < kThreads / 32 ? shared[threadIdx.x % 32] : identity;
    v = Allreduce<32>::run(v, op);
    __syncthreads();
    return v;
}

template <typename T, int kThreads, bool kExact>
__global__ void softmax_kernel(const T *__restrict__ x, T *__restrict__ y, const int rows, const int columns) {
    using acc_t = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const T *row = x + static_cast<int64_t>(blockIdx.x) * columns;
    acc_t largest = -INFINITY, sum = 0;
    MaxOp<acc_t> max_op;
    SumOp<acc_t> sum_op;
    for (int i = threadIdx.x; i < columns; i += kThreads) largest = max_op(largest, static_cast<acc_t>(row[i]));
    largest = block_reduce<kThreads>(largest, max_op, -INFINITY);
    for (int i = threadIdx.x; i < columns; i += kThreads) sum += expf(static_cast<acc_t>(row[i]) - largest);
    sum = block_reduce<kThreads>(sum, sum_op, 0.0f);
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        const acc_t e = expf(static_cast<acc_t>(row[i]) - largest);
        if constexpr (kExact) {
            y[static_cast<int64_t>(blockIdx.x) * columns + i] = static_cast<T>(e / sum);
        } else {
            y[static_cast<int64_t>(blockIdx.x) * columns + i] = static_cast<T>(e * __frcp_rn(sum));
        }
    }
}

void run_softmax(const Params &params, bool exact) {
    FP16_SWITCH(params.kind, [&] {
        BOOL_SWITCH(exact, kExact, [&] {
            auto kernel = &softmax_kernel<elem_type, 128, kExact>;
            const int smem = 0;
            if (smem >= 48 * 1024) CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
            kernel<<<params.rows, 128, smem, params.stream>>>(static_cast<const elem_type *>(params.x),
                                                            static_cast<elem_type *>(params.y), params.rows, params.columns);
        });
    });
}
template void std::vector<Params>::push_back(const Params &);
