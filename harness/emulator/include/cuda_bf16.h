/* bfloat16 and its pair. */
#ifndef CUPEL_CUDA_BF16_H
#define CUPEL_CUDA_BF16_H

#include "cupel_small_floats.h"

/* To nearest even; NaN becomes 0x7fff as on the device. */
CUPEL_BOTH unsigned short cupel_bfloat16_bits(float f) {
    uint32_t u = cupel_bits<uint32_t>(f);
    if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return (unsigned short)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

CUPEL_BOTH float cupel_bfloat16_value(unsigned short h) { return cupel_bits<float>((uint32_t)h << 16); }

CUPEL_SMALL_FLOAT_CLASS(__nv_bfloat16, __nv_bfloat16_raw, cupel_bfloat16_bits, cupel_bfloat16_value)
CUPEL_SMALL_FLOAT_PAIR(__nv_bfloat162, __nv_bfloat16, __nv_bfloat162_raw)
CUPEL_SMALL_ARITHMETIC(__nv_bfloat16, __nv_bfloat162)
CUPEL_SMALL_CONVERSIONS(__nv_bfloat16, bfloat16, 0x7f7fu)

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

CUPEL_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
CUPEL_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
CUPEL_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
CUPEL_BOTH __nv_bfloat162 __float2bfloat162_rn(float f) { return __nv_bfloat162(__nv_bfloat16(f), __nv_bfloat16(f)); }
CUPEL_BOTH __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
    return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));
}
CUPEL_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 f) { return __floats2bfloat162_rn(f.x, f.y); }
CUPEL_BOTH float2 __bfloat1622float2(__nv_bfloat162 h) { return make_float2(cupel_widen(h.x), cupel_widen(h.y)); }
CUPEL_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 h) { return h.x; }
CUPEL_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 h) { return h.y; }
CUPEL_BOTH __nv_bfloat162 __low2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.x, h.x); }
CUPEL_BOTH __nv_bfloat162 __high2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.y); }
CUPEL_BOTH __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
CUPEL_BOTH __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
CUPEL_BOTH __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.x); }

#endif
