// entries: typed<float>; typed<double>; raw; twice; wrapped<float4>; wrapped<half>; volatile_tail; global_scope; ns::in_namespace; through_macro; rows
// Every way to write dynamic shared memory.
#include <cuda_runtime.h>
#include <cuda_fp16.h>

template <typename T> __global__ void typed(T *x) {
    extern __shared__ T tile[];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x ^ 1];
}

__global__ void raw(float *x, int n) {
    extern __shared__ __align__(16) unsigned char bytes[];
    float *a = reinterpret_cast<float *>(bytes), *b = (float *)&bytes[n * sizeof(float)];
    a[threadIdx.x] = b[threadIdx.x] = x[threadIdx.x];
}

__global__ void twice(float *x) {
    {
        extern __shared__ float first[];
        first[0] = x[0];
    }
    extern __shared__ alignas(16) float4 second[];
    second[threadIdx.x] = make_float4(0, 0, 0, 0);
}

template <typename T> struct SharedMemory {
    __device__ inline operator T *() {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
    __device__ inline operator const T *() const {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
};
template <class T> __global__ void wrapped(T *x) {
    T *s = SharedMemory<T>();
    s[threadIdx.x] = x[threadIdx.x];
}

__global__ void volatile_tail(float *x) {
    extern volatile __shared__ float sdata[];
    sdata[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 16) sdata[threadIdx.x] += sdata[threadIdx.x + 16];
}

extern __shared__ float smem[];
extern __shared__ float smem[];
struct Shadow { float smem; };
__global__ void global_scope(float *x, Shadow s) {
    smem[threadIdx.x] = x[threadIdx.x] + s.smem;
    float4 *v = reinterpret_cast<float4 *>(smem);
    x[0] = v[0].x + *(smem + 1);
}

namespace ns {
extern __shared__ __align__(8) double buffer[];
__global__ void in_namespace(double *x) { buffer[threadIdx.x] = x[threadIdx.x]; }
}

#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
__global__ void through_macro(float *x) {
    DYNAMIC_SHARED(float, mine);
    mine[threadIdx.x] = x[threadIdx.x];
}

__global__ void rows(float *x) {
    __shared__ extern float grid_tile[][33];
    grid_tile[threadIdx.y][threadIdx.x] = x[threadIdx.x];
}
