/* What half and bfloat16 have in common. Arithmetic is done in float and rounded once more, which gives the correctly rounded
 * result for + - * / and sqrt, because float has more than twice the digits plus two (Figueroa, "When is double rounding
 * innocuous?", 1995); a fused multiply-add goes through an odd-rounded double. */
#ifndef CUPEL_SMALL_FLOATS_H
#define CUPEL_SMALL_FLOATS_H

/* The float next to x towards zero, with its last bit set when x is not exact: rounding that again is as if x had been rounded
 * at once. */
CUPEL_BOTH float cupel_odd_float(double x) {
    float f = (float)x;
    if (isnan(x) || (double)f == x) return f;
    if (fabs((double)f) > fabs(x)) f = nextafterf(f, 0.0f);
    return cupel_bits<float>(cupel_bits<uint32_t>(f) | 1u);
}

/* a * b + c with what the addition leaves out folded into the last bit. The product of two small floats is exact. */
CUPEL_BOTH double cupel_odd_fma(float a, float b, float c) {
    double product = (double)a * b, sum = product + c, bb = sum - product;
    double rest = (product - (sum - bb)) + (c - bb);
    if (!(fabs(sum) <= DBL_MAX) || rest == 0) return sum;
    uint64_t bits = cupel_bits<uint64_t>(sum);
    if (!(bits & 1)) bits += (rest > 0) == (sum > 0) ? 1 : -1;
    return cupel_bits<double>(bits);
}

/* Integers of 64 bits do not fit a double either: their low bits are folded into one. */
template <class I> CUPEL_BOTH float cupel_odd_integer(I i) {
    bool negative = i < 0;
    uint64_t magnitude = negative ? 0 - (uint64_t)i : (uint64_t)i;
    if (magnitude >> 53) magnitude = magnitude >> 11 << 11 | ((magnitude & 2047) != 0) << 11;
    return cupel_odd_float(negative ? -(double)magnitude : (double)magnitude);
}

/* T: the type; to_bits(float): its bits, rounded to nearest even; to_float(bits). */
#define CUPEL_SMALL_FLOAT_CLASS(T, Raw, to_bits, to_float)                                                   \
    struct Raw {                                                                                             \
        unsigned short x;                                                                                    \
    };                                                                                                       \
    struct T {                                                                                               \
        unsigned short __x;                                                                                  \
        T() = default;                                                                                       \
        __host__ __device__ T(const Raw &raw) : __x(raw.x) {}                                                \
        __host__ __device__ T(float f) : __x(to_bits(f)) {}                                                  \
        __host__ __device__ T(double f) : __x(to_bits(cupel_odd_float(f))) {}                                \
        __host__ __device__ T(short i) : __x(to_bits((float)i)) {}                                           \
        __host__ __device__ T(unsigned short i) : __x(to_bits((float)i)) {}                                  \
        __host__ __device__ T(int i) : __x(to_bits(cupel_odd_float((double)i))) {}                           \
        __host__ __device__ T(unsigned int i) : __x(to_bits(cupel_odd_float((double)i))) {}                  \
        __host__ __device__ T(long i) : __x(to_bits(cupel_odd_integer(i))) {}                                \
        __host__ __device__ T(unsigned long i) : __x(to_bits(cupel_odd_integer(i))) {}                       \
        __host__ __device__ T(long long i) : __x(to_bits(cupel_odd_integer(i))) {}                           \
        __host__ __device__ T(unsigned long long i) : __x(to_bits(cupel_odd_integer(i))) {}                  \
        __host__ __device__ operator float() const { return to_float(__x); }                                 \
        __host__ __device__ operator Raw() const { return Raw{__x}; }                                        \
    };                                                                                                       \
    CUPEL_BOTH float cupel_widen(T a) { return to_float(a.__x); }                                            \
    CUPEL_BOTH T cupel_of_bits(T *, unsigned int bits) {                                                     \
        T a;                                                                                                 \
        a.__x = (unsigned short)bits;                                                                        \
        return a;                                                                                            \
    }

