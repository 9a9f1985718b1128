/* Taking numbers apart, rounding them to integers, remainders, comparisons that order NaNs: exact functions. */
#include "feature.cuh"

__global__ void round_to_integer(const unsigned *x, unsigned *y) {
    FEATURE(16);
    float v = as_float(x[0]), w = fmodf(v, 1e6f);
    double d = as_double(x);
    y[0] = bits(floorf(v)), y[1] = bits(ceilf(v)), y[2] = bits(truncf(v)), y[3] = bits(rintf(v));
    y[4] = bits(nearbyintf(v)), y[5] = bits(roundf(v));
    if (w != w) w = 0.0f;
    y[6] = (unsigned)lrintf(w), y[7] = (unsigned)lroundf(w);
    put(y + 8, (unsigned long long)llrintf(w)), put(y + 10, (unsigned long long)llroundf(w));
    put(y + 12, floor(d)), put(y + 14, round(d));
}
__global__ void take_apart(const unsigned *x, unsigned *y) {
    FEATURE(13);
    float v = as_float(x[0]), whole;
    int exponent = 0;
    y[0] = bits(frexpf(v, &exponent)), y[1] = isfinite(v) ? (unsigned)exponent : 0;
    y[2] = bits(modff(v, &whole)), y[3] = bits(whole);
    y[4] = bits(ldexpf(v, (int)x[1] % 300)), y[5] = bits(scalbnf(v, (int)x[1] % 300)), y[6] = bits(scalblnf(v, (long)(int)x[1] % 300));
    y[7] = bits(logbf(v)), y[8] = isfinite(v) && v != 0.0f ? (unsigned)ilogbf(v) : 0;
    y[9] = bits(copysignf(v, as_float(x[1]))), y[10] = bits(fabsf(v));
    put(y + 11, ldexp(as_double(x), (int)x[2] % 2000));
}
__global__ void remainders(const unsigned *x, unsigned *y) {
    FEATURE(8);
    float a = as_float(x[0]), b = as_float(x[1]), r;
    int quotient = 0;
    y[0] = bits(fmodf(a, b)), y[1] = bits(remainderf(a, b));
    r = remquof(a, b, &quotient);
    y[2] = bits(r), y[3] = r == r ? (unsigned)(quotient < 0 ? -quotient : quotient) & 7 : 0;
    y[4] = bits(fdimf(a, b));
    put(y + 5, fmod(as_double(x + 2), as_double(x + 4)));
    y[7] = bits(fmodf(a, 1.0f));
}
__global__ void extremes(const unsigned *x, unsigned *y) {
    FEATURE(12);
    float a = as_float(x[0]), b = as_float(x[1]);
    y[0] = bits(fminf(a, b) + 0.0f), y[1] = bits(fmaxf(a, b) + 0.0f);
    y[2] = bits(min(a, b) + 0.0f), y[3] = bits(max(a, b) + 0.0f);
    put(y + 4, fmin(as_double(x + 2), as_double(x + 4)) + 0.0), put(y + 6, fmax(as_double(x + 2), as_double(x + 4)) + 0.0);
    put(y + 8, max(a, 1.5) + 0.0);
    y[10] = bits(nextafterf(a, b)), y[11] = bits(nextafterf(a, a));
}
__global__ void classes(const unsigned *x, unsigned *y) {
    FEATURE(4);
    float v = as_float(x[0]), w = as_float(x[1]);
    double d = as_double(x + 2);
    y[0] = (isnan(v) != 0) | (isinf(v) != 0) << 1 | (isfinite(v) != 0) << 2 | (signbit(v) != 0) << 3;
    y[1] = (isnan(d) != 0) | (isinf(d) != 0) << 1 | (isfinite(d) != 0) << 2 | (signbit(d) != 0) << 3;
    y[2] = (v < w) | (v <= w) << 1 | (v == w) << 2 | (v != w) << 3 | (v > w) << 4 | (v >= w) << 5 | !v << 6;
    y[3] = (std::isnan(v) != 0) | (std::isinf(v) != 0) << 1;
}
__global__ void fused(const unsigned *x, unsigned *y) {
    FEATURE(5);
    y[0] = bits(fmaf(as_float(x[0]), as_float(x[1]), as_float(x[2])));
    put(y + 1, fma(as_double(x), as_double(x + 2), as_double(x + 4)));
    put(y + 3, fma((double)as_float(x[0]), 2.0, 1.0));
}
