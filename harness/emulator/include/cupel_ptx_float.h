/* PTX's floating-point arithmetic (PTX ISA, "Floating-Point Instructions", "Half Precision", "Mixed"). The .approx functions are
 * those of cupel_math.h. */
#ifndef CUPEL_PTX_FLOAT_H
#define CUPEL_PTX_FLOAT_H

CUPEL_INLINE float cupel_ptx_flushed(float a) { return fabsf(a) < FLT_MIN ? copysignf(0.0f, a) : a; }
CUPEL_INLINE double cupel_ptx_flushed(double a) { return a; }
CUPEL_INLINE __half cupel_ptx_flushed(__half a) { return (a.__x & 0x7fffu) < 0x400u ? cupel_of_bits((__half *)0, a.__x & 0x8000u) : a; }
CUPEL_INLINE __nv_bfloat16 cupel_ptx_flushed(__nv_bfloat16 a) {
    return (a.__x & 0x7fffu) < 0x80u ? cupel_of_bits((__nv_bfloat16 *)0, a.__x & 0x8000u) : a;
}
template <class Ftz, class T> CUPEL_INLINE T cupel_ptx_operand(T a) {
    if constexpr (cupel_ptx_is<Ftz, cupel_ptx_ftz>) return cupel_ptx_flushed(a);
    else return a;
}
/* sat: to [0, 1], NaN to +0; relu: negative to +0, NaN stays */
template <class Ftz, class Clamp, class T> CUPEL_INLINE T cupel_ptx_result(T a) {
    if constexpr (cupel_ptx_is<Ftz, cupel_ptx_ftz>) a = cupel_ptx_flushed(a);
    if constexpr (cupel_ptx_is<Clamp, cupel_ptx_sat>) {
        const double wide = (double)(cupel_ptx_is<T, double> ? (double)a : (double)(float)a);
        return wide > 0 ? (wide < 1 ? a : T(1.0f)) : T(0.0f);
    } else if constexpr (cupel_ptx_is<Clamp, cupel_ptx_relu>) {
        return (float)a <= 0.0f ? T(0.0f) : a;
    } else
        return a;
}

template <class R> constexpr cupel_rounding cupel_ptx_mode =
    cupel_ptx_is<R, cupel_ptx_rz> ? CUPEL_RZ : cupel_ptx_is<R, cupel_ptx_rp> ? CUPEL_RU : cupel_ptx_is<R, cupel_ptx_rm> ? CUPEL_RD : CUPEL_RN;

template <class R> CUPEL_INLINE float cupel_ptx_sum(float a, float b) { return cupel_ptx_mode<R> == CUPEL_RN ? a + b : cupel_sum_to_float(a, b, cupel_ptx_mode<R>); }
template <class R> CUPEL_INLINE float cupel_ptx_product(float a, float b) {
    return cupel_ptx_mode<R> == CUPEL_RN ? a * b : cupel_round_to_float((double)a * b, 0, cupel_ptx_mode<R>);
}
template <class R> CUPEL_INLINE float cupel_ptx_fused(float a, float b, float c) {
    return cupel_ptx_mode<R> == CUPEL_RN ? fmaf(a, b, c) : cupel_sum_to_float((double)a * b, c, cupel_ptx_mode<R>);
}
template <class R> CUPEL_INLINE double cupel_ptx_sum(double a, double b) {
    return cupel_ptx_mode<R> == CUPEL_RN ? a + b : cupel_add_directed(a, b, cupel_ptx_mode<R>);
}
template <class R> CUPEL_INLINE double cupel_ptx_fused(double a, double b, double c) {
    return cupel_ptx_mode<R> == CUPEL_RN ? fma(a, b, c) : cupel_fma_directed(a, b, c, cupel_ptx_mode<R>);
}
template <class R> CUPEL_INLINE double cupel_ptx_product(double a, double b) {
    return cupel_ptx_mode<R> == CUPEL_RN ? a * b : cupel_ptx_fused<R>(a, b, signbit(a) != signbit(b) ? -0.0 : 0.0);
}
template <class R, class T> CUPEL_INLINE T cupel_ptx_sum(T a, T b) { return __hadd(a, b); }
template <class R, class T> CUPEL_INLINE T cupel_ptx_product(T a, T b) { return __hmul(a, b); }
template <class R, class T> CUPEL_INLINE T cupel_ptx_fused(T a, T b, T c) { return __hfma(a, b, c); }
CUPEL_INLINE float cupel_ptx_negative(float a) { return -a; }
CUPEL_INLINE double cupel_ptx_negative(double a) { return -a; }
CUPEL_INLINE __half cupel_ptx_negative(__half a) { return __hneg(a); }
CUPEL_INLINE __nv_bfloat16 cupel_ptx_negative(__nv_bfloat16 a) { return __hneg(a); }

