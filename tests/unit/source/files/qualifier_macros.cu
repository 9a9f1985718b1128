// entries: k_float; scaled<float>; plain
// Qualifiers, whole kernels and host launchers behind macros.
#include "include/common.cuh"

#ifdef __CUDACC__
#define HD __host__ __device__ __forceinline__
#define DEV __device__
#else
#define HD
#define DEV
#endif
#define KERNEL __global__ void
#define DEFINE_KERNEL(T)                                       \
    __global__ void k_##T(const T *x, T *y, int n) {           \
        int i = CUDA_1D_INDEX;                                 \
        if (i < n) y[i] = square(x[i]);                        \
    }
#define DEFINE_LAUNCHER(T)                                     \
    void launch_##T(const T *x, T *y, int n) { k_##T<<<CEIL(n, 256), 256>>>(x, y, n); std::cout << n; }
#define CUDA_1D_INDEX (blockIdx.x * blockDim.x + threadIdx.x)

template <typename T> HD T square(T x) { return x * x; }

DEFINE_KERNEL(float)
DEFINE_LAUNCHER(float)
DEFINE_KERNEL(double);
DEFINE_LAUNCHER(double);

UNKNOWN_REGISTRATION(k_float, "x")

template <typename T>
KERNEL scaled(T *x, int n, T s)
{
    CUDA_KERNEL_LOOP(i, n) { x[i] = clamp01(x[i] * s); }
}

DEV float offset = 1.5f;
DEV int table[4] = {1, 2, 3, 4};
__constant__ float weights[8];
int host_counter = 4;

CUDA_GLOBAL(plain)(float *x) {
    x[threadIdx.x] += offset + weights[threadIdx.x & 7] + table[threadIdx.x & 3];
}
