/* What half and bfloat16 arithmetic means: the exact result, rounded once. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "feature.h"
#include "formats.h"

#pragma STDC FENV_ACCESS ON

static double value(cupel_dtype type, uint32_t bits) {
    uint16_t h = (uint16_t)bits;
    return cupel_decode(type, &h);
}

/* The type's number next to v in a rounding mode, by steps of its spacing there. */
static uint32_t rounded(cupel_dtype type, long double v, int mode) {
    const cupel_format *f = cupel_format_of(type);
    uint16_t h = 0;
    int e;
    if (isnan(v)) return 0x7fff;
    long double largest = cupel_format_largest(type);
    frexpl(v, &e);
    if (e - 1 < f->emin) e = f->emin + 1;
    volatile long double scaled = ldexpl(v, f->precision - e);
    fesetround(mode);
    volatile long double whole = rintl(scaled);
    fesetround(FE_TONEAREST);
    long double r = isinf(v) ? v : ldexpl(whole, e - f->precision);
    if (fabsl(r) > largest) {
        int to_infinity = isinf(v) || mode == FE_TONEAREST || (mode == FE_UPWARD && v > 0) ||
                          (mode == FE_DOWNWARD && v < 0);
        r = copysignl(to_infinity ? INFINITY : largest, v);
    }
    cupel_encode(type, copysign((double)r, (double)v), &h);
    return h;
}

static uint32_t nearest(cupel_dtype type, long double v) {
    return rounded(type, v, FE_TONEAREST);
}

/* a b + c in long double, its last bit set where something is left out. */
static long double odd_fma(double a, double b, double c) {
    volatile long double product = (long double)a * b, addend = c;
    feclearexcept(FE_INEXACT);
    fesetround(FE_TOWARDZERO);
    volatile long double sum = product + addend;
    fesetround(FE_TONEAREST);
    long double s = sum;
    if (isfinite(s) && fetestexcept(FE_INEXACT)) {
        uint64_t digits;
        memcpy(&digits, &s, sizeof digits);
        digits |= 1;
        memcpy(&s, &digits, sizeof digits);
    }
    volatile long double plain = product + addend; /* the sign of a zero */
    return s == 0 ? plain : s;
}

static uint32_t half_of(uint32_t x, int i) {
    return x >> 16 * i & 0xffff;
}

static double saturated(double v) {
    return v > 1 ? 1 : v > 0 ? v : 0;
}

static uint32_t quotient(cupel_dtype type, double a, double b) {
    return nearest(type, (long double)a / b); /* 64 bits are more than twice the type's, and two */
}

static uint32_t without_nan_bits(uint32_t h, int negative, int absolute, cupel_dtype type) {
    if (isnan(value(type, h))) return 0x7fff;
    return absolute ? h & 0x7fff : negative ? h ^ 0x8000 : h;
}

static void arithmetic(cupel_dtype type, const uint32_t *x, uint32_t *want) {
    double a = value(type, x[0]), b = value(type, x[1]);
    want[0] = want[4] = want[11] = nearest(type, (long double)a + b);
    want[1] = want[5] = nearest(type, (long double)a - b);
    want[2] = want[6] = nearest(type, (long double)a * b);
    want[3] = want[7] = quotient(type, a, b);
    want[8] = want[10] = without_nan_bits(half_of(x[0], 0), 1, 0, type);
    want[9] = without_nan_bits(half_of(x[0], 0), 0, 1, type);
    want[12] = nearest(type, saturated(value(type, want[0]))),
    want[13] = nearest(type, saturated(value(type, want[2])));
}

static void pairs(cupel_dtype type, const uint32_t *x, uint32_t *want) {
    uint32_t both[2][14];
    for (int i = 0; i < 2; i++) {
        const uint32_t in[2] = {half_of(x[0], i), half_of(x[1], i)};
        arithmetic(type, in, both[i]);
    }
    static const int from[] = {0, 1, 2, 3, 0, 2, 8, 9};
    for (int k = 0; k < 8; k++) want[k] = both[0][from[k]] | both[1][from[k]] << 16;
    want[8] = without_nan_bits(half_of(x[0], 1), 0, 0, type) | without_nan_bits(half_of(x[1], 0), 0, 0, type)
                                                                   << 16;
    want[9] = want[2];
}

