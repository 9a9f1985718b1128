#include <math.h>
#include <string.h>

#include "pattern.h"

double cupel_power_of_two(int exponent) {
    if (exponent < -1022) return ldexp(1, exponent);
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* The natural logarithm of x in (0, 1) by the series of atanh; libm's may differ in the last bit between
 * versions. */
static double portable_log(double x) {
    static const double ln2 = 0x1.62e42fefa39efp-1;
    int exponent;
    double m = frexp(x, &exponent); /* in [1/2, 1) */
    if (m < 0x1.6a09e667f3bcdp-1) m *= 2, exponent--;
    double t = (m - 1) / (m + 1), t2 = t * t, sum = 0;
    for (int k = 21; k >= 1; k -= 2) sum = sum * t2 + 1.0 / k;
    return 2 * t * sum + exponent * ln2;
}

static const double central_numerator[] = {-3.969683028665376e+01, 2.209460984245205e+02,
                                           -2.759285104469687e+02, 1.383577518672690e+02,
                                           -3.066479806614716e+01, 2.506628277459239e+00};
static const double central_denominator[] = {-5.447609879822406e+01, 1.615858368580409e+02,
                                             -1.556989798598866e+02, 6.680131188771972e+01,
                                             -1.328068155288572e+01, 1.0};
static const double tail_numerator[] = {-7.784894002430293e-03, -3.223964580411365e-01,
                                        -2.400758277161838e+00, -2.549732539343734e+00,
                                        4.374664141464968e+00,  2.938163982698783e+00};
static const double tail_denominator[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                          3.754408661907416e+00, 1.0};
static const double tail_below = 0.02425;

static inline double polynomial(const double *coefficients, int count, double x) {
    double value = coefficients[0];
    for (int i = 1; i < count; i++) value = value * x + coefficients[i];
    return value;
}

static double lower_tail(double p) {
    double q = sqrt(-2 * portable_log(p));
    return polynomial(tail_numerator, 6, q) / polynomial(tail_denominator, 5, q);
}

double cupel_normal_from(uint64_t word) {
    double p = ((double)(word >> 12) + 0.5) * 0x1p-52; /* never 0, never 1 */
    if (p < tail_below) return lower_tail(p);
    if (p > 1 - tail_below) return -lower_tail(1 - p);
    double q = p - 0.5, r = q * q;
    return polynomial(central_numerator, 6, r) * q / polynomial(central_denominator, 6, r);
}
