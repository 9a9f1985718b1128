#include "property_arithmetic.h"

#include <math.h>

float property_nudge(float x, int steps, cupel_random *random) {
    if (!isfinite(x) || x == 0) return x;
    const int by = (int)cupel_random_below(random, (uint64_t)(2 * steps + 1)) - steps;
    for (int i = 0; i < by; i++) x = nextafterf(x, INFINITY);
    for (int i = 0; i < -by; i++) x = nextafterf(x, -INFINITY);
    return x;
}

float property_edge(double exact, double ulps, double absolute, cupel_random *random) {
    if (!isfinite(exact) || (exact == 0 && absolute == 0)) return (float)exact;
    const int exponent = exact == 0 ? -126 : ilogb(exact), lowest = -149;
    const double step = ldexp(1, exponent - 23 > lowest ? exponent - 23 : lowest);
    double t = 2 * cupel_random_unit(random) - 1;
    if (cupel_random_below(random, 3) > 0) t = t < 0 ? -1 : 1;
    const double result = exact + t * (ulps * step + absolute);
    if (absolute == 0 && (exact < 0) != (result < 0)) return (float)copysign(0, exact);
    return (float)result;
}

static const float log2_e = 1.44269504f;

/* Every implementation keeps to its side of exp(0) = 1. */
static float same_side(float x, float y) {
    return (x > 0 && y < 1) || (x < 0 && y > 1) || x == 0 ? 1 : y;
}

float property_exp(float x, int form, cupel_random *random) {
    if (form == 0) return expf(x);
    if (form == 3)
        return same_side(x, property_edge(exp((double)x), 2 + floor(1.173 * fabs((double)x)), 0, random));
    return same_side(x, property_nudge(exp2f(x * log2_e), form - 1, random));
}

float property_divide(float x, float y, int form, cupel_random *random) {
    if (form == 0) return x / y;
    if (form == 1) return x * (1.0f / y);
    int exponent;
    if (frexpf(y, &exponent) == 0.5f) return x / y; /* the hardware's reciprocal of a power of two is exact */
    /* div.approx is a product with the reciprocal, so a subnormal quotient is rounded once */
    if (form == 2 || (form == 3 && fabsf(x / y) < 0x1p-125f)) return x * property_nudge(1.0f / y, 1, random);
    if (fabsf(y) < 0x1p-126f || !isfinite(y) || !isfinite(x)) return x / y;
    if (fabsf(y) > 0x1p126f) return copysignf(0, x) * copysignf(1, y);
    return property_edge((double)x / (double)y, 2, 0, random);
}

float property_rsqrt(float x, int form, cupel_random *random) {
    if (form == 0) return 1.0f / sqrtf(x);
    if (form == 1 || !(x > 0) || !isfinite(x)) return property_nudge((float)(1 / sqrt((double)x)), 1, random);
    return property_nudge(1.0f / property_nudge(sqrtf(x), 1, random), 1, random);
}

float property_log(float x, int form, cupel_random *random) {
    if (form == 0) return logf(x);
    if (form == 1) return log2f(x) * 0.693147181f;
    const double exact = log((double)x);
    return x >= 0.5f && x <= 2 ? property_edge(exact, 0, 0x1.81p-22, random)
                               : property_edge(exact, 3, 0, random);
}

static float lanes(const float *x, int64_t n, int count) {
    float partial[256] = {0};
    for (int64_t i = 0; i < n; i++) partial[i % count] += x[i];
    for (int half = count / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) partial[i] += partial[i + half];
    }
    return partial[0];
}

static float pairwise(const float *x, int64_t n) {
    if (n == 0) return 0;
    if (n == 1) return x[0];
    return pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2);
}

static float random_tree(const float *x, int64_t n, cupel_random *random) {
    if (n == 0) return 0;
    if (n == 1) return x[0];
    const int64_t cut = 1 + (int64_t)cupel_random_below(random, (uint64_t)(n - 1));
    return random_tree(x, cut, random) + random_tree(x + cut, n - cut, random);
}

static float kahan(const float *x, int64_t n) {
    float sum = 0, lost = 0;
    for (int64_t i = 0; i < n; i++) {
        const float y = x[i] - lost, t = sum + y;
        lost = isfinite(t) ? (t - sum) - y : 0;
        sum = t;
    }
    return sum;
}

float property_sum(const float *x, int64_t n, int order, cupel_random *random) {
    float s = 0;
    switch (order % ORDER_COUNT) {
    case 0:
        for (int64_t i = 0; i < n; i++) s += x[i];
        return s;
    case 1:
        for (int64_t i = n; i-- > 0;) s += x[i];
        return s;
    case 2: return pairwise(x, n);
    case 3: return lanes(x, n, 32);
    case 4: return lanes(x, n, 256);
    case 5: return kahan(x, n);
    case 6: return lanes(x, n, 8);
    case 7: return lanes(x, n, 64);
    case 8: return lanes(x, n, 128);
    default: return random_tree(x, n, random);
    }
}
