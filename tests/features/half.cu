/* half: the functions of small_floats.inc, and those that only half has. */
#include <cuda_fp16.h>

#include "feature.cuh"

typedef __half T;
typedef __half2 T2;
#define NAME(name) half_##name
#define TO_T(f) __float2half(f)
#define FROM_T(h) __half2float(h)
#define RAW(h) __half_as_ushort(h)
#define OF_RAW(x) __ushort_as_half(x)
#define LOW(h) __low2half(h)
#define HIGH(h) __high2half(h)
#define PAIR(a, b) __halves2half2(a, b)
#define OF_FLOAT(f, mode) __float2half_##mode(f)
#define OF_INT(i) __int2half_rn(i)
#define INT_OF(h) __half2int_rz(h)
#include "small_floats.inc"

__global__ void half_vectors(const unsigned *x, unsigned *y) {
    FEATURE(10);
    float2 f = __half22float2(pair(x[0]));
    y[0] = bits(f.x), y[1] = bits(f.y);
    y[2] = raw(__floats2half2_rn(as_float(x[1]), as_float(x[2]))), y[3] = raw(__float2half2_rn(as_float(x[1])));
    y[4] = raw(__float22half2_rn(make_float2(as_float(x[2]), as_float(x[1]))));
    y[5] = raw(__low2half2(pair(x[0]))), y[6] = raw(__high2half2(pair(x[0]))), y[7] = raw(__lowhigh2highlow(pair(x[0])));
    y[8] = raw(__lows2half2(pair(x[0]), pair(x[3])));
    const half2 *h = reinterpret_cast<const half2 *>(x + 4); /* eight halves by one access */
    float4 four = *reinterpret_cast<const float4 *>(h);
    half2 *parts = reinterpret_cast<half2 *>(&four);
    y[9] = raw(__hadd2(parts[0], parts[3]));
}
