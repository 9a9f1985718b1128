/* Loads and stores with cache hints, constant memory, device variables, fences, address spaces, clocks. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "feature.cuh"

template <class T> __device__ void copy_hinted(T *to, const T *from, int way) {
    T v = way == 0 ? __ldg(from) : way == 1 ? __ldca(from) : way == 2 ? __ldcg(from) : way == 3 ? __ldcs(from)
        : way == 4 ? __ldlu(from) : __ldcv(from);
    if (way % 4 == 0) __stwb(to, v);
    if (way % 4 == 1) __stcg(to, v);
    if (way % 4 == 2) __stcs(to, v);
    if (way % 4 == 3) __stwt(to, v);
}
__global__ void hinted_scalars(const unsigned *x, unsigned *y) {
    FEATURE(24);
    for (int i = 0; i < 24; i++) y[i] = 0;
    for (int way = 0; way < 6; way++) {
        copy_hinted((int *)y + way, (const int *)x + way, way);
        copy_hinted((float *)y + 6 + way, (const float *)x + way, way);
        copy_hinted((unsigned char *)(y + 12) + way, (const unsigned char *)x + way, way);
        copy_hinted((unsigned short *)(y + 14) + way, (const unsigned short *)x + way, way);
    }
    copy_hinted((double *)(y + 18), (const double *)x, (int)(feature_thread() % 6));
    copy_hinted((long long *)(y + 20), (const long long *)(x + 2), (int)(feature_thread() % 6));
    copy_hinted((unsigned long *)(y + 22), (const unsigned long *)(x + 4), (int)(feature_thread() % 6));
}
__global__ void hinted_vectors(const unsigned *x, unsigned *y) {
    FEATURE(16);
    int way = (int)(feature_thread() % 6);
    copy_hinted((float4 *)y, (const float4 *)x, way);
    copy_hinted((int2 *)(y + 4), (const int2 *)(x + 4), way);
    copy_hinted((__half2 *)(y + 6), (const __half2 *)(x + 6), way);
    copy_hinted((__nv_bfloat162 *)(y + 7), (const __nv_bfloat162 *)(x + 7), way);
    copy_hinted((__half *)(y + 8), (const __half *)x, way), copy_hinted((__half *)(y + 8) + 1, (const __half *)x + 1, way);
    copy_hinted((__nv_bfloat16 *)(y + 9), (const __nv_bfloat16 *)(x + 1), way);
    copy_hinted((__nv_bfloat16 *)(y + 9) + 1, (const __nv_bfloat16 *)(x + 1) + 1, way);
    copy_hinted((uchar4 *)(y + 10), (const uchar4 *)(x + 2), way);
    copy_hinted((short2 *)(y + 11), (const short2 *)(x + 3), way);
    copy_hinted((double2 *)(y + 12), (const double2 *)x, way);
}

struct Setting {
    float scale;
    int shift[2];
};
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant__ Setting setting = {2.5f, {7, -7}};
__constant__ float coefficient = 0.0f;
__device__ unsigned counters[4] = {10, 20, 30, 40};
__device__ const double third = 1.0 / 3.0;
static __device__ unsigned hidden = 5;
namespace tables {
__device__ constexpr unsigned short powers[4] = {1, 10, 100, 1000};
}

__global__ void constants(const unsigned *x, unsigned *y) {
    FEATURE(8);
    y[0] = (unsigned)table[x[0] & 7], y[1] = bits(setting.scale), y[2] = (unsigned)setting.shift[x[1] & 1];
    y[3] = bits(coefficient), y[4] = counters[x[2] & 3], y[5] = hidden, y[6] = tables::powers[x[3] & 3];
    y[7] = bits((float)third);
}
__global__ void fences(const unsigned *x, unsigned *y) {
    FEATURE(2);
    __shared__ volatile unsigned kept[1024];
    kept[feature_rank()] = x[0];
    __threadfence_block();
    __syncthreads();
    y[0] = kept[blockDim.x * blockDim.y * blockDim.z - 1 - feature_rank()];
    __threadfence();
    __threadfence_system();
    *(volatile unsigned *)(y + 1) = *(const volatile unsigned *)(x + 1);
}
__global__ void address_spaces(const unsigned *x, unsigned *y) {
    FEATURE(5);
    __shared__ unsigned kept[4];
    unsigned local[4];
    local[x[0] & 3] = 1;
    y[0] = __isGlobal(x) | __isGlobal(kept) << 1 | __isGlobal(local) << 2;
    y[1] = __isShared(x) | __isShared(kept + 1) << 1 | __isShared(local) << 2;
    y[2] = __isLocal(x) | __isLocal(kept) << 1 | __isLocal(local + 2) << 2;
    kept[1] = 17;
    __syncthreads();
    size_t address = __cvta_generic_to_shared(&kept[1]);
    y[3] = *(unsigned *)__cvta_shared_to_generic(address);
    y[4] = *(const unsigned *)__cvta_global_to_generic(__cvta_generic_to_global(x + 3));
}
/* Time passes, whatever it is. */
__global__ void clocks(const unsigned *x, unsigned *y) {
    FEATURE(3);
    long long begun = clock64();
    clock_t ticks = clock();
    unsigned sum = 0;
    for (unsigned i = 0; i < (x[0] & 15) + 1; i++) sum += i;
    __nanosleep(100);
    y[0] = clock64() >= begun, y[1] = clock() - ticks < (1 << 30);
    y[2] = sum;
}
__global__ void bytes(const unsigned *x, unsigned *y) {
    FEATURE(6);
    unsigned char kept[24];
    memset(kept, 0x5a, sizeof kept);
    memcpy(kept + 3, x, 12);
    memcpy(y, kept, 8), memcpy(y + 2, kept + 8, 16);
}
