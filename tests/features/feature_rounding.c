/* What arithmetic with a stated rounding means: the processor's own rounding modes. */
#include <fenv.h>
#include <math.h>

#include "feature.h"

#pragma STDC FENV_ACCESS ON

static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};

/* want[mode]: the expression over volatile a, b and c in each mode. */
#define FOUR(T, put, step, a_, b_, c_, expression)                                                           \
    for (int mode = 0; mode < 4; mode++) {                                                                   \
        volatile T a = (a_), b = (b_), c = (c_);                                                             \
        fesetround(modes[mode]);                                                                             \
        volatile T r = (expression);                                                                         \
        fesetround(FE_TONEAREST);                                                                            \
        (void)a, (void)b, (void)c;                                                                           \
        put(want + (step)*mode, r);                                                                          \
    }                                                                                                        \
    want += 4 * (step)

static void put_float(uint32_t *want, float f) {
    *want = feature_bits(f);
}

#define FLOATS(expression)                                                                                   \
    FOUR(float, put_float, 1, feature_float(x[0]), feature_float(x[1]), feature_float(x[2]), expression)
#define DOUBLES(expression)                                                                                  \
    FOUR(double, feature_put_double, 2, feature_double(x), feature_double(x + 2), feature_double(x + 4),     \
         expression)

static void rounded_sum(const uint32_t *x, uint32_t *want) {
    FLOATS(a + b);
    FLOATS(a - b);
    FLOATS(a * b);
}

static void rounded_fma(const uint32_t *x, uint32_t *want) {
    FLOATS(fmaf(a, b, c));
}

static void rounded_quotient(const uint32_t *x, uint32_t *want) {
    FLOATS(a / b);
    FLOATS(1.0f / b);
    FLOATS(sqrtf(fabsf(a)));
    *want = 0x7fc00000;
}

static void rounded_sum_double(const uint32_t *x, uint32_t *want) {
    DOUBLES(a + b);
    DOUBLES(a - b);
    DOUBLES(a * b);
}

static void rounded_fma_double(const uint32_t *x, uint32_t *want) {
    DOUBLES(fma(a, b, c));
}

static void rounded_quotient_double(const uint32_t *x, uint32_t *want) {
    DOUBLES(a / b);
    DOUBLES(1.0 / b);
    DOUBLES(sqrt(fabs(a)));
}

static void unfused(const uint32_t *x, uint32_t *want) {
    volatile float product = feature_float(x[4]) * feature_float(x[5]);
    volatile double wide = feature_double(x) * feature_double(x + 2);
    want[0] = feature_bits(product + feature_float(x[6]));
    want[1] = feature_bits(fmaf(feature_float(x[4]), feature_float(x[5]), feature_float(x[6])));
    feature_put_double(want + 2, wide + 1.0);
}

static const feature features[] = {
    {.name = "rounded_sum", .words = 12, .thread = rounded_sum},
    {.name = "rounded_fma", .words = 4, .thread = rounded_fma},
    {.name = "rounded_quotient", .words = 13, .thread = rounded_quotient},
    {.name = "rounded_sum_double", .words = 24, .thread = rounded_sum_double},
    {.name = "rounded_fma_double", .words = 8, .thread = rounded_fma_double},
    {.name = "rounded_quotient_double", .words = 24, .thread = rounded_quotient_double},
    {.name = "unfused", .words = 4, .thread = unfused},
};
FEATURE_FILE(rounding);
