/* Arithmetic and conversions with a stated rounding. Directed roundings start from the nearest result and the sign of what it
 * leaves out, which is exact. */
#ifndef CUPEL_ROUNDING_H
#define CUPEL_ROUNDING_H

enum cupel_rounding { CUPEL_RN, CUPEL_RZ, CUPEL_RU, CUPEL_RD };

/* nearest, given the sign of (exact - nearest): stepped to the neighbour that the mode asks for. */
template <class T> CUPEL_BOTH T cupel_directed(T nearest, double rest, cupel_rounding mode) {
    T infinite = std::numeric_limits<T>::infinity(), largest = std::numeric_limits<T>::max();
    if (isnan(nearest) || mode == CUPEL_RN) return nearest;
    if (isinf(nearest)) {
        /* the caller knows that the exact result is finite: rest points back to it */
        if (rest < 0 && nearest > 0 && mode != CUPEL_RU) return largest;
        if (rest > 0 && nearest < 0 && mode != CUPEL_RD) return -largest;
        return nearest;
    }
    if (rest > 0 && (mode == CUPEL_RU || (mode == CUPEL_RZ && nearest < 0))) return nextafter(nearest, infinite);
    if (rest < 0 && (mode == CUPEL_RD || (mode == CUPEL_RZ && nearest > 0))) return nextafter(nearest, -infinite);
    return nearest;
}

/* float results: exact in long double for products, and near enough to tell the side for the rest. */
CUPEL_BOTH float cupel_round_to_float(long double exact, double rest, cupel_rounding mode) {
    float nearest = (float)exact;
    long double difference = isinf(nearest) ? -(long double)nearest : exact - nearest;
    double side = difference > 0 ? 1 : difference < 0 ? -1 : rest;
    if (isinf(nearest) && isinf((double)exact)) side = 0;
    return cupel_directed(nearest, side, mode);
}

/* The sum of two doubles, rounded to float once: what the addition in double leaves out decides ties and sides. */
CUPEL_BOTH float cupel_sum_to_float(double a, double b, cupel_rounding mode) {
    double sum = a + b, bb = sum - a, rest = (a - (sum - bb)) + (b - bb);
    if (!(fabs(sum) <= DBL_MAX)) return (float)sum;
    if (rest != 0) { /* round to odd: a double that is inexact in the last place cannot be a tie */
        uint64_t bits = cupel_bits<uint64_t>(sum);
        if (!(bits & 1)) bits += (rest > 0) == (sum > 0) ? 1 : -1;
        sum = cupel_bits<double>(bits);
    }
    return cupel_round_to_float(sum, 0, mode);
}

CUPEL_BOTH float cupel_div_to_float(float a, float b, cupel_rounding mode) {
    float q = a / b;
    if (mode == CUPEL_RN || isnan(q) || b == 0 || isinf(a) || isinf(b)) return q;
    if (isinf(q)) return cupel_directed(q, q > 0 ? -1 : 1, mode);
    double rest = -fma((double)q, (double)b, -(double)a); /* exact sign: q b has 48 bits */
    return cupel_directed(q, b > 0 ? rest : -rest, mode);
}

CUPEL_BOTH float cupel_sqrt_to_float(float a, cupel_rounding mode) {
    float q = sqrtf(a);
    if (mode == CUPEL_RN || isnan(q) || isinf(q)) return q;
    return cupel_directed(q, (double)a - (double)q * q, mode);
}

#define CUPEL_FLOAT_MODE(suffix, mode)                                                                       \
    CUPEL_BOTH float __fadd_##suffix(float a, float b) { return cupel_sum_to_float(a, b, mode); }            \
    CUPEL_BOTH float __fsub_##suffix(float a, float b) { return cupel_sum_to_float(a, -(double)b, mode); }   \
    CUPEL_BOTH float __fmul_##suffix(float a, float b) { return cupel_round_to_float((double)a * b, 0, mode); } \
    CUPEL_BOTH float __fmaf_##suffix(float a, float b, float c) {                                            \
        return cupel_sum_to_float((double)a * b, c, mode);                                                   \
    }                                                                                                        \
    CUPEL_BOTH float __fdiv_##suffix(float a, float b) { return cupel_div_to_float(a, b, mode); }            \
    CUPEL_BOTH float __frcp_##suffix(float a) { return cupel_div_to_float(1.0f, a, mode); }                  \
    CUPEL_BOTH float __fsqrt_##suffix(float a) { return cupel_sqrt_to_float(a, mode); }
CUPEL_FLOAT_MODE(rz, CUPEL_RZ)
CUPEL_FLOAT_MODE(ru, CUPEL_RU)
CUPEL_FLOAT_MODE(rd, CUPEL_RD)

/* The same in double: the nearest result, and the sign of what it leaves out from error-free transformations (Ogita, Rump, Oishi,
 * "Accurate sum and dot product", 2005). */
