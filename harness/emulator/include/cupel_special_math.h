/* Math functions that neither the C library nor simple formulas give: inverse error functions, scaled complementary error
 * function, Bessel functions, norms. In long double, whose eleven further bits keep the result within CUDA's documented errors. */
#ifndef CUPEL_SPECIAL_MATH_H
#define CUPEL_SPECIAL_MATH_H

/* Newton's method for f(x) = erfc(x) - y with Halley's correction; y in (0, 1]. The start is Winitzki's formula ("A handy
 * approximation for the error function and its inverse", 2008), below it the tail's leading term. */
CUPEL_BOTH long double cupel_erfc_inverse_upper(long double y) {
    long double l = logl(y * (2 - y)), t = 4.3307467508L + l / 2, x = sqrtl(sqrtl(t * t - l / 0.147L) - t);
    if (y < 1e-8L) {
        x = sqrtl(-logl(y));
        for (int i = 0; i < 4; i++) x = sqrtl(-logl(y * x * 1.7724538509055160273L));
    }
    for (int i = 0; i < 4; i++) {
        long double error = erfcl(x) - y, slope = -1.1283791670955125739L * expl(-x * x), step = error / slope;
        if (slope == 0) break;
        x -= step / (1 + x * step);
    }
    return x;
}
CUPEL_BOTH long double cupel_erf_inverse(long double y) {
    if (fabsl(y) > 0.5L) {
        long double x = cupel_erfc_inverse_upper(1 - fabsl(y));
        return y < 0 ? -x : x;
    }
    long double x = y * 0.88622692545275801365L;
    for (int i = 0; i < 6; i++) {
        long double step = (erfl(x) - y) / (1.1283791670955125739L * expl(-x * x));
        x -= step / (1 + x * step);
    }
    return x;
}
CUPEL_BOTH double erfinv(double y) {
    if (isnan(y) || fabs(y) > 1) return NAN;
    return fabs(y) == 1 ? copysign((double)INFINITY, y) : y == 0 ? y : (double)cupel_erf_inverse(y);
}
CUPEL_BOTH double erfcinv(double y) {
    if (isnan(y) || y < 0 || y > 2) return NAN;
    if (y == 0 || y == 2) return y == 0 ? INFINITY : -INFINITY;
    if (y > 0.5 && y < 1.5) return (double)cupel_erf_inverse(1 - (long double)y);
    return (double)(y < 1 ? cupel_erfc_inverse_upper(y) : -cupel_erfc_inverse_upper(2 - (long double)y));
}
CUPEL_BOTH double normcdfinv(double p) {
    if (isnan(p) || p < 0 || p > 1) return NAN;
    if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
    if (p > 0.25 && p < 0.75) return (double)(1.4142135623730950488L * cupel_erf_inverse(2 * (long double)p - 1));
    if (p < 0.5) return (double)(-1.4142135623730950488L * cupel_erfc_inverse_upper(2 * (long double)p));
    return (double)(1.4142135623730950488L * cupel_erfc_inverse_upper(2 * (1 - (long double)p)));
}
/* exp(x^2) erfc(x); from 25 on by the asymptotic series (Abramowitz and Stegun 7.1.23), whose terms shrink there. */
CUPEL_BOTH double erfcx(double x) {
    if (x < 25) return (double)(expl((long double)x * x) * erfcl(x));
    long double sum = 1, term = 1, square = 2 * (long double)x * x;
    for (int k = 1; k <= 12; k++) sum += term *= -(2 * k - 1) / square;
    return (double)(sum / (x * 1.7724538509055160273L));
}
/* The power series: all its terms have one sign. */
CUPEL_BOTH double cupel_bessel_i(double x, int order) {
    if (isnan(x) || isinf(x)) return order ? x : fabs(x);
    if (fabs(x) > 720) return order && x < 0 ? -INFINITY : INFINITY;
    long double quarter = (long double)x * x / 4, term = order ? (long double)x / 2 : 1, sum = term;
    for (int k = 1; k < 1200 && fabsl(term) > 1e-21L * fabsl(sum); k++)
        sum += term *= quarter / ((long double)k * (k + order));
    return (double)sum;
}
CUPEL_BOTH double cyl_bessel_i0(double x) { return cupel_bessel_i(x, 0); }
CUPEL_BOTH double cyl_bessel_i1(double x) { return cupel_bessel_i(x, 1); }

/* Infinite where any part is, even beside a NaN, as hypot. */
CUPEL_BOTH long double cupel_norm(int n, const double *p) {
    long double sum = 0;
    for (int i = 0; i < n; i++)
        if (isinf(p[i])) return INFINITY;
    for (int i = 0; i < n; i++) sum += (long double)p[i] * p[i];
    return sqrtl(sum);
}
CUPEL_BOTH double norm3d(double a, double b, double c) {
    const double p[] = {a, b, c};
    return (double)cupel_norm(3, p);
}
CUPEL_BOTH double norm4d(double a, double b, double c, double d) {
    const double p[] = {a, b, c, d};
    return (double)cupel_norm(4, p);
}
CUPEL_BOTH double rnorm3d(double a, double b, double c) {
    const double p[] = {a, b, c};
    return (double)(1 / cupel_norm(3, p));
}
CUPEL_BOTH double rnorm4d(double a, double b, double c, double d) {
    const double p[] = {a, b, c, d};
    return (double)(1 / cupel_norm(4, p));
}
template <class T> CUPEL_BOTH long double cupel_norm_of(int n, const T *p) {
    long double sum = 0;
    bool infinite = false;
    for (int i = 0; i < n; i++) {
        long double v = p[i];
        infinite |= isinf(p[i]);
        sum += v * v;
    }
    return infinite ? (long double)INFINITY : sqrtl(sum);
}
CUPEL_BOTH double norm(int n, const double *p) { return (double)cupel_norm_of(n, p); }
CUPEL_BOTH double rnorm(int n, const double *p) { return (double)(1 / cupel_norm_of(n, p)); }
CUPEL_BOTH float normf(int n, const float *p) { return (float)cupel_norm_of(n, p); }
CUPEL_BOTH float rnormf(int n, const float *p) { return (float)(1 / cupel_norm_of(n, p)); }
CUPEL_BOTH float norm3df(float a, float b, float c) { return (float)norm3d(a, b, c); }
CUPEL_BOTH float rnorm3df(float a, float b, float c) { return (float)rnorm3d(a, b, c); }
CUPEL_BOTH float norm4df(float a, float b, float c, float d) { return (float)norm4d(a, b, c, d); }
CUPEL_BOTH float rnorm4df(float a, float b, float c, float d) { return (float)rnorm4d(a, b, c, d); }

#define CUPEL_FLOAT_FORM(name)                                                                               \
    CUPEL_BOTH float name##f(float x) { return (float)name((double)x); }
CUPEL_FLOAT_FORM(erfinv)
CUPEL_FLOAT_FORM(erfcinv)
CUPEL_FLOAT_FORM(normcdfinv)
CUPEL_FLOAT_FORM(erfcx)
CUPEL_FLOAT_FORM(cyl_bessel_i0)
CUPEL_FLOAT_FORM(cyl_bessel_i1)

#endif
