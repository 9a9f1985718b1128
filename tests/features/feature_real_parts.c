/* What exact functions of real numbers mean: the C library's, which are exact too. */
#include <math.h>

#include "feature.h"

static void round_to_integer(const uint32_t *x, uint32_t *want) {
    float v = feature_float(x[0]), w = fmodf(v, 1e6f);
    double d = feature_double(x);
    want[0] = feature_bits(floorf(v)), want[1] = feature_bits(ceilf(v)), want[2] = feature_bits(truncf(v));
    want[3] = want[4] = feature_bits(rintf(v)), want[5] = feature_bits(roundf(v));
    if (isnan(w)) w = 0;
    int64_t even = llrint(w), away = llround(w);
    want[6] = (uint32_t)even, want[7] = (uint32_t)away;
    feature_put(want + 8, (uint64_t)even), feature_put(want + 10, (uint64_t)away);
    feature_put_double(want + 12, floor(d)), feature_put_double(want + 14, round(d));
}

static void take_apart(const uint32_t *x, uint32_t *want) {
    float v = feature_float(x[0]), whole;
    int exponent = 0, scale = (int32_t)x[1] % 300;
    want[0] = feature_bits(frexpf(v, &exponent)), want[1] = isfinite(v) ? (uint32_t)exponent : 0;
    want[2] = feature_bits(modff(v, &whole)), want[3] = feature_bits(whole);
    want[4] = want[5] = want[6] = feature_bits((float)((long double)v * ldexpl(1, scale)));
    want[7] = feature_bits(logbf(v)), want[8] = isfinite(v) && v != 0 ? (uint32_t)ilogbf(v) : 0;
    want[9] = feature_bits(feature_float((x[0] & 0x7fffffff) | (x[1] & 0x80000000)));
    want[10] = feature_bits(feature_float(x[0] & 0x7fffffff));
    feature_put_double(want + 11, (double)((long double)feature_double(x) * ldexpl(1, (int32_t)x[2] % 2000)));
}

static void remainders(const uint32_t *x, uint32_t *want) {
    float a = feature_float(x[0]), b = feature_float(x[1]);
    int quotient = 0;
    want[0] = feature_bits(fmodf(a, b)), want[1] = feature_bits(remainderf(a, b));
    float r = remquof(a, b, &quotient);
    want[2] = feature_bits(r), want[3] = isnan(r) ? 0 : (uint32_t)(quotient < 0 ? -quotient : quotient) & 7;
    want[4] = isnan(a) || isnan(b) ? 0x7fc00000 : feature_bits(a > b ? a - b : 0.0f);
    feature_put_double(want + 5, fmod(feature_double(x + 2), feature_double(x + 4)));
    want[7] = feature_bits(fmodf(a, 1));
}

/* The other operand where one is a NaN. */
static double extreme(double a, double b, int largest) {
    if (isnan(a) || isnan(b)) return (isnan(a) ? b : a) + 0.0;
    return (largest == (a > b) ? a : b) + 0.0;
}

static void extremes(const uint32_t *x, uint32_t *want) {
    float a = feature_float(x[0]), b = feature_float(x[1]);
    double c = feature_double(x + 2), d = feature_double(x + 4);
    want[0] = want[2] = feature_bits((float)extreme(a, b, 0));
    want[1] = want[3] = feature_bits((float)extreme(a, b, 1));
    feature_put_double(want + 4, extreme(c, d, 0)), feature_put_double(want + 6, extreme(c, d, 1));
    feature_put_double(want + 8, extreme(a, 1.5, 1));
    want[10] = feature_bits(nextafterf(a, b)), want[11] = feature_bits(a);
}

static uint32_t class_of(double v) {
    return (uint32_t)(v != v) | (uint32_t)(fabs(v) == INFINITY) << 1 | (uint32_t)(fabs(v) < INFINITY) << 2 |
           (uint32_t)(signbit(v) != 0) << 3;
}

static void classes(const uint32_t *x, uint32_t *want) {
    float v = feature_float(x[0]), w = feature_float(x[1]);
    int ordered = !isnan(v) && !isnan(w);
    want[0] = class_of(v), want[1] = class_of(feature_double(x + 2));
    want[2] = !ordered ? 8 : v < w ? 1 | 2 | 8 : v > w ? 8 | 16 | 32 : 2 | 4 | 32;
    want[2] |= (uint32_t)((x[0] & 0x7fffffff) == 0) << 6;
    want[3] = class_of(v) & 3;
}

static void fused(const uint32_t *x, uint32_t *want) {
    want[0] = feature_bits(fmaf(feature_float(x[0]), feature_float(x[1]), feature_float(x[2])));
    feature_put_double(want + 1, fma(feature_double(x), feature_double(x + 2), feature_double(x + 4)));
    feature_put_double(want + 3, fma(feature_float(x[0]), 2, 1));
}

static const feature features[] = {
    {.name = "round_to_integer", .words = 16, .thread = round_to_integer},
    {.name = "take_apart", .words = 13, .thread = take_apart},
    {.name = "remainders", .words = 8, .thread = remainders},
    {.name = "extremes", .words = 12, .thread = extremes},
    {.name = "classes", .words = 4, .thread = classes},
    {.name = "fused", .words = 5, .thread = fused},
};
FEATURE_FILE(real_parts);