CUPEL_BOTH double cupel_sum_rest(double a, double b, double sum) {
    double bb = sum - a;
    return (a - (sum - bb)) + (b - bb);
}
CUPEL_BOTH double cupel_directed_finite(double nearest, double rest, bool finite, cupel_rounding mode) {
    if (isinf(nearest)) return cupel_directed(nearest, finite ? (nearest > 0 ? -1.0 : 1.0) : 0.0, mode);
    return cupel_directed(nearest, rest, mode);
}
/* A sum that is exactly zero is -0 only when rounded down. */
CUPEL_BOTH double cupel_zero_sum(double sum, bool cancelled, cupel_rounding mode) {
    return sum == 0 && cancelled && mode == CUPEL_RD ? -0.0 : sum;
}
CUPEL_BOTH double cupel_add_directed(double a, double b, cupel_rounding mode) {
    double sum = a + b;
    if (sum == 0) return cupel_zero_sum(sum, signbit(a) != signbit(b), mode);
    return cupel_directed_finite(sum, cupel_sum_rest(a, b, sum), !isinf(a) && !isinf(b), mode);
}
/* The exact value of a b + c minus its nearest double, its sign being right. */
CUPEL_BOTH double cupel_fma_rest(double a, double b, double c, double nearest) {
    /* scaled, so that the product's low part neither underflows nor the product overflows; a power of two changes no sign */
    int e = 0;
    a = frexp(a, &e);
    int f = 0;
    b = frexp(b, &f);
    const long double product = (long double)a * b, low = (long double)fma(a, b, -(double)product) + ((double)product - product);
    const long double scale_c = ldexpl(c, -e - f), scale_n = ldexpl(nearest, -e - f);
    long double s = product + scale_c, bb = s - product, r = (product - (s - bb)) + (scale_c - bb);
    long double t = s - scale_n, tt = t - s, u = (s - (t - tt)) + (-scale_n - tt);
    long double v = t + r, vv = v - t, w = (t - (v - vv)) + (r - vv);
    return v + (w + (u + low)) > 0 ? 1 : v + (w + (u + low)) < 0 ? -1 : 0;
}
CUPEL_BOTH double cupel_fma_directed(double a, double b, double c, cupel_rounding mode) {
    double nearest = fma(a, b, c);
    bool finite = !isinf(a) && !isinf(b) && !isinf(c);
    if (isnan(nearest) || !finite) return nearest;
    double rest = isinf(nearest) ? 0 : cupel_fma_rest(a, b, c, nearest);
    if (nearest == 0 && rest == 0)
        return cupel_zero_sum(nearest, (signbit(a) != signbit(b)) != (bool)signbit(c), mode);
    return cupel_directed_finite(nearest, rest, finite, mode);
}
CUPEL_BOTH double cupel_div_directed(double a, double b, cupel_rounding mode) {
    double q = a / b;
    if (isnan(q) || b == 0 || isinf(a) || isinf(b)) return q;
    double rest = isinf(q) ? 0 : -cupel_fma_rest(q, b, -a, 0);
    return cupel_directed_finite(q, b > 0 ? rest : -rest, true, mode);
}
CUPEL_BOTH double cupel_sqrt_directed(double a, cupel_rounding mode) {
    double q = sqrt(a);
    if (isnan(q) || isinf(q) || q == 0) return q;
    return cupel_directed(q, -cupel_fma_rest(q, q, -a, 0), mode);
}
#define CUPEL_DOUBLE_MODE(suffix, mode)                                                                      \
    CUPEL_BOTH double __dadd_##suffix(double a, double b) { return cupel_add_directed(a, b, mode); }         \
    CUPEL_BOTH double __dsub_##suffix(double a, double b) { return cupel_add_directed(a, -b, mode); }        \
    CUPEL_BOTH double __dmul_##suffix(double a, double b) {                                                  \
        return cupel_fma_directed(a, b, signbit(a) != signbit(b) ? -0.0 : 0.0, mode);                        \
    }                                                                                                        \
    CUPEL_BOTH double __fma_##suffix(double a, double b, double c) { return cupel_fma_directed(a, b, c, mode); } \
    CUPEL_BOTH double __ddiv_##suffix(double a, double b) { return cupel_div_directed(a, b, mode); }         \
    CUPEL_BOTH double __drcp_##suffix(double a) { return cupel_div_directed(1.0, a, mode); }                 \
    CUPEL_BOTH double __dsqrt_##suffix(double a) { return cupel_sqrt_directed(a, mode); }                    \
    CUPEL_BOTH float __fmaf_ieee_##suffix(float a, float b, float c) { return __fmaf_##suffix(a, b, c); }    \
    CUPEL_BOTH double __ll2double_##suffix(long long x) {                                                    \
        return cupel_directed((double)x, (double)((long double)x - (double)x), mode);                        \
    }                                                                                                        \
    CUPEL_BOTH double __ull2double_##suffix(unsigned long long x) {                                          \
        return cupel_directed((double)x, (double)((long double)x - (double)x), mode);                        \
    }