static uint32_t fma_of(cupel_dtype type, uint32_t a, uint32_t b, uint32_t c) {
    return nearest(type, odd_fma(value(type, a), value(type, b), value(type, c)));
}

/* Zeros are +0 by an addition. */
static uint32_t not_negative(cupel_dtype type, uint32_t h) {
    double v = value(type, h);
    return isnan(v) ? 0x7fff : v > 0 ? h : 0;
}

static void fused(cupel_dtype type, const uint32_t *x, uint32_t *want) {
    uint32_t r[2], a[2], b[2], c[2];
    for (int i = 0; i < 2; i++) {
        a[i] = half_of(x[0], i), b[i] = half_of(x[1], i), c[i] = half_of(x[2], i);
        r[i] = fma_of(type, a[i], b[i], c[i]);
    }
    want[0] = r[0], want[1] = r[0] | r[1] << 16;
    want[2] = not_negative(type, r[0]), want[3] = nearest(type, saturated(value(type, r[0])));
    want[4] = not_negative(type, r[0]) | not_negative(type, r[1]) << 16;
    uint32_t re = fma_of(type, a[0], b[0], c[0]), im = fma_of(type, a[0], b[1], c[1]);
    want[5] = fma_of(type, a[1] ^ 0x8000, b[1], re) | fma_of(type, a[1], b[0], im) << 16;
}

static uint32_t one_if(cupel_dtype type, int low, int high) {
    uint32_t one = nearest(type, 1);
    return (low ? one : 0) | (high ? one : 0) << 16;
}

static void comparisons(cupel_dtype type, const uint32_t *x, uint32_t *want) {
    double a = value(type, x[0]), b = value(type, x[1]), c = value(type, x[0] >> 16),
           d = value(type, x[1] >> 16);
    uint32_t unordered = isnan(a) || isnan(b), none = isnan(c) || isnan(d);
    uint32_t eq = a == b, lt = a<b, gt = a> b;
    want[0] = eq | (uint32_t)(!unordered && !eq) << 1 | lt << 2 | (lt | eq) << 3 | gt << 4 | (gt | eq) << 5;
    want[1] = unordered ? 63 : want[0];
    want[2] = eq | lt << 1 | (lt | eq) << 2 | gt << 3 | (gt | eq) << 4 | (uint32_t)(a != b) << 5 |
              (uint32_t)(a != b && c != d) << 6;
    want[3] = one_if(type, a < b, c < d), want[4] = one_if(type, a >= b, c >= d);
    want[5] = (a > b ? 0xffffu : 0) | (c > d ? 0xffff0000u : 0);
    want[6] = (a <= b || unordered ? 0xffffu : 0) | (c <= d || none ? 0xffff0000u : 0);
    want[7] = (uint32_t)(a == b && c == d) | (uint32_t)(a < b && c < d) << 1 |
              (uint32_t)((a >= b || unordered) && (c >= d || none)) << 2;
    want[8] = (uint32_t)isnan(a) | (uint32_t)(isinf(a) != 0) << 1;
    want[9] = one_if(type, isnan(a), isnan(c));
}

static uint32_t extreme(cupel_dtype type, uint32_t x, uint32_t y, int largest, int keeps_nan) {
    double a = value(type, x), b = value(type, y), r;
    if (isnan(a) || isnan(b)) {
        r = keeps_nan ? (double)NAN : isnan(a) ? b : a;
    } else {
        r = (a > b) == largest ? a : b;
    }
    return nearest(type, r + 0.0);
}

static void extremes(cupel_dtype type, const uint32_t *x, uint32_t *want) {
    for (int k = 0; k < 4; k++) want[k] = extreme(type, x[0], x[1], k % 2 == 0, k >= 2);
    want[4] = want[0] | extreme(type, x[0] >> 16, x[1] >> 16, 1, 0) << 16;
    want[5] = want[3] | extreme(type, x[0] >> 16, x[1] >> 16, 0, 1) << 16;
}

