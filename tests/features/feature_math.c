/* What math functions mean: long double, by the C library or, where it has none, by slow direct formulas. */
#include <math.h>

#include "feature.h"

enum {
    group_exponentials,
    group_logarithms,
    group_trigonometric,
    group_inverse_trigonometric,
    group_hyperbolic,
    group_roots,
    group_error_functions,
    group_inverse_error_functions,
    group_gamma_functions
};

#define SMALL(v) fmodl(v, 9.0L)
#define MAGNITUDE(v) fabsl(v)
static const long double pi = 3.14159265358979323846264338327950288L;

/* sin(pi x) or, a quarter on, cos(pi x): the reduction is exact. */
static long double sine_of_turns(long double x, int quarters) {
    if (!isfinite(x)) return NAN;
    long double r = fmodl(x, 2), k = rintl(2 * r), t = r - k / 2;
    int quadrant = ((int)k + quarters) & 3;
    long double value = quadrant & 1 ? cosl(pi * t) : sinl(pi * t);
    return quadrant & 2 ? -value : value;
}

static long double upper_tail(long double x) {
    return erfcl(-x);
}

static long double normal(long double x) {
    return erfcl(-x * 0.70710678118654752440L) / 2;
}

/* Of a rising function between two limits, by bisection. */
static long double inverse(long double (*f)(long double), long double y, long double low, long double high) {
    long double a = -40, b = 40;
    if (isnan(y) || y < low || y > high) return NAN;
    if (y == low || y == high) return y == low ? -INFINITY : INFINITY;
    if (y == f(0)) return 0;
    /* halving goes by exponent first, for results near zero */
    if (y > f(0))
        a = 0x1p-1100L;
    else
        b = -0x1p-1100L;
    for (int i = 0; i < 200; i++) {
        long double middle = a / b > 4 || b / a > 4 ? copysignl(sqrtl(a * b), a) : (a + b) / 2;
        if (f(middle) < y)
            a = middle;
        else
            b = middle;
    }
    return (a + b) / 2;
}

/* The integral of cos(n t) exp(x cos t) over half a turn, by the trapezoid rule, which converges
 * geometrically for periodic functions. */
static long double bessel_i(long double x, int n) {
    if (isnan(x)) return x;
    if (n == 1 && fabsl(x) < 1e-3L) return x / 2 * (1 + x * x / 8 + x * x * x * x / 192);
    long double sum = 0;
    for (int i = 0; i < 64; i++) sum += cosl(n * (i + 0.5L) * pi / 64) * expl(x * cosl((i + 0.5L) * pi / 64));
    return sum / 64;
}

static int functions(int group, long double v, int doubles, feature_real *want) {
    int n = 0;
#define FUNCTION(of, name, argument, meaning, in_float, in_double)                                           \
    if (group == group_##of) {                                                                               \
        want[n].value = (double)(meaning);                                                                   \
        want[n++].ulps = doubles ? in_double : in_float;                                                     \
    }
#include "functions.inc"
#undef FUNCTION
    return n;
}

static void real(feature_real *want, long double value, double ulps) {
    *want = (feature_real){.value = (double)value, .ulps = ulps};
}

/* An infinity beside a NaN is infinite. */
static long double norm_of(int n, const long double *p) {
    long double sum = 0;
    for (int i = 0; i < n; i++)
        if (isinf(p[i])) return INFINITY;
    for (int i = 0; i < n; i++) sum += p[i] * p[i];
    return sqrtl(sum);
}

static void power_values(long double a, long double b, long double c, int doubles, feature_real *want) {
    real(want, powl(a, b), doubles ? 3 : 5), real(want + 1, hypotl(a, b), doubles ? 3 : 4);
    real(want + 2, 1 / hypotl(a, b), doubles ? 2 : 3), real(want + 3, atan2l(a, b), doubles ? 3 : 4);
    real(want + 4, sinl(c), 3), real(want + 5, cosl(c), 3);
}

