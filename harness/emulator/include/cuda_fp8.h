/* fp8: e4m3 and e5m2 (OCP 8-bit Floating Point Specification 1.0), their pairs and quads, and CUDA's conversions. Constructors
 * saturate to the largest number, infinities too; __NV_NOSAT gives NaN (e4m3, which has no infinity) or infinity (e5m2). */
#ifndef CUPEL_CUDA_FP8_H
#define CUPEL_CUDA_FP8_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

/* Nearest, ties to even. x is a double so that no source is rounded on the way. */
CUPEL_BOTH __nv_fp8_storage_t cupel_fp8_bits(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    const int fraction = kind == __NV_E4M3 ? 3 : 2, emin = kind == __NV_E4M3 ? -6 : -14;
    const double largest = kind == __NV_E4M3 ? 448.0 : 57344.0;
    const unsigned int sign = signbit(x) ? 0x80u : 0u, largest_code = kind == __NV_E4M3 ? 0x7eu : 0x7bu;
    if (isnan(x)) return kind == __NV_E4M3 ? 0x7f : 0x7e;
    double a = fabs(x), rounded = a;
    if (a <= DBL_MAX) {
        int e = a < ldexp(1.0, emin) ? emin : ilogb(a);
        rounded = ldexp(rint(ldexp(a, fraction - e)), e - fraction);
    }
    if (rounded > largest) return (__nv_fp8_storage_t)(sign | (saturate == __NV_SATFINITE ? largest_code : largest_code + 1));
    int e = rounded < ldexp(1.0, emin) ? emin : ilogb(rounded);
    unsigned int digits = (unsigned int)ldexp(rounded, fraction - e);
    return (__nv_fp8_storage_t)(sign | (((unsigned int)(e - emin) << fraction) + digits));
}

CUPEL_BOTH float cupel_fp8_value(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind) {
    const int fraction = kind == __NV_E4M3 ? 3 : 2, emin = kind == __NV_E4M3 ? -6 : -14;
    const unsigned int magnitude = bits & 0x7fu, exponent = magnitude >> fraction, digits = magnitude & ((1u << fraction) - 1);
    float value = exponent ? ldexpf((float)(digits + (1u << fraction)), (int)exponent - 1 + emin - fraction)
                           : ldexpf((float)digits, emin - fraction);
    if (kind == __NV_E4M3 ? magnitude == 0x7fu : magnitude > 0x7cu) value = NAN;
    if (kind == __NV_E5M2 && magnitude == 0x7cu) value = INFINITY;
    return bits & 0x80u ? -value : value;
}

#define CUPEL_FP8_CONVERSION(name, Single, pair, Pair, widen, widen_x, widen_y)                               \
    CUPEL_BOTH __nv_fp8_storage_t __nv_cvt_##name##_to_fp8(const Single x, const __nv_saturation_t saturate, \
                                                           const __nv_fp8_interpretation_t kind) {           \
        return cupel_fp8_bits(widen, saturate, kind);                                                        \
    }                                                                                                        \
    CUPEL_BOTH __nv_fp8x2_storage_t __nv_cvt_##pair##_to_fp8x2(const Pair x, const __nv_saturation_t saturate, \
                                                               const __nv_fp8_interpretation_t kind) {       \
        return (__nv_fp8x2_storage_t)(cupel_fp8_bits(widen_x, saturate, kind) |                              \
                                      cupel_fp8_bits(widen_y, saturate, kind) << 8);                         \
    }
CUPEL_FP8_CONVERSION(float, float, float2, float2, x, x.x, x.y)
CUPEL_FP8_CONVERSION(double, double, double2, double2, x, x.x, x.y)
CUPEL_FP8_CONVERSION(halfraw, __half_raw, halfraw2, __half2_raw, cupel_half_value(x.x), cupel_half_value(x.x),
                     cupel_half_value(x.y))
CUPEL_FP8_CONVERSION(bfloat16raw, __nv_bfloat16_raw, bfloat16raw2, __nv_bfloat162_raw, cupel_bfloat16_value(x.x),
                     cupel_bfloat16_value(x.x), cupel_bfloat16_value(x.y))

CUPEL_BOTH __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t kind) {
    return __half_raw{cupel_half_bits(cupel_fp8_value(x, kind))};
}
CUPEL_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x, const __nv_fp8_interpretation_t kind) {
    return __half2_raw{cupel_half_bits(cupel_fp8_value((__nv_fp8_storage_t)x, kind)),
                       cupel_half_bits(cupel_fp8_value((__nv_fp8_storage_t)(x >> 8), kind))};
}

#define CUPEL_FP8_FROM_INTEGER(T, I, kind)                                                                   \
    __host__ __device__ explicit T(I i) : __x(cupel_fp8_bits((double)i, __NV_SATFINITE, kind)) {}
#define CUPEL_FP8_TO_INTEGER(T, I, kind)                                                                     \
    __host__ __device__ explicit operator I() const { return cupel_to_integer<I>(trunc((double)cupel_fp8_value(__x, kind)), 0); }