static void conversions(cupel_dtype type, const uint32_t *x, uint32_t *want) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    double f = feature_float(x[0]), h = value(type, x[1]);
    want[0] = nearest(type, f), want[1] = want[10] = feature_bits((float)h);
    for (int i = 0; i < 4; i++) want[2 + i] = rounded(type, f, modes[i]);
    want[6] = nearest(type, (int32_t)x[2]);
    want[7] = isnan(h) ? 0 : (uint32_t)(int32_t)(h >= 0x1p31 ? INT32_MAX : h <= -0x1p31 ? INT32_MIN : h);
    want[8] = nearest(type, x[2] & 1023);
    want[9] = want[11] = feature_bits((float)value(type, x[1] >> 16));
}

/* Within two spacings of the type; rounding to an integer is exact. */
static void functions(cupel_dtype type, const uint32_t *x, feature_real *want) {
    double v = value(type, x[0]);
    const long double values[] = {expl(v),  exp2l(v),  logl(v),  log2l(v),  sqrtl(v), 1 / sqrtl(v),
                                  1.0L / v, floorl(v), ceill(v), truncl(v), rintl(v), expl(v)};
    for (int i = 0; i < 12; i++) {
        double r = (double)values[i], largest = cupel_format_largest(type);
        if (isfinite(r) && fabs(r) > largest * 1.01) r = copysign(INFINITY, r);
        want[i] = (feature_real){.value = r};
        if (isfinite(r) && (i < 7 || i == 11)) want[i].absolute = 2 * cupel_format_ulp(type, r);
    }
}

static void vectors(cupel_dtype type, const uint32_t *x, uint32_t *want) {
    uint32_t a = without_nan_bits(half_of(x[0], 0), 0, 0, type),
             b = without_nan_bits(half_of(x[0], 1), 0, 0, type);
    uint32_t p = nearest(type, feature_float(x[1])), q = nearest(type, feature_float(x[2])), sums[10];
    want[0] = feature_bits((float)value(type, x[0])), want[1] = feature_bits((float)value(type, x[0] >> 16));
    want[2] = p | q << 16, want[3] = p | p << 16, want[4] = q | p << 16;
    want[5] = a | a << 16, want[6] = b | b << 16, want[7] = b | a << 16;
    want[8] = a | without_nan_bits(half_of(x[3], 0), 0, 0, type) << 16;
    const uint32_t ends[2] = {x[4], x[7]};
    pairs(type, ends, sums);
    want[9] = sums[0];
}

#define BOTH(name, Want)                                                                                     \
    static void half_##name(const uint32_t *x, Want *want) {                                                 \
        name(CUPEL_F16, x, want);                                                                            \
    }                                                                                                        \
    static void bfloat16_##name(const uint32_t *x, Want *want) {                                             \
        name(CUPEL_BF16, x, want);                                                                           \
    }
BOTH(arithmetic, uint32_t)
BOTH(pairs, uint32_t)
BOTH(fused, uint32_t)
BOTH(comparisons, uint32_t)
BOTH(extremes, uint32_t)
BOTH(conversions, uint32_t)
BOTH(functions, feature_real)
BOTH(vectors, uint32_t)

#define TABLE(of)                                                                                            \
    static const feature of##_features[] = {                                                                 \
        {.name = #of "_arithmetic", .words = 14, .thread = of##_arithmetic},                                 \
        {.name = #of "_pairs", .words = 10, .thread = of##_pairs},                                           \
        {.name = #of "_fused", .words = 6, .thread = of##_fused},                                            \
        {.name = #of "_comparisons", .words = 10, .thread = of##_comparisons},                               \
        {.name = #of "_extremes", .words = 6, .thread = of##_extremes},                                      \
        {.name = #of "_conversions", .words = 12, .thread = of##_conversions},                               \
        {.name = #of "_functions", .words = 12, .real = of##_functions},                                     \
        {.name = #of "_vectors", .words = 10, .thread = of##_vectors},                                       \
    };                                                                                                       \
    const feature_file feature_##of = {#of, 8, of##_features}
TABLE(half);
TABLE(bfloat16);