/* Rounded as mode says; NaN and infinities go through. */
template <class T> CUPEL_BOTH T cupel_narrow_directed(double x, cupel_rounding mode, unsigned int largest) {
    T nearest(x);
    double back = (double)(float)nearest;
    if (isnan(x) || isinf(x) || back == x) return nearest;
    bool up = mode == CUPEL_RU || (mode == CUPEL_RZ && x < 0), down = mode == CUPEL_RD || (mode == CUPEL_RZ && x > 0);
    unsigned int bits = nearest.__x, sign = bits & 0x8000u;
    if (isinf(back)) return (up && back > 0) || (down && back < 0) ? nearest : cupel_of_bits((T *)0, sign | largest);
    if (up && back < x) bits = (bits & 0x7fffu) == 0 ? 1u : sign ? bits - 1 : bits + 1;
    if (down && back > x) bits = (bits & 0x7fffu) == 0 ? 0x8001u : sign ? bits + 1 : bits - 1;
    return cupel_of_bits((T *)0, bits);
}

#define CUPEL_SMALL_FLOAT_PAIR(T2, T, Raw2)                                                                  \
    struct Raw2 {                                                                                            \
        unsigned short x, y;                                                                                 \
    };                                                                                                       \
    struct __attribute__((aligned(4))) T2 {                                                                  \
        union {                                                                                              \
            struct {                                                                                         \
                T x, y;                                                                                      \
            };                                                                                               \
            uint32_t cupel_wide[1];                                                                          \
        };                                                                                                   \
        T2() = default;                                                                                      \
        __host__ __device__ T2(const T &a, const T &b) : x(a), y(b) {}                                       \
        __host__ __device__ T2(const Raw2 &raw) { x.__x = raw.x, y.__x = raw.y; }                            \
        __host__ __device__ operator Raw2() const { return Raw2{x.__x, y.__x}; }                             \
        CUPEL_WIDE_COPY(T2, uint32_t, 1)                                                                     \
    };

/* Arithmetic of a pair is arithmetic of its halves. */
#define CUPEL_PAIR_UNARY(T2, name, scalar)                                                                   \
    CUPEL_BOTH T2 name(const T2 a) { return T2(scalar(a.x), scalar(a.y)); }
#define CUPEL_PAIR_BINARY(T2, name, scalar)                                                                  \
    CUPEL_BOTH T2 name(const T2 a, const T2 b) { return T2(scalar(a.x, b.x), scalar(a.y, b.y)); }
#define CUPEL_PAIR_TERNARY(T2, name, scalar)                                                                 \
    CUPEL_BOTH T2 name(const T2 a, const T2 b, const T2 c) {                                                 \
        return T2(scalar(a.x, b.x, c.x), scalar(a.y, b.y, c.y));                                             \
    }
#define CUPEL_SMALL_UNARY(T, name, expression)                                                               \
    CUPEL_BOTH T name(const T a_) {                                                                          \
        float a = cupel_widen(a_);                                                                           \
        return T(expression);                                                                                \
    }
#define CUPEL_SMALL_BINARY(T, name, expression)                                                              \
    CUPEL_BOTH T name(const T a_, const T b_) {                                                              \
        float a = cupel_widen(a_), b = cupel_widen(b_);                                                      \
        return T(expression);                                                                                \
    }