/* Pairs: each half by itself. */
#define CUPEL_PTX_FLOAT1(name, value)                                                                        \
    template <class R, class F, class S, class T> CUPEL_INLINE void cupel_ptx_##name(T &d, T a) {            \
        a = cupel_ptx_operand<F>(a);                                                                         \
        d = cupel_ptx_result<F, S>(value);                                                                   \
    }                                                                                                        \
    template <class R, class F, class S, class E>                                                            \
    CUPEL_INLINE void cupel_ptx_##name(cupel_ptx_two<E> &d, cupel_ptx_two<E> a) {                            \
        cupel_ptx_##name<R, F, S>(d.x, a.x), cupel_ptx_##name<R, F, S>(d.y, a.y);                            \
    }
#define CUPEL_PTX_FLOAT2(name, value)                                                                        \
    template <class R, class F, class S, class T> CUPEL_INLINE void cupel_ptx_##name(T &d, T a, T b) {       \
        a = cupel_ptx_operand<F>(a), b = cupel_ptx_operand<F>(b);                                            \
        d = cupel_ptx_result<F, S>(value);                                                                   \
    }                                                                                                        \
    template <class R, class F, class S, class E>                                                            \
    CUPEL_INLINE void cupel_ptx_##name(cupel_ptx_two<E> &d, cupel_ptx_two<E> a, cupel_ptx_two<E> b) {        \
        cupel_ptx_##name<R, F, S>(d.x, a.x, b.x), cupel_ptx_##name<R, F, S>(d.y, a.y, b.y);                  \
    }
#define CUPEL_PTX_FLOAT3(name, value)                                                                        \
    template <class R, class F, class S, class T> CUPEL_INLINE void cupel_ptx_##name(T &d, T a, T b, T c) {  \
        a = cupel_ptx_operand<F>(a), b = cupel_ptx_operand<F>(b), c = cupel_ptx_operand<F>(c);               \
        d = cupel_ptx_result<F, S>(value);                                                                   \
    }                                                                                                        \
    template <class R, class F, class S, class E>                                                            \
    CUPEL_INLINE void cupel_ptx_##name(cupel_ptx_two<E> &d, cupel_ptx_two<E> a, cupel_ptx_two<E> b, cupel_ptx_two<E> c) { \
        cupel_ptx_##name<R, F, S>(d.x, a.x, b.x, c.x), cupel_ptx_##name<R, F, S>(d.y, a.y, b.y, c.y);        \
    }

/* The smaller and the larger of two: a NaN gives way unless NaN is asked for, -0 is less than +0. */
CUPEL_INLINE float cupel_ptx_lesser(float a, float b) { return fminf(a, b); }
CUPEL_INLINE float cupel_ptx_greater(float a, float b) { return fmaxf(a, b); }
CUPEL_INLINE double cupel_ptx_lesser(double a, double b) { return fmin(a, b); }
CUPEL_INLINE double cupel_ptx_greater(double a, double b) { return fmax(a, b); }
template <class T> CUPEL_INLINE T cupel_ptx_lesser(T a, T b) { return T(fminf(cupel_widen(a), cupel_widen(b))); }
template <class T> CUPEL_INLINE T cupel_ptx_greater(T a, T b) { return T(fmaxf(cupel_widen(a), cupel_widen(b))); }
template <class N, class T> CUPEL_INLINE T cupel_ptx_least(T a, T b) {
    const bool nan = cupel_ptx_comparable(a) != cupel_ptx_comparable(a) || cupel_ptx_comparable(b) != cupel_ptx_comparable(b);
    return cupel_ptx_is<N, cupel_ptx_NaN> && nan ? T(NAN) : cupel_ptx_lesser(a, b);
}
template <class N, class T> CUPEL_INLINE T cupel_ptx_greatest(T a, T b) {
    const bool nan = cupel_ptx_comparable(a) != cupel_ptx_comparable(a) || cupel_ptx_comparable(b) != cupel_ptx_comparable(b);
    return cupel_ptx_is<N, cupel_ptx_NaN> && nan ? T(NAN) : cupel_ptx_greater(a, b);
}
CUPEL_INLINE float cupel_ptx_magnitude(float a) { return fabsf(a); }
CUPEL_INLINE double cupel_ptx_magnitude(double a) { return fabs(a); }
template <class T> CUPEL_INLINE T cupel_ptx_magnitude(T a) { return __habs(a); }

