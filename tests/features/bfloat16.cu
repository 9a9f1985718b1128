/* bfloat16: the functions of small_floats.inc, and those that only bfloat16 has. */
#include <cuda_bf16.h>

#include "feature.cuh"

typedef __nv_bfloat16 T;
typedef __nv_bfloat162 T2;
#define NAME(name) bfloat16_##name
#define TO_T(f) __float2bfloat16(f)
#define FROM_T(h) __bfloat162float(h)
#define RAW(h) __bfloat16_as_ushort(h)
#define OF_RAW(x) __ushort_as_bfloat16(x)
#define LOW(h) __low2bfloat16(h)
#define HIGH(h) __high2bfloat16(h)
#define PAIR(a, b) __halves2bfloat162(a, b)
#define OF_FLOAT(f, mode) __float2bfloat16_##mode(f)
#define OF_INT(i) __int2bfloat16_rn(i)
#define INT_OF(h) __bfloat162int_rz(h)
#include "small_floats.inc"

__global__ void bfloat16_vectors(const unsigned *x, unsigned *y) {
    FEATURE(10);
    float2 f = __bfloat1622float2(pair(x[0]));
    y[0] = bits(f.x), y[1] = bits(f.y);
    y[2] = raw(__floats2bfloat162_rn(as_float(x[1]), as_float(x[2]))), y[3] = raw(__float2bfloat162_rn(as_float(x[1])));
    y[4] = raw(__float22bfloat162_rn(make_float2(as_float(x[2]), as_float(x[1]))));
    y[5] = raw(__low2bfloat162(pair(x[0]))), y[6] = raw(__high2bfloat162(pair(x[0]))), y[7] = raw(__lowhigh2highlow(pair(x[0])));
    y[8] = raw(__lows2bfloat162(pair(x[0]), pair(x[3])));
    float4 four = *reinterpret_cast<const float4 *>(x + 4); /* eight at once */
    __nv_bfloat162 *parts = reinterpret_cast<__nv_bfloat162 *>(&four);
    y[9] = raw(__hadd2(parts[0], parts[3]));
}
