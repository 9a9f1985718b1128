/* What the hardware's fast functions may return: the errors of the CUDA C++ Programming Guide, "Intrinsic
 * Functions", widened where an H200 was measured to need more (tests/records/function_errors.csv). */
#include <math.h>

#include "feature.h"

static float unit(uint32_t x) {
    return (float)((int32_t)x >> 8) * 0x1p-23f;
}

static float positive(uint32_t x) {
    return feature_float((x & 0x7fffff) | (95 + (x >> 23 & 63)) << 23);
}

static void set(feature_real *want, double value, double ulps, double absolute) {
    *want = (feature_real){.value = value, .ulps = ulps, .absolute = absolute};
}

static void fast_exponentials(const uint32_t *x, feature_real *want) {
    float v = 80.0f * unit(x[0]), w = 0.4f * v;
    set(want, exp(v), 3 + floor(fabs(1.173 * v)), 0);
    set(want + 1, pow(10, w), 3 + floor(fabs(2.97 * w)), 0);
    set(want + 2, exp2(v), 3, 0);
}

static void logarithm(feature_real *want, float v, double value, double ulps, double absolute) {
    int near_one = v >= 0.5f && v <= 2.0f;
    set(want, value, near_one ? 0.5 : ulps, near_one ? absolute : 0);
}

static void fast_logarithms(const uint32_t *x, feature_real *want) {
    float v = positive(x[0]);
    logarithm(want, v, log(v), 4, 0x1p-21);
    logarithm(want + 1, v, log2(v), 3, 0x1p-21);
    logarithm(want + 2, v, log10(v), 4, 0x1p-23);
}

static void fast_trigonometric(const uint32_t *x, feature_real *want) {
    float v = 3.14159f * unit(x[0]);
    for (int i = 0; i < 4; i++) set(want + i, i & 1 ? cos(v) : sin(v), 0.5, 0x1p-20);
}

static void fast_tangent(const uint32_t *x, feature_real *want) {
    set(want, tan(0.75f * unit(x[0])), 4, 0x1p-19);
}

/* exp2f(y * __log2f(x)): the logarithm's error times y, and the exponential's. */
static void fast_power(const uint32_t *x, feature_real *want) {
    float a = positive(x[0]), b = unit(x[1]);
    double exponent = b * log2(a);
    set(want, exp2(exponent), 4 + fabs(exponent) * 6 + fabs(b) * 8, 0);
}

static void fast_quotient(const uint32_t *x, feature_real *want) {
    float a = unit(x[0]), b = positive(x[1]);
    set(want, (double)a / b, 3, 0x1p-149), set(want + 1, (double)a / b, 3, 0x1p-149);
    set(want + 2, 1 / sqrt(b), 0.5, 0);
}

static void fast_exact(const uint32_t *x, uint32_t *want) {
    float v = feature_float(x[0]);
    want[0] = feature_bits(v > 1 ? 1.0f : v > 0 ? v : 0.0f);
    want[1] = 0, want[2] = 0x7fc00000;
    want[3] = 0x3f800000;
}

static const feature features[] = {
    {.name = "fast_exponentials", .words = 3, .real = fast_exponentials},
    {.name = "fast_logarithms", .words = 3, .real = fast_logarithms},
    {.name = "fast_trigonometric", .words = 4, .real = fast_trigonometric},
    {.name = "fast_tangent", .words = 1, .real = fast_tangent},
    {.name = "fast_power", .words = 1, .real = fast_power},
    {.name = "fast_quotient", .words = 3, .real = fast_quotient},
    {.name = "fast_exact", .words = 4, .thread = fast_exact},
};
FEATURE_FILE(fast_math);
