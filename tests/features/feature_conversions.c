/* What conversions mean: the processor's own rounding modes, integers limited to their type. */
#include <fenv.h>
#include <math.h>

#include "feature.h"

#pragma STDC FENV_ACCESS ON

static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};

static int64_t to_signed(double v, int mode, double low, double high, int64_t for_nan) {
    fesetround(modes[mode]);
    volatile double r = rint(v);
    fesetround(FE_TONEAREST);
    if (isnan(v)) return for_nan;
    return r >= high ? (int64_t)(high - 1) : r < low ? (int64_t)low : (int64_t)r;
}

static int64_t to_int64(double v, int mode) {
    return v >= 0x1p63 ? INT64_MAX : to_signed(v, mode, -0x1p63, 0x1p63, INT64_MIN);
}

static uint64_t to_unsigned64(double v, int mode) {
    fesetround(modes[mode]);
    volatile double r = rint(v);
    fesetround(FE_TONEAREST);
    if (isnan(v)) return UINT64_C(1) << 63;
    return r <= 0 ? 0 : r >= 0x1p64 ? UINT64_MAX : (uint64_t)r;
}

static void to_int(double v, uint32_t *want, int64_t nan_signed, int64_t nan_unsigned) {
    for (int mode = 0; mode < 4; mode++) {
        want[mode] = (uint32_t)to_signed(v, mode, -0x1p31, 0x1p31, nan_signed);
        want[4 + mode] = (uint32_t)to_signed(v, mode, 0, 0x1p32, nan_unsigned);
    }
}

static void to_long(double v, uint32_t *want) {
    for (int mode = 0; mode < 4; mode++) {
        feature_put(want + 2 * mode, (uint64_t)to_int64(v, mode));
        feature_put(want + 8 + 2 * mode, to_unsigned64(v, mode));
    }
}

static void float_to_int(const uint32_t *x, uint32_t *want) {
    to_int(feature_float(x[0]), want, 0, 0);
}

static void double_to_int(const uint32_t *x, uint32_t *want) {
    to_int(feature_double(x), want, INT32_MIN, (int64_t)1 << 31);
}

static void float_to_long(const uint32_t *x, uint32_t *want) {
    to_long(feature_float(x[0]), want);
}

static void double_to_long(const uint32_t *x, uint32_t *want) {
    to_long(feature_double(x), want);
}

/* Every integer is a long double. */
static void to_floats(long double v, uint32_t *want) {
    for (int mode = 0; mode < 4; mode++) {
        volatile long double from = v;
        fesetround(modes[mode]);
        volatile float to = (float)from;
        fesetround(FE_TONEAREST);
        want[mode] = feature_bits(to);
    }
}

static void to_doubles(long double v, uint32_t *want) {
    for (int mode = 0; mode < 4; mode++) {
        volatile long double from = v;
        fesetround(modes[mode]);
        volatile double to = (double)from;
        fesetround(FE_TONEAREST);
        feature_put_double(want + 2 * mode, to);
    }
}

static void int_to_float(const uint32_t *x, uint32_t *want) {
    to_floats((int32_t)x[0], want), to_floats(x[0], want + 4);
}

static void long_to_float(const uint32_t *x, uint32_t *want) {
    to_floats((int64_t)feature_long(x), want), to_floats(feature_long(x), want + 4);
}

static void long_to_double(const uint32_t *x, uint32_t *want) {
    to_doubles((int64_t)feature_long(x), want), to_doubles(feature_long(x), want + 8);
    feature_put_double(want + 16, (int32_t)x[0]);
    feature_put_double(want + 18, x[0]);
}

static void double_to_float(const uint32_t *x, uint32_t *want) {
    to_floats(feature_double(x), want);
}

static void casts(const uint32_t *x, uint32_t *want) {
    float v = fmodf(feature_float(x[0]), 32768.0f);
    if (isnan(v)) v = 0;
    want[0] = (uint32_t)(int32_t)v, want[1] = (uint32_t)fabsf(v), want[2] = (uint32_t)(int32_t)v;
    feature_put(want + 3, (uint64_t)(int64_t)v);
    want[5] = feature_bits((float)(int8_t)(x[1] & 255)), want[6] = feature_bits((float)(x[1] & 255));
    want[7] = feature_bits((float)feature_long(x + 2));
    want[8] = v != 0;
}

static const feature features[] = {
    {.name = "float_to_int", .words = 8, .thread = float_to_int},
    {.name = "float_to_long", .words = 16, .thread = float_to_long},
    {.name = "double_to_int", .words = 8, .thread = double_to_int},
    {.name = "double_to_long", .words = 16, .thread = double_to_long},
    {.name = "int_to_float", .words = 8, .thread = int_to_float},
    {.name = "long_to_float", .words = 8, .thread = long_to_float},
    {.name = "long_to_double", .words = 20, .thread = long_to_double},
    {.name = "double_to_float", .words = 4, .thread = double_to_float},
    {.name = "casts", .words = 9, .thread = casts},
};
FEATURE_FILE(conversions);
