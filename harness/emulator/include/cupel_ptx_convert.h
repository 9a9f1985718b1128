/* PTX's cvt. */
#ifndef CUPEL_PTX_CONVERT_H
#define CUPEL_PTX_CONVERT_H

template <class Sat, class D, class S> CUPEL_INLINE void cupel_ptx_cvt_ii(D &d, S a) {
    d = cupel_ptx_is<Sat, cupel_ptx_sat> ? cupel_ptx_clamped<D>((__int128)a) : (D)a;
}

template <class R> CUPEL_INLINE double cupel_ptx_integral(double a) {
    if constexpr (cupel_ptx_is<R, cupel_ptx_rzi>) return trunc(a);
    else if constexpr (cupel_ptx_is<R, cupel_ptx_rmi>) return floor(a);
    else if constexpr (cupel_ptx_is<R, cupel_ptx_rpi>) return ceil(a);
    else return rint(a);
}
CUPEL_INLINE double cupel_ptx_exact(float a) { return a; }
CUPEL_INLINE double cupel_ptx_exact(double a) { return a; }
CUPEL_INLINE double cupel_ptx_exact(__half a) { return cupel_widen(a); }
CUPEL_INLINE double cupel_ptx_exact(__nv_bfloat16 a) { return cupel_widen(a); }

/* Out of range: the nearest number of the type. NaN: as cupel_rounding.h has it for the functions of the same meaning. */
template <class R, class Ftz, class D, class S> CUPEL_INLINE void cupel_ptx_cvt_if(D &d, S a) {
    const D for_nan = sizeof(D) == 8 || (sizeof(S) == 8 && sizeof(D) == 4) ? (D)((cupel_ptx_unsigned<D>)1 << (8 * sizeof(D) - 1)) : (D)0;
    d = cupel_to_integer<D>(cupel_ptx_integral<R>(cupel_ptx_exact(cupel_ptx_operand<Ftz>(a))), for_nan);
}

template <class R> CUPEL_INLINE void cupel_ptx_narrow(float &d, double a) { d = cupel_round_to_float(a, 0, cupel_ptx_mode<R>); }
template <class R> CUPEL_INLINE void cupel_ptx_narrow(double &d, double a) { d = a; }
template <class R> CUPEL_INLINE void cupel_ptx_narrow(__half &d, double a) {
    d = cupel_ptx_mode<R> == CUPEL_RN ? __half(a) : cupel_narrow_directed<__half>(a, cupel_ptx_mode<R>, 0x7bffu);
}
template <class R> CUPEL_INLINE void cupel_ptx_narrow(__nv_bfloat16 &d, double a) {
    d = cupel_ptx_mode<R> == CUPEL_RN ? __nv_bfloat16(a) : cupel_narrow_directed<__nv_bfloat16>(a, cupel_ptx_mode<R>, 0x7f7fu);
}

template <class R, class Ftz, class Clamp, class D, class S> CUPEL_INLINE void cupel_ptx_cvt_ff(D &d, S a) {
    constexpr bool integral = cupel_ptx_is<R, cupel_ptx_rni> || cupel_ptx_is<R, cupel_ptx_rzi> || cupel_ptx_is<R, cupel_ptx_rmi> ||
                              cupel_ptx_is<R, cupel_ptx_rpi>;
    double exact = cupel_ptx_exact(cupel_ptx_operand<Ftz>(a));
    if constexpr (integral) exact = cupel_ptx_integral<R>(exact);
    cupel_ptx_narrow<R>(d, exact);
    d = cupel_ptx_result<Ftz, Clamp>(d);
}
/* 64-bit integers do not fit a double. */
template <class R, class D, class S> CUPEL_INLINE void cupel_ptx_cvt_fi(D &d, S a) {
    if constexpr (cupel_ptx_is<D, float>)
        d = cupel_ptx_mode<R> == CUPEL_RN ? (float)a : cupel_round_to_float((long double)a, 0, cupel_ptx_mode<R>);
    else if constexpr (cupel_ptx_is<D, double>)
        d = (double)a;
    else if constexpr (cupel_ptx_is<R, cupel_ptx_rn>)
        d = D(cupel_odd_integer(a));
    else
        cupel_ptx_narrow<R>(d, (double)cupel_odd_integer(a));
}

/* Two floats into a pair: the first operand is the high half. */
template <class R, class Clamp, class E> CUPEL_INLINE void cupel_ptx_cvt_pair(cupel_ptx_two<E> &d, float high, float low) {
    cupel_ptx_narrow<R>(d.x, low), cupel_ptx_narrow<R>(d.y, high);
    d.x = cupel_ptx_result<cupel_ptx_none, Clamp>(d.x), d.y = cupel_ptx_result<cupel_ptx_none, Clamp>(d.y);
}
/* To nearest, ties away from zero (rna), to even or towards zero: 10 bits of fraction. */
template <class R, class Sat> CUPEL_INLINE void cupel_ptx_cvt_tf32(cupel_ptx_b32 &d, float a) {
    uint32_t bits = cupel_bits<uint32_t>(a);
    if (isnan(a)) {
        d = 0x7fffffffu;
        return;
    }
    if constexpr (cupel_ptx_is<R, cupel_ptx_rna>) bits += 0x1000u;
    if constexpr (cupel_ptx_is<R, cupel_ptx_rn>) bits += 0xfffu + (bits >> 13 & 1u);
    if (!isinf(a) || cupel_ptx_is<R, cupel_ptx_rz>) d = bits & ~0x1fffu;
    else d = cupel_bits<uint32_t>(a);
    if (cupel_ptx_is<Sat, cupel_ptx_satfinite> && (d & 0x7fffffffu) >= 0x7f800000u) d = (d & 0x80000000u) | 0x7f7fe000u;
}
template <class K> constexpr __nv_fp8_interpretation_t cupel_ptx_fp8 = cupel_ptx_is<K, cupel_ptx_e4m3x2> ? __NV_E4M3 : __NV_E5M2;
template <class Relu, class K> CUPEL_INLINE uint32_t cupel_ptx_fp8_of(float a) {
    return cupel_fp8_bits(cupel_ptx_result<cupel_ptx_none, Relu>(a), __NV_SATFINITE, cupel_ptx_fp8<K>);
}
template <class Relu, class K> CUPEL_INLINE void cupel_ptx_cvt_to_fp8(K &d, float high, float low) {
    d.bits = (uint16_t)(cupel_ptx_fp8_of<Relu, K>(low) | cupel_ptx_fp8_of<Relu, K>(high) << 8);
}
template <class Relu, class K> CUPEL_INLINE void cupel_ptx_cvt_to_fp8(K &d, cupel_ptx_f16x2 a) {
    d.bits = (uint16_t)(cupel_ptx_fp8_of<Relu, K>(cupel_widen(a.x)) | cupel_ptx_fp8_of<Relu, K>(cupel_widen(a.y)) << 8);
}
template <class Relu, class K> CUPEL_INLINE void cupel_ptx_cvt_from_fp8(cupel_ptx_f16x2 &d, K a) {
    d.x = __half(cupel_fp8_value((uint8_t)a.bits, cupel_ptx_fp8<K>)), d.y = __half(cupel_fp8_value((uint8_t)(a.bits >> 8), cupel_ptx_fp8<K>));
    d.x = cupel_ptx_result<cupel_ptx_none, Relu>(d.x), d.y = cupel_ptx_result<cupel_ptx_none, Relu>(d.y);
}

#endif