/* R: how it is rounded, F: flushed, S: clamped; for min and max R says what becomes of NaN. */
CUPEL_PTX_FLOAT2(add_f, (cupel_ptx_sum<R>(a, b)))
CUPEL_PTX_FLOAT2(sub_f, (cupel_ptx_sum<R>(a, cupel_ptx_negative(b))))
CUPEL_PTX_FLOAT2(mul_f, (cupel_ptx_product<R>(a, b)))
CUPEL_PTX_FLOAT3(fma_f, (cupel_ptx_fused<R>(a, b, c)))
CUPEL_PTX_FLOAT2(min_f, (cupel_ptx_least<R>(a, b)))
CUPEL_PTX_FLOAT2(max_f, (cupel_ptx_greatest<R>(a, b)))
CUPEL_PTX_FLOAT1(abs_f, (cupel_ptx_magnitude(a)))
CUPEL_PTX_FLOAT1(neg_f, (cupel_ptx_negative(a)))

CUPEL_INLINE float cupel_ptx_quotient(float a, float b, cupel_rounding mode) { return cupel_div_to_float(a, b, mode); }
CUPEL_INLINE double cupel_ptx_quotient(double a, double b, cupel_rounding mode) {
    return mode == CUPEL_RN ? a / b : cupel_div_directed(a, b, mode);
}
template <class R, class T> CUPEL_INLINE T cupel_ptx_ratio(T a, T b) {
    if constexpr (cupel_ptx_is<R, cupel_ptx_approx>) return __fdividef(a, b);
    else return cupel_ptx_quotient(a, b, cupel_ptx_mode<R>);
}
CUPEL_INLINE float cupel_ptx_root(float a, cupel_rounding mode) { return cupel_sqrt_to_float(a, mode); }
CUPEL_INLINE double cupel_ptx_root(double a, cupel_rounding mode) {
    return mode == CUPEL_RN ? sqrt(a) : cupel_sqrt_directed(a, mode);
}
CUPEL_INLINE float cupel_ptx_reciprocal_root(float a) { return rsqrtf(a); }
CUPEL_INLINE double cupel_ptx_reciprocal_root(double a) { return rsqrt(a); }
CUPEL_PTX_FLOAT2(div_f, (cupel_ptx_ratio<R>(a, b)))
CUPEL_PTX_FLOAT1(rcp_f, (cupel_ptx_quotient(T(1.0f), a, cupel_ptx_mode<R>)))
CUPEL_PTX_FLOAT1(sqrt_f, (cupel_ptx_root(a, cupel_ptx_mode<R>)))
CUPEL_PTX_FLOAT1(rsqrt_f, (cupel_ptx_reciprocal_root(a)))
CUPEL_PTX_FLOAT1(sin_f, (cupel_fast_sinf(a)))
CUPEL_PTX_FLOAT1(cos_f, (cupel_fast_cosf(a)))
CUPEL_PTX_FLOAT1(lg2_f, (cupel_fast_log2f(a)))
CUPEL_PTX_FLOAT1(ex2_f, (T(exp2f((float)a))))
CUPEL_PTX_FLOAT1(tanh_f, (T(tanhf((float)a))))

/* The sign of a with the magnitude of b. */
CUPEL_INLINE void cupel_ptx_copysign_f(float &d, float a, float b) { d = copysignf(b, a); }
CUPEL_INLINE void cupel_ptx_copysign_f(double &d, double a, double b) { d = copysign(b, a); }
template <class P, class T> CUPEL_INLINE void cupel_ptx_testp(bool &p, T a) {
    const bool nan = isnan(a), infinite = isinf(a), subnormal = !nan && !infinite && a != 0 && fabs(a) < std::numeric_limits<T>::min();
    if constexpr (cupel_ptx_is<P, cupel_ptx_finite>) p = !nan && !infinite;
    else if constexpr (cupel_ptx_is<P, cupel_ptx_infinite>) p = infinite;
    else if constexpr (cupel_ptx_is<P, cupel_ptx_number>) p = !nan;
    else if constexpr (cupel_ptx_is<P, cupel_ptx_notanumber>) p = nan;
    else if constexpr (cupel_ptx_is<P, cupel_ptx_normal>) p = !nan && !infinite && a != 0 && !subnormal;
    else p = subnormal;
}

#endif