/* ordered: of a and b, floats, false beside a NaN (also for "not equal": __hne is false there, != is not). */
#define CUPEL_SMALL_COMPARE(T, T2, name, ordered)                                                            \
    CUPEL_BOTH bool __h##name(const T a_, const T b_) {                                                      \
        float a = cupel_widen(a_), b = cupel_widen(b_);                                                      \
        return ordered;                                                                                      \
    }                                                                                                        \
    CUPEL_BOTH bool __h##name##u(const T a_, const T b_) {                                                   \
        float a = cupel_widen(a_), b = cupel_widen(b_);                                                      \
        return isnan(a) || isnan(b) || (ordered);                                                            \
    }                                                                                                        \
    CUPEL_BOTH T2 __h##name##2(const T2 a, const T2 b) {                                                     \
        return T2(T(__h##name(a.x, b.x) ? 1.0f : 0.0f), T(__h##name(a.y, b.y) ? 1.0f : 0.0f));               \
    }                                                                                                        \
    CUPEL_BOTH T2 __h##name##u2(const T2 a, const T2 b) {                                                    \
        return T2(T(__h##name##u(a.x, b.x) ? 1.0f : 0.0f), T(__h##name##u(a.y, b.y) ? 1.0f : 0.0f));         \
    }                                                                                                        \
    CUPEL_BOTH unsigned int __h##name##2_mask(const T2 a, const T2 b) {                                      \
        return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);              \
    }                                                                                                        \
    CUPEL_BOTH unsigned int __h##name##u2_mask(const T2 a, const T2 b) {                                     \
        return (__h##name##u(a.x, b.x) ? 0xffffu : 0u) | (__h##name##u(a.y, b.y) ? 0xffff0000u : 0u);        \
    }                                                                                                        \
    CUPEL_BOTH bool __hb##name##u2(const T2 a, const T2 b) { return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y); } \
    CUPEL_BOTH bool __hb##name##2(const T2 a, const T2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
#define CUPEL_SMALL_COMPARE_BY(T, T2, operation, scalar, vector)                                             \
    CUPEL_BOTH bool operator operation(const T &a, const T &b) { return scalar(a, b); }                      \
    CUPEL_BOTH bool operator operation(const T2 &a, const T2 &b) { return vector(a, b); }
#define CUPEL_SMALL_OPERATOR(T, operation, function)                                                         \
    CUPEL_BOTH T operator operation(const T &a, const T &b) { return function(a, b); }                       \
    CUPEL_BOTH T &operator operation##=(T &a, const T &b) { return a = function(a, b); }