static void powers(const uint32_t *x, feature_real *want) {
    power_values(feature_float(x[0]), feature_float(x[1]), feature_float(x[2]), 0, want);
}

static void powers_double(const uint32_t *x, feature_real *want) {
    power_values(feature_double(x), feature_double(x + 2), feature_double(x), 1, want);
}

static void norms(const uint32_t *x, feature_real *want) {
    long double p[5];
    for (int i = 0; i < 5; i++) p[i] = feature_float(x[i]);
    for (int i = 0; i < 3; i++) {
        real(want + 2 * i, norm_of(3 + i, p), 4);
        real(want + 2 * i + 1, 1 / norm_of(3 + i, p), 4);
    }
}

static void norms_double(const uint32_t *x, feature_real *want) {
    const long double p[3] = {feature_double(x), feature_double(x + 2), feature_double(x + 4)};
    for (int i = 0; i < 4; i += 2) real(want + i, norm_of(3, p), 3), real(want + i + 1, 1 / norm_of(3, p), 3);
}

#define GROUP(name)                                                                                          \
    static void name(const uint32_t *x, feature_real *want) {                                                \
        functions(group_##name, feature_float(x[0]), 0, want);                                               \
    }                                                                                                        \
    static void name##_double(const uint32_t *x, feature_real *want) {                                       \
        functions(group_##name, feature_double(x), 1, want);                                                 \
    }
GROUP(exponentials)
GROUP(logarithms)
GROUP(trigonometric)
GROUP(inverse_trigonometric)
GROUP(hyperbolic)
GROUP(roots)
GROUP(error_functions)
GROUP(inverse_error_functions)
GROUP(gamma_functions)

static const feature in_float[] = {
    {.name = "exponentials", .words = 4, .real = exponentials},
    {.name = "logarithms", .words = 4, .real = logarithms},
    {.name = "trigonometric", .words = 5, .real = trigonometric},
    {.name = "inverse_trigonometric", .words = 3, .real = inverse_trigonometric},
    {.name = "hyperbolic", .words = 6, .real = hyperbolic},
    {.name = "roots", .words = 4, .real = roots},
    {.name = "error_functions", .words = 4, .real = error_functions},
    {.name = "inverse_error_functions", .words = 3, .real = inverse_error_functions},
    {.name = "gamma_functions", .words = 4, .real = gamma_functions},
    {.name = "powers", .words = 6, .real = powers},
    {.name = "norms", .words = 6, .real = norms},
};
const feature_file feature_math_float = {"math_float", sizeof in_float / sizeof *in_float, in_float};

static const feature in_double[] = {
    {.name = "exponentials_double", .words = 8, .real = exponentials_double, .doubles = 1},
    {.name = "logarithms_double", .words = 8, .real = logarithms_double, .doubles = 1},
    {.name = "trigonometric_double", .words = 10, .real = trigonometric_double, .doubles = 1},
    {.name = "inverse_trigonometric_double", .words = 6, .real = inverse_trigonometric_double, .doubles = 1},
    {.name = "hyperbolic_double", .words = 12, .real = hyperbolic_double, .doubles = 1},
    {.name = "roots_double", .words = 8, .real = roots_double, .doubles = 1},
    {.name = "error_functions_double", .words = 8, .real = error_functions_double, .doubles = 1},
    {.name = "inverse_error_functions_double",
     .words = 6,
     .real = inverse_error_functions_double,
     .doubles = 1},
    {.name = "gamma_functions_double", .words = 8, .real = gamma_functions_double, .doubles = 1},
    {.name = "powers_double", .words = 12, .real = powers_double, .doubles = 1},
    {.name = "norms_double", .words = 8, .real = norms_double, .doubles = 1},
};
const feature_file feature_math_double = {"math_double", sizeof in_double / sizeof *in_double, in_double};