#define CUPEL_FP8_CLASS(T, kind)                                                                             \
    struct T {                                                                                               \
        __nv_fp8_storage_t __x;                                                                              \
        T() = default;                                                                                       \
        __host__ __device__ explicit T(float f) : __x(cupel_fp8_bits(f, __NV_SATFINITE, kind)) {}            \
        __host__ __device__ explicit T(double f) : __x(cupel_fp8_bits(f, __NV_SATFINITE, kind)) {}           \
        __host__ __device__ explicit T(const __half &h) : __x(cupel_fp8_bits(cupel_widen(h), __NV_SATFINITE, kind)) {} \
        __host__ __device__ explicit T(const __nv_bfloat16 &h)                                               \
            : __x(cupel_fp8_bits(cupel_widen(h), __NV_SATFINITE, kind)) {}                                   \
        CUPEL_FP8_FROM_INTEGER(T, short, kind)                                                               \
        CUPEL_FP8_FROM_INTEGER(T, unsigned short, kind)                                                      \
        CUPEL_FP8_FROM_INTEGER(T, int, kind)                                                                 \
        CUPEL_FP8_FROM_INTEGER(T, unsigned int, kind)                                                        \
        CUPEL_FP8_FROM_INTEGER(T, long, kind)                                                                \
        CUPEL_FP8_FROM_INTEGER(T, unsigned long, kind)                                                       \
        CUPEL_FP8_FROM_INTEGER(T, long long, kind)                                                           \
        CUPEL_FP8_FROM_INTEGER(T, unsigned long long, kind)                                                  \
        __host__ __device__ explicit operator float() const { return cupel_fp8_value(__x, kind); }           \
        __host__ __device__ explicit operator double() const { return cupel_fp8_value(__x, kind); }          \
        __host__ __device__ explicit operator __half() const { return __half(cupel_fp8_value(__x, kind)); }  \
        __host__ __device__ explicit operator __nv_bfloat16() const {                                        \
            return __nv_bfloat16(cupel_fp8_value(__x, kind));                                                \
        }                                                                                                    \
        __host__ __device__ explicit operator bool() const { return (__x & 0x7fu) != 0; }                    \
        CUPEL_FP8_TO_INTEGER(T, signed char, kind)                                                           \
        CUPEL_FP8_TO_INTEGER(T, unsigned char, kind)                                                         \
        CUPEL_FP8_TO_INTEGER(T, short, kind)                                                                 \
        CUPEL_FP8_TO_INTEGER(T, unsigned short, kind)                                                        \
        CUPEL_FP8_TO_INTEGER(T, int, kind)                                                                   \
        CUPEL_FP8_TO_INTEGER(T, unsigned int, kind)                                                          \
        CUPEL_FP8_TO_INTEGER(T, long long, kind)                                                             \
        CUPEL_FP8_TO_INTEGER(T, unsigned long long, kind)                                                    \
    };
CUPEL_FP8_CLASS(__nv_fp8_e4m3, __NV_E4M3)
CUPEL_FP8_CLASS(__nv_fp8_e5m2, __NV_E5M2)

/* Pairs and quads are one access of their width; element k lies in byte k. */
#define CUPEL_FP8_VECTORS(T2, T4, kind)                                                                      \
    struct __attribute__((aligned(2))) T2 {                                                                  \
        __nv_fp8x2_storage_t __x;                                                                            \
        T2() = default;                                                                                      \
        __host__ __device__ explicit T2(const float2 f) : __x(__nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, kind)) {} \
        __host__ __device__ explicit T2(const double2 f) : __x(__nv_cvt_double2_to_fp8x2(f, __NV_SATFINITE, kind)) {} \
        __host__ __device__ explicit T2(const __half2 h)                                                     \
            : __x(__nv_cvt_float2_to_fp8x2(make_float2(cupel_widen(h.x), cupel_widen(h.y)), __NV_SATFINITE, kind)) {} \
        __host__ __device__ explicit T2(const __nv_bfloat162 h)                                              \
            : __x(__nv_cvt_float2_to_fp8x2(make_float2(cupel_widen(h.x), cupel_widen(h.y)), __NV_SATFINITE, kind)) {} \
        __host__ __device__ explicit operator float2() const {                                               \
            return make_float2(cupel_fp8_value((__nv_fp8_storage_t)__x, kind),                               \
                               cupel_fp8_value((__nv_fp8_storage_t)(__x >> 8), kind));                       \
        }                                                                                                    \
        __host__ __device__ explicit operator __half2() const {                                              \
            float2 f = (float2) * this;                                                                      \
            return __half2(__half(f.x), __half(f.y));                                                        \
        }                                                                                                    \
    };                                                                                                       \
    struct __attribute__((aligned(4))) T4 {                                                                  \
        __nv_fp8x4_storage_t __x;                                                                            \
        T4() = default;                                                                                      \
        __host__ __device__ explicit T4(const float4 f)                                                      \
            : __x(__nv_cvt_float2_to_fp8x2(make_float2(f.x, f.y), __NV_SATFINITE, kind) |                    \
                  (unsigned int)__nv_cvt_float2_to_fp8x2(make_float2(f.z, f.w), __NV_SATFINITE, kind) << 16) {} \
        __host__ __device__ explicit T4(const __half2 low, const __half2 high)                               \
            : __x(T2(low).__x | (unsigned int)T2(high).__x << 16) {}                                         \
        __host__ __device__ explicit T4(const __nv_bfloat162 low, const __nv_bfloat162 high)                 \
            : __x(T2(low).__x | (unsigned int)T2(high).__x << 16) {}                                         \
        __host__ __device__ explicit operator float4() const {                                               \
            return make_float4(cupel_fp8_value((__nv_fp8_storage_t)__x, kind),                               \
                               cupel_fp8_value((__nv_fp8_storage_t)(__x >> 8), kind),                        \
                               cupel_fp8_value((__nv_fp8_storage_t)(__x >> 16), kind),                       \
                               cupel_fp8_value((__nv_fp8_storage_t)(__x >> 24), kind));                      \
        }                                                                                                    \
    };
CUPEL_FP8_VECTORS(__nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
CUPEL_FP8_VECTORS(__nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)

#endif
