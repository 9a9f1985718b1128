// entries: activations; fast_math; bits; atomics; limits_and_types; rounding; conversions; doubles
// The scalar functions that kernels take for granted.
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <cuda_runtime.h>
#include <math_constants.h>
using namespace std;
typedef unsigned int u32;

__device__ inline float gelu_tanh(float x) {
    const float c = M_2_SQRTPI * M_SQRT1_2;
    return 0.5f * x * (1.0f + tanhf(c * (x + 0.044715f * x * x * x)));
}
__global__ void activations(float *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        v += gelu_tanh(v) + erff(v) + expf(v) + logf(fabsf(v)) + powf(v, 2.0f) + sqrtf(abs(v)) + rsqrtf(v * v + 1e-5f);
        v += sinf(v) * cosf(v) + floorf(v) + ceilf(v) + roundf(v) + fmodf(v, 3.f) + log1pf(v) + expm1f(v) + exp2f(v) + log2f(v);
        v += exp(v) + log(v) + sqrt(v) + pow(v, 3.f) + tanh(v) + erf(v) + fmax(v, 0.f) + std::max(v, 1.f) + std::exp(v);
        v += 1.0f / (1.0f + exp(-v)) + copysignf(1.f, v) + hypotf(v, v) + cbrtf(v) + sinpif(v) + normcdff(v);
        if (isnan(v) || isinf(v) || !isfinite(v) || std::isnan(v)) v = CUDART_NAN_F;
        float s, c;
        sincosf(v, &s, &c);
        __sincosf(v, &s, &c);
        x[i] = v * s + c;
    }
}
__global__ void fast_math(float *x) {
    float v = x[threadIdx.x];
    x[threadIdx.x] = __expf(v) + __logf(v) + __log2f(v) + __log10f(v) + __exp10f(v) + __powf(v, v) + __sinf(v) + __cosf(v) + __tanf(v) +
                     __fdividef(v, 3.f) + __frcp_rn(v) + __fsqrt_rn(v) + __frsqrt_rn(v) + __saturatef(v) + __fmul_rn(v, v) + __fadd_rn(v, v) +
                     __fsub_rn(v, v) + __fdiv_rn(v, v) + __fmaf_rn(v, v, v) + fdividef(v, v);
}
__global__ void bits(u32 *x, int64_t *y, float *f) {
    u32 v = x[0];
    x[0] = __popc(v) + __clz((int)v) + __ffs(v) + __brev(v) + __byte_perm(v, v, 0x5410) + __umulhi(v, v) + __mulhi(1, 2) + __popcll(y[0]) +
           __clzll(y[0]) + __funnelshift_l(v, v, 3) + min(v, 3u) + max((int)v, 2) + umin(v, v) + __mul24(3, 4) + __sad(1, 2, v);
    f[0] = __int_as_float(__float_as_int(f[1])) + __uint_as_float(__float_as_uint(f[2])) + (float)__double_as_longlong(1.0);
    y[1] = __dp4a(1, 2, 3) + INT_MAX + LLONG_MIN + UINT_MAX + (int)__longlong_as_double(3ll);
}
__global__ void atomics(int *i, u32 *u, unsigned long long *l, float *f, double *d) {
    atomicAdd(i, 1); atomicSub(i, 1); atomicMax(i, 3); atomicMin(i, 3); atomicExch(i, 4); atomicCAS(i, 1, 2); atomicAnd(i, 7); atomicOr(i, 8); atomicXor(i, 1);
    atomicAdd(u, 1u); atomicInc(u, 7u); atomicDec(u, 7u); atomicMax(u, 3u); atomicCAS(u, 1u, 2u);
    atomicAdd(l, 1ull); atomicMax(l, 2ull); atomicCAS(l, 1ull, 2ull); atomicExch(l, 9ull);
    atomicAdd(f, 1.f); atomicExch(f, 2.f); atomicAdd(d, 1.0); atomicAdd_block(i, 1); atomicAdd_system(i, 1);
    int *address_as_int = (int *)f, old = *address_as_int, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_int, assumed, __float_as_int(fmaxf(1.f, __int_as_float(assumed))));
    } while (assumed != old);
}
template <typename T> struct Traits { static constexpr T lowest = std::numeric_limits<T>::lowest(); };
__global__ void limits_and_types(float *x, uint8_t *b, intptr_t p, uint n) {
    if constexpr (std::is_same<float, float>::value && std::is_same_v<int, int>) x[0] = Traits<float>::lowest;
    x[1] = FLT_MAX + FLT_EPSILON + INFINITY + NAN + M_PI + DBL_MAX + numeric_limits<float>::infinity() + CUDART_INF_F + HUGE_VALF;
    b[0] = (uint8_t)n + (uint8_t)p + warpSize;
    auto tid = threadIdx;
    dim3 block = blockDim, grid = gridDim;
    const uint3 bid = blockIdx;
    x[2] = tid.x + block.y + bid.z + grid.x;
    std::conditional<true, int, float>::type k = 3;
    int a = 1, c = k;
    std::swap(a, c);
    auto add = [=] __device__(float q) { return q + a; };
    x[3] = add(2.f);
    memset(x + 4, 0, 8);
    memcpy(x + 6, x, sizeof(float) * 2);
    printf("%d %f\n", a, x[0]);
    size_t t0 = clock64();
    x[5] = t0 + clock();
}
__global__ void rounding(float *x) {
    x[0] = __fadd_rz(x[0], x[1]) + __fmul_ru(x[0], x[1]) + __fdiv_rd(x[0], x[1]) + __fsqrt_rz(x[0]) + __fmaf_rd(x[0], x[1], x[2]) + __frcp_ru(x[0]) + rintf(x[0]) + nearbyintf(x[0]) + truncf(x[0]);
}
__global__ void conversions(float *x, int *i) {
    i[0] = __float2int_rn(x[0]) + __float2int_rz(x[0]) + __float2int_ru(x[0]) + __float2int_rd(x[0]) + __float2uint_rn(x[0]) + (int)x[1] + lrintf(x[0]);
    x[0] = __int2float_rn(i[0]) + __uint2float_rz(i[0]) + __double2float_rn(1.0) + __ll2float_rd(3ll) + (unsigned)x[1] + (unsigned char)x[2];
    i[1] = __double2int_rn(1.5) + __float2ll_rn(x[0]);
}
__global__ void doubles(double *x) {
    x[0] = exp(x[0]) + log(x[1]) + sqrt(x[2]) + rsqrt(x[3]) + fma(x[0], x[1], x[2]) + fabs(x[0]) + pow(x[0], 2) + fmin(x[0], x[1]) + __dadd_rn(x[0], x[1]) + __fma_rn(x[0], 1., 2.) + max(x[0], 1.0) + min(1.0f, x[0]) + erf(x[0]) + sinpi(x[0]) + floor(x[0]) + std::abs(x[0]);
}
