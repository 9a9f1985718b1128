/* Conversions between numbers, with a rounding mode in the name or without. */
#include "feature.cuh"

#define FOUR(i, name)                                                                                        \
    y[i] = (unsigned)name##_rn(v), y[i + 1] = (unsigned)name##_rz(v);                                        \
    y[i + 2] = (unsigned)name##_ru(v), y[i + 3] = (unsigned)name##_rd(v)
#define FOUR_LONG(i, name)                                                                                   \
    put(y + (i), (unsigned long long)name##_rn(v)), put(y + (i) + 2, (unsigned long long)name##_rz(v));      \
    put(y + (i) + 4, (unsigned long long)name##_ru(v)), put(y + (i) + 6, (unsigned long long)name##_rd(v))
#define FOUR_FLOAT(i, name, v)                                                                               \
    y[i] = bits(name##_rn(v)), y[i + 1] = bits(name##_rz(v));                                                \
    y[i + 2] = bits(name##_ru(v)), y[i + 3] = bits(name##_rd(v))
#define FOUR_DOUBLE(i, name, v)                                                                              \
    put(y + (i), name##_rn(v)), put(y + (i) + 2, name##_rz(v));                                              \
    put(y + (i) + 4, name##_ru(v)), put(y + (i) + 6, name##_rd(v))

__global__ void float_to_int(const unsigned *x, unsigned *y) {
    FEATURE(8);
    float v = as_float(x[0]);
    FOUR(0, __float2int);
    FOUR(4, __float2uint);
}
__global__ void float_to_long(const unsigned *x, unsigned *y) {
    FEATURE(16);
    float v = as_float(x[0]);
    FOUR_LONG(0, __float2ll);
    FOUR_LONG(8, __float2ull);
}
__global__ void double_to_int(const unsigned *x, unsigned *y) {
    FEATURE(8);
    double v = as_double(x);
    FOUR(0, __double2int);
    FOUR(4, __double2uint);
}
__global__ void double_to_long(const unsigned *x, unsigned *y) {
    FEATURE(16);
    double v = as_double(x);
    FOUR_LONG(0, __double2ll);
    FOUR_LONG(8, __double2ull);
}
__global__ void int_to_float(const unsigned *x, unsigned *y) {
    FEATURE(8);
    FOUR_FLOAT(0, __int2float, (int)x[0]);
    FOUR_FLOAT(4, __uint2float, x[0]);
}
__global__ void long_to_float(const unsigned *x, unsigned *y) {
    FEATURE(8);
    FOUR_FLOAT(0, __ll2float, (long long)as_long(x));
    FOUR_FLOAT(4, __ull2float, as_long(x));
}
__global__ void long_to_double(const unsigned *x, unsigned *y) {
    FEATURE(20);
    FOUR_DOUBLE(0, __ll2double, (long long)as_long(x));
    FOUR_DOUBLE(8, __ull2double, as_long(x));
    put(y + 16, __int2double_rn((int)x[0]));
    put(y + 18, __uint2double_rn(x[0]));
}
__global__ void double_to_float(const unsigned *x, unsigned *y) {
    FEATURE(4);
    FOUR_FLOAT(0, __double2float, as_double(x));
}
/* In range, as C wants it. */
__global__ void casts(const unsigned *x, unsigned *y) {
    FEATURE(9);
    float v = fmodf(as_float(x[0]), 32768.0f);
    if (v != v) v = 0.0f;
    y[0] = (unsigned)(int)v, y[1] = (unsigned)fabsf(v), y[2] = (unsigned)(short)v;
    put(y + 3, (unsigned long long)(long long)v);
    y[5] = bits((float)(signed char)x[1]), y[6] = bits((float)(unsigned char)x[1]), y[7] = bits((float)as_long(x + 2));
    y[8] = (bool)v;
}