#define CUPEL_SMALL_MATH(T, T2, name, expression)                                                            \
    CUPEL_SMALL_UNARY(T, h##name, expression)                                                                \
    CUPEL_PAIR_UNARY(T2, h2##name, h##name)

CUPEL_BOTH float cupel_fmax_nan(float a, float b) { return isnan(a) || isnan(b) ? NAN : fmaxf(a, b); }
CUPEL_BOTH float cupel_fmin_nan(float a, float b) { return isnan(a) || isnan(b) ? NAN : fminf(a, b); }

#define CUPEL_SMALL_ARITHMETIC(T, T2)                                                                        \
    CUPEL_SMALL_BINARY(T, __hadd, a + b)                                                                     \
    CUPEL_SMALL_BINARY(T, __hsub, a - b)                                                                     \
    CUPEL_SMALL_BINARY(T, __hmul, a *b)                                                                      \
    CUPEL_SMALL_BINARY(T, __hadd_rn, a + b)                                                                  \
    CUPEL_SMALL_BINARY(T, __hsub_rn, a - b)                                                                  \
    CUPEL_SMALL_BINARY(T, __hmul_rn, a *b)                                                                   \
    CUPEL_SMALL_BINARY(T, __hdiv, a / b)                                                                     \
    CUPEL_SMALL_BINARY(T, __hadd_sat, __saturatef(cupel_widen(T(a + b))))                                    \
    CUPEL_SMALL_BINARY(T, __hsub_sat, __saturatef(cupel_widen(T(a - b))))                                    \
    CUPEL_SMALL_BINARY(T, __hmul_sat, __saturatef(cupel_widen(T(a * b))))                                    \
    CUPEL_SMALL_BINARY(T, __hmax, fmaxf(a, b))                                                               \
    CUPEL_SMALL_BINARY(T, __hmin, fminf(a, b))                                                               \
    CUPEL_SMALL_BINARY(T, __hmax_nan, cupel_fmax_nan(a, b))                                                  \
    CUPEL_SMALL_BINARY(T, __hmin_nan, cupel_fmin_nan(a, b))                                                  \
    CUPEL_BOTH T __hneg(const T a) { return cupel_of_bits((T *)0, a.__x ^ 0x8000u); }                        \
    CUPEL_BOTH T __habs(const T a) { return cupel_of_bits((T *)0, a.__x & 0x7fffu); }                        \
    CUPEL_BOTH T __hfma(const T a, const T b, const T c) {                                                   \
        return T(cupel_odd_fma(cupel_widen(a), cupel_widen(b), cupel_widen(c)));                             \
    }                                                                                                        \
    CUPEL_BOTH T __hfma_sat(const T a, const T b, const T c) { return T(__saturatef(cupel_widen(__hfma(a, b, c)))); } \
    CUPEL_BOTH T __hfma_relu(const T a, const T b, const T c) {                                              \
        float r = cupel_widen(__hfma(a, b, c));                                                              \
        return T(isnan(r) ? r : fmaxf(r, 0.0f));                                                             \
    }                                                                                                        \
    CUPEL_BOTH bool __hisnan(const T a) { return isnan(cupel_widen(a)); }                                    \
    CUPEL_BOTH int __hisinf(const T a) {                                                                     \
        float f = cupel_widen(a);                                                                            \
        return isinf(f) ? (f > 0 ? 1 : -1) : 0;                                                              \
    }                                                                                                        \
    CUPEL_PAIR_BINARY(T2, __hadd2, __hadd)                                                                   \
    CUPEL_PAIR_BINARY(T2, __hsub2, __hsub)                                                                   \
    CUPEL_PAIR_BINARY(T2, __hmul2, __hmul)                                                                   \
    CUPEL_PAIR_BINARY(T2, __hadd2_rn, __hadd)                                                                \
    CUPEL_PAIR_BINARY(T2, __hsub2_rn, __hsub)                                                                \
    CUPEL_PAIR_BINARY(T2, __hmul2_rn, __hmul)                                                                \
    CUPEL_PAIR_BINARY(T2, __h2div, __hdiv)                                                                   \
    CUPEL_PAIR_BINARY(T2, __hadd2_sat, __hadd_sat)                                                           \
    CUPEL_PAIR_BINARY(T2, __hsub2_sat, __hsub_sat)                                                           \
    CUPEL_PAIR_BINARY(T2, __hmul2_sat, __hmul_sat)                                                           \
    CUPEL_PAIR_BINARY(T2, __hmax2, __hmax)                                                                   \
    CUPEL_PAIR_BINARY(T2, __hmin2, __hmin)                                                                   \
    CUPEL_PAIR_BINARY(T2, __hmax2_nan, __hmax_nan)                                                           \
    CUPEL_PAIR_BINARY(T2, __hmin2_nan, __hmin_nan)                                                           \
    CUPEL_PAIR_UNARY(T2, __hneg2, __hneg)                                                                    \
    CUPEL_PAIR_UNARY(T2, __habs2, __habs)                                                                    \
    CUPEL_PAIR_TERNARY(T2, __hfma2, __hfma)                                                                  \
    CUPEL_PAIR_TERNARY(T2, __hfma2_sat, __hfma_sat)                                                          \
    CUPEL_PAIR_TERNARY(T2, __hfma2_relu, __hfma_relu)                                                        \
    /* complex numbers: the real part is the low half */                                                     \
    CUPEL_BOTH T2 __hcmadd(const T2 a, const T2 b, const T2 c) {                                             \
        T re = __hfma(a.x, b.x, c.x), im = __hfma(a.x, b.y, c.y);                                            \
        return T2(__hfma(__hneg(a.y), b.y, re), __hfma(a.y, b.x, im));                                       \
    }                                                                                                        \
    CUPEL_BOTH T2 __hisnan2(const T2 a) {                                                                    \
        return T2(T(__hisnan(a.x) ? 1.0f : 0.0f), T(__hisnan(a.y) ? 1.0f : 0.0f));                           \
    }                                                                                                        \
    CUPEL_SMALL_COMPARE(T, T2, eq, a == b)                                                                   \
    CUPEL_SMALL_COMPARE_BY(T, T2, ==, __heq, __hbeq2)                                                        \
    CUPEL_SMALL_COMPARE(T, T2, ne, a < b || a > b)                                                           \
    CUPEL_SMALL_COMPARE_BY(T, T2, !=, __hneu, __hbneu2)                                                      \
    CUPEL_SMALL_COMPARE(T, T2, lt, a < b)                                                                    \
    CUPEL_SMALL_COMPARE_BY(T, T2, <, __hlt, __hblt2)                                                         \
    CUPEL_SMALL_COMPARE(T, T2, le, a <= b)                                                                   \
    CUPEL_SMALL_COMPARE_BY(T, T2, <=, __hle, __hble2)                                                        \
    CUPEL_SMALL_COMPARE(T, T2, gt, a > b)                                                                    \
    CUPEL_SMALL_COMPARE_BY(T, T2, >, __hgt, __hbgt2)                                                         \
    CUPEL_SMALL_COMPARE(T, T2, ge, a >= b)                                                                   \
    CUPEL_SMALL_COMPARE_BY(T, T2, >=, __hge, __hbge2)                                                        \
    CUPEL_SMALL_OPERATOR(T, +, __hadd)                                                                       \
    CUPEL_SMALL_OPERATOR(T, -, __hsub)                                                                       \
    CUPEL_SMALL_OPERATOR(T, *, __hmul)                                                                       \
    CUPEL_SMALL_OPERATOR(T, /, __hdiv)                                                                       \
    CUPEL_SMALL_OPERATOR(T2, +, __hadd2)                                                                     \
    CUPEL_SMALL_OPERATOR(T2, -, __hsub2)                                                                     \
    CUPEL_SMALL_OPERATOR(T2, *, __hmul2)                                                                     \
    CUPEL_SMALL_OPERATOR(T2, /, __h2div)                                                                     \
    CUPEL_BOTH T operator+(const T &a) { return a; }                                                         \
    CUPEL_BOTH T operator-(const T &a) { return __hneg(a); }                                                 \
    CUPEL_BOTH T2 operator-(const T2 &a) { return __hneg2(a); }                                              \
    CUPEL_BOTH T &operator++(T &a) { return a = __hadd(a, T(1.0f)); }                                        \
    CUPEL_BOTH T &operator--(T &a) { return a = __hsub(a, T(1.0f)); }                                        \
    CUPEL_SMALL_MATH(T, T2, exp, expf(a))                                                                    \
    CUPEL_SMALL_MATH(T, T2, exp2, exp2f(a))                                                                  \
    CUPEL_SMALL_MATH(T, T2, exp10, exp10f(a))                                                                \
    CUPEL_SMALL_MATH(T, T2, log, logf(a))                                                                    \
    CUPEL_SMALL_MATH(T, T2, log2, log2f(a))                                                                  \
    CUPEL_SMALL_MATH(T, T2, log10, log10f(a))                                                                \
    CUPEL_SMALL_MATH(T, T2, sqrt, sqrtf(a))                                                                  \
    CUPEL_SMALL_MATH(T, T2, rsqrt, rsqrtf(a))                                                                \
    CUPEL_SMALL_MATH(T, T2, rcp, 1.0f / a)                                                                   \
    CUPEL_SMALL_MATH(T, T2, sin, sinf(a))                                                                    \
    CUPEL_SMALL_MATH(T, T2, cos, cosf(a))                                                                    \
    CUPEL_SMALL_MATH(T, T2, tanh, tanhf(a))                                                                  \
    CUPEL_SMALL_MATH(T, T2, floor, floorf(a))                                                                \
    CUPEL_SMALL_MATH(T, T2, ceil, ceilf(a))                                                                  \
    CUPEL_SMALL_MATH(T, T2, trunc, truncf(a))                                                                \
    CUPEL_SMALL_MATH(T, T2, rint, rintf(a))                                                                  \
    CUPEL_INLINE T atomicAdd(T *address, T operand) {                                                        \
        cupel_atomic_announce(address, true);                                                                \
        T old = cupel_of_bits((T *)0, CUPEL_PAST_CHECKER(unsigned short, address));                          \
        CUPEL_PAST_CHECKER(unsigned short, address) = __hadd(old, operand).__x;                              \
        return old;                                                                                          \
    }                                                                                                        \
    CUPEL_INLINE T2 atomicAdd(T2 *address, T2 operand) {                                                     \
        return T2(atomicAdd(&address->x, operand.x), atomicAdd(&address->y, operand.y));                     \
    }                                                                                                        \
    CUPEL_ATOMIC_SCOPES(T)                                                                                   \
    CUPEL_ATOMIC_SCOPES(T2)                                                                                  \
    CUPEL_BOTH float __low2float(const T2 a) { return cupel_widen(a.x); }                                    \
    CUPEL_BOTH float __high2float(const T2 a) { return cupel_widen(a.y); }

/* Conversions between integers and a small float, in the four roundings: __int2half_rn, __half2int_rz, ... */
#define CUPEL_SMALL_INTEGER(T, tname, iname, I, largest)                                                     \
    CUPEL_BOTH T __##iname##2##tname##_rn(I i) { return T(i); }                                              \
    CUPEL_BOTH T __##iname##2##tname##_rz(I i) { return cupel_narrow_directed<T>((double)i, CUPEL_RZ, largest); } \
    CUPEL_BOTH T __##iname##2##tname##_ru(I i) { return cupel_narrow_directed<T>((double)i, CUPEL_RU, largest); } \
    CUPEL_BOTH T __##iname##2##tname##_rd(I i) { return cupel_narrow_directed<T>((double)i, CUPEL_RD, largest); } \
    CUPEL_BOTH I __##tname##2##iname##_rn(T h) { return cupel_to_integer<I>(rint((double)cupel_widen(h)), 0); } \
    CUPEL_BOTH I __##tname##2##iname##_rz(T h) { return cupel_to_integer<I>(trunc((double)cupel_widen(h)), 0); } \
    CUPEL_BOTH I __##tname##2##iname##_ru(T h) { return cupel_to_integer<I>(ceil((double)cupel_widen(h)), 0); } \
    CUPEL_BOTH I __##tname##2##iname##_rd(T h) { return cupel_to_integer<I>(floor((double)cupel_widen(h)), 0); }
#define CUPEL_SMALL_CONVERSIONS(T, tname, largest)                                                           \
    CUPEL_SMALL_INTEGER(T, tname, int, int, largest)                                                         \
    CUPEL_SMALL_INTEGER(T, tname, uint, unsigned int, largest)                                               \
    CUPEL_SMALL_INTEGER(T, tname, short, short, largest)                                                     \
    CUPEL_SMALL_INTEGER(T, tname, ushort, unsigned short, largest)                                           \
    CUPEL_SMALL_INTEGER(T, tname, ll, long long, largest)                                                    \
    CUPEL_SMALL_INTEGER(T, tname, ull, unsigned long long, largest)                                          \
    CUPEL_BOTH signed char __##tname##2char_rz(T h) { return cupel_to_integer<signed char>(trunc((double)cupel_widen(h)), 0); } \
    CUPEL_BOTH unsigned char __##tname##2uchar_rz(T h) {                                                     \
        return cupel_to_integer<unsigned char>(trunc((double)cupel_widen(h)), 0);                            \
    }                                                                                                        \
    CUPEL_BOTH T __float2##tname(float f) { return T(f); }                                                   \
    CUPEL_BOTH T __float2##tname##_rn(float f) { return T(f); }                                              \
    CUPEL_BOTH T __float2##tname##_rz(float f) { return cupel_narrow_directed<T>(f, CUPEL_RZ, largest); }    \
    CUPEL_BOTH T __float2##tname##_ru(float f) { return cupel_narrow_directed<T>(f, CUPEL_RU, largest); }    \
    CUPEL_BOTH T __float2##tname##_rd(float f) { return cupel_narrow_directed<T>(f, CUPEL_RD, largest); }    \
    CUPEL_BOTH T __double2##tname(double f) { return T(f); }                                                 \
    CUPEL_BOTH float __##tname##2float(const T h) { return cupel_widen(h); }                                 \
    CUPEL_BOTH short __##tname##_as_short(const T h) { return (short)h.__x; }                                \
    CUPEL_BOTH unsigned short __##tname##_as_ushort(const T h) { return h.__x; }                             \
    CUPEL_BOTH T __short_as_##tname(short bits) { return cupel_of_bits((T *)0, (unsigned short)bits); }      \
    CUPEL_BOTH T __ushort_as_##tname(unsigned short bits) { return cupel_of_bits((T *)0, bits); }

#endif
