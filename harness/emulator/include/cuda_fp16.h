/* half and half2. */
#ifndef CUPEL_CUDA_FP16_H
#define CUPEL_CUDA_FP16_H

#include "cupel_small_floats.h"

/* To nearest even; NaN becomes 0x7fff as on the device. Below 2^-14 the addition of 0.5 rounds to multiples of 2^-24. */
CUPEL_BOTH unsigned short cupel_half_bits(float f) {
    uint32_t u = cupel_bits<uint32_t>(f), sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) return 0x7fff;
    if (u >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
    if (u < 0x38800000u) {
        uint32_t rounded = cupel_bits<uint32_t>(cupel_bits<float>(u) + 0.5f);
        return (unsigned short)(sign | (rounded - 0x3f000000u));
    }
    return (unsigned short)(sign | ((u - 0x38000000u + 0xfffu + (u >> 13 & 1u)) >> 13));
}

CUPEL_BOTH float cupel_half_value(unsigned short h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7fffu;
    if (magnitude >= 0x7c00u) return cupel_bits<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude >= 0x400u) return cupel_bits<float>(sign | ((magnitude << 13) + 0x38000000u));
    float f = (float)magnitude * 0x1p-24f;
    return sign ? -f : f;
}

CUPEL_SMALL_FLOAT_CLASS(__half, __half_raw, cupel_half_bits, cupel_half_value)
CUPEL_SMALL_FLOAT_PAIR(__half2, __half, __half2_raw)
CUPEL_SMALL_ARITHMETIC(__half, __half2)
CUPEL_SMALL_CONVERSIONS(__half, half, 0x7bffu)

typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

CUPEL_BOTH __half2 make_half2(__half a, __half b) { return __half2(a, b); }
CUPEL_BOTH __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
CUPEL_BOTH __half2 __half2half2(__half a) { return __half2(a, a); }
CUPEL_BOTH __half2 __float2half2_rn(float f) { return __half2(__half(f), __half(f)); }
CUPEL_BOTH __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
CUPEL_BOTH __half2 __float22half2_rn(float2 f) { return __half2(__half(f.x), __half(f.y)); }
CUPEL_BOTH float2 __half22float2(__half2 h) { return make_float2(cupel_widen(h.x), cupel_widen(h.y)); }
CUPEL_BOTH __half __low2half(__half2 h) { return h.x; }
CUPEL_BOTH __half __high2half(__half2 h) { return h.y; }
CUPEL_BOTH __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
CUPEL_BOTH __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
CUPEL_BOTH __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
CUPEL_BOTH __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
CUPEL_BOTH __half2 __lowhigh2highlow(__half2 h) { return __half2(h.y, h.x); }

#endif