CUPEL_DOUBLE_MODE(rz, CUPEL_RZ)
CUPEL_DOUBLE_MODE(ru, CUPEL_RU)
CUPEL_DOUBLE_MODE(rd, CUPEL_RD)

CUPEL_BOTH float __fadd_rn(float a, float b) { return a + b; }
CUPEL_BOTH float __fsub_rn(float a, float b) { return a - b; }
CUPEL_BOTH float __fmul_rn(float a, float b) { return a * b; }
CUPEL_BOTH float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
CUPEL_BOTH float __fmaf_ieee_rn(float a, float b, float c) { return fmaf(a, b, c); }
CUPEL_BOTH float __fdiv_rn(float a, float b) { return a / b; }
CUPEL_BOTH float __frcp_rn(float a) { return 1.0f / a; }
CUPEL_BOTH float __fsqrt_rn(float a) { return sqrtf(a); }
CUPEL_BOTH float __frsqrt_rn(float a) { return (float)(1.0L / sqrtl((long double)a)); }
CUPEL_BOTH double __dadd_rn(double a, double b) { return a + b; }
CUPEL_BOTH double __dsub_rn(double a, double b) { return a - b; }
CUPEL_BOTH double __dmul_rn(double a, double b) { return a * b; }
CUPEL_BOTH double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
CUPEL_BOTH double __ddiv_rn(double a, double b) { return a / b; }
CUPEL_BOTH double __drcp_rn(double a) { return 1.0 / a; }
CUPEL_BOTH double __dsqrt_rn(double a) { return sqrt(a); }

/* Real to integer: clamped to the type's range, NaN to 0 (0x8000... for 64 bits and doubles, as the device gives). */
template <class I> CUPEL_BOTH I cupel_to_integer(double x, I for_nan) {
    if (isnan(x)) return for_nan;
    double low = (double)std::numeric_limits<I>::min(), high = (double)std::numeric_limits<I>::max();
    if (x <= low) return std::numeric_limits<I>::min();
    if (x >= high) return std::numeric_limits<I>::max();
    return (I)x;
}

#define CUPEL_TO_INTEGER(name, From, I, for_nan)                                                             \
    CUPEL_BOTH I __##name##_rn(From x) { return cupel_to_integer<I>(rint((double)x), for_nan); }             \
    CUPEL_BOTH I __##name##_rz(From x) { return cupel_to_integer<I>(trunc((double)x), for_nan); }            \
    CUPEL_BOTH I __##name##_ru(From x) { return cupel_to_integer<I>(ceil((double)x), for_nan); }             \
    CUPEL_BOTH I __##name##_rd(From x) { return cupel_to_integer<I>(floor((double)x), for_nan); }
CUPEL_TO_INTEGER(float2int, float, int, 0)
CUPEL_TO_INTEGER(float2uint, float, unsigned int, 0)
CUPEL_TO_INTEGER(float2ll, float, long long, LLONG_MIN)
CUPEL_TO_INTEGER(float2ull, float, unsigned long long, 0x8000000000000000ull)
CUPEL_TO_INTEGER(double2int, double, int, INT_MIN)
CUPEL_TO_INTEGER(double2uint, double, unsigned int, 0x80000000u)
CUPEL_TO_INTEGER(double2ll, double, long long, LLONG_MIN)
CUPEL_TO_INTEGER(double2ull, double, unsigned long long, 0x8000000000000000ull)

#define CUPEL_FROM_INTEGER(name, I)                                                                          \
    CUPEL_BOTH float __##name##2float_rn(I x) { return (float)x; }                                           \
    CUPEL_BOTH float __##name##2float_rz(I x) { return cupel_round_to_float((long double)x, 0, CUPEL_RZ); }  \
    CUPEL_BOTH float __##name##2float_ru(I x) { return cupel_round_to_float((long double)x, 0, CUPEL_RU); }  \
    CUPEL_BOTH float __##name##2float_rd(I x) { return cupel_round_to_float((long double)x, 0, CUPEL_RD); }
CUPEL_FROM_INTEGER(int, int)
CUPEL_FROM_INTEGER(uint, unsigned int)
CUPEL_FROM_INTEGER(ll, long long)
CUPEL_FROM_INTEGER(ull, unsigned long long)
CUPEL_BOTH double __int2double_rn(int x) { return x; }
CUPEL_BOTH double __uint2double_rn(unsigned int x) { return x; }
CUPEL_BOTH double __ll2double_rn(long long x) { return (double)x; }
CUPEL_BOTH double __ull2double_rn(unsigned long long x) { return (double)x; }
CUPEL_BOTH float __double2float_rn(double x) { return (float)x; }
CUPEL_BOTH float __double2float_rz(double x) { return cupel_round_to_float(x, 0, CUPEL_RZ); }
CUPEL_BOTH float __double2float_ru(double x) { return cupel_round_to_float(x, 0, CUPEL_RU); }
CUPEL_BOTH float __double2float_rd(double x) { return cupel_round_to_float(x, 0, CUPEL_RD); }

#endif
