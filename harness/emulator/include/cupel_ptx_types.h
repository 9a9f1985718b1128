/* What PTX instructions are made of: types, the words in their names, and the ways from registers and operands of inline
 * assembly to values and back. Everything is named cupel_ptx_..., for this stands where macros of the author's are known. */
#ifndef CUPEL_PTX_TYPES_H
#define CUPEL_PTX_TYPES_H

typedef bool cupel_ptx_pred;
typedef uint8_t cupel_ptx_b8, cupel_ptx_u8;
typedef int8_t cupel_ptx_s8;
typedef uint16_t cupel_ptx_b16, cupel_ptx_u16;
typedef int16_t cupel_ptx_s16;
typedef uint32_t cupel_ptx_b32, cupel_ptx_u32;
typedef int32_t cupel_ptx_s32;
typedef uint64_t cupel_ptx_b64, cupel_ptx_u64;
typedef int64_t cupel_ptx_s64;
typedef __half cupel_ptx_f16;
typedef __nv_bfloat16 cupel_ptx_bf16;
typedef float cupel_ptx_f32;
typedef double cupel_ptx_f64;

/* Two small floats in a register, the first in its low half. */
template <class T> struct cupel_ptx_two {
    typedef T element;
    T x, y;
};
typedef cupel_ptx_two<__half> cupel_ptx_f16x2;
typedef cupel_ptx_two<__nv_bfloat16> cupel_ptx_bf16x2;

/* Formats that only conversions and matrices know, in their registers. */
struct cupel_ptx_tf32 {
    uint32_t bits;
};
struct cupel_ptx_e4m3x2 {
    uint16_t bits;
};
struct cupel_ptx_e5m2x2 {
    uint16_t bits;
};

#define CUPEL_PTX_WORD(name)                                                                                 \
    struct cupel_ptx_##name {};
#define CUPEL_PTX_WORDS(X)                                                                                   \
    X(none) X(rn) X(rz) X(rm) X(rp) X(rna) X(rni) X(rzi) X(rmi) X(rpi) X(ftz) X(sat) X(satfinite) X(relu) X(NaN) X(approx) X(full) \
    X(lo) X(hi) X(wide) X(l) X(r) X(clamp) X(wrap) X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(ltu) X(leu) X(gtu) X(geu) X(equ) X(neu) \
    X(num) X(nan) X(ls) X(hs) X(and) X(or) X(xor) X(up) X(down) X(bfly) X(idx) X(all) X(any) X(uni) X(ballot) X(x1) X(x2) X(x4) \
    X(trans) X(row) X(col) X(m16n8k4) X(m16n8k8) X(m16n8k16) X(m16n8k32) X(m8n8k4) X(exch) X(add) X(inc) X(dec) X(min) X(max)      \
    X(cas) X(cta) X(cluster) X(gpu) X(sys) X(weak) X(relaxed) X(acquire) X(release) X(acq_rel) X(volatile) X(mmio) X(sc) X(cc) \
    X(finite) X(infinite) X(number) X(notanumber) X(normal) X(subnormal) X(parity) X(f4e) X(b4e) X(rc8) X(ecl) X(ecr) X(rc16)
CUPEL_PTX_WORDS(CUPEL_PTX_WORD)

template <class A, class B> constexpr bool cupel_ptx_is = std::is_same<A, B>::value;

template <class To, class From> CUPEL_INLINE To cupel_ptx_bits(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "the register and the instruction's type differ in width");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

/* A source. Numbers come as long long or as a floating-point value, registers as what they were declared; narrower types take
 * the low bits of a wider register, as ld, st and cvt do. */
template <class T, class S> CUPEL_INLINE T cupel_ptx_get(S from) {
    constexpr bool integers = std::is_integral<T>::value && std::is_integral<S>::value;
    if constexpr (cupel_ptx_is<S, long long> && sizeof(T) != sizeof(long long) && !std::is_arithmetic<T>::value)
        return cupel_ptx_bits<T>((std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>)from);
    else if constexpr (cupel_ptx_is<S, long long> || (integers && sizeof(T) < sizeof(S)))
        return (T)from;
    else if constexpr (cupel_ptx_is<S, double> && cupel_ptx_is<T, float>)
        return (T)from;
    else
        return cupel_ptx_bits<T>(from);
}

/* A destination: wider registers are filled up with the value's sign, or zeros. */
template <class D, class T> CUPEL_INLINE void cupel_ptx_put(D &to, T from) {
    if constexpr (std::is_integral<T>::value && std::is_integral<D>::value && sizeof(T) < sizeof(D))
        to = (D)from;
    else
        to = cupel_ptx_bits<D>(from);
}

/* An input of the statement as its constraint's register. */
template <class T, class E> CUPEL_INLINE T cupel_ptx_in(E from) {
    if constexpr (std::is_pointer<E>::value)
        return (T)(uintptr_t)from;
    else if constexpr (std::is_arithmetic<E>::value || std::is_enum<E>::value) {
        if constexpr (sizeof(E) == sizeof(T) && std::is_floating_point<E>::value != std::is_floating_point<T>::value)
            return cupel_ptx_bits<T>(from);
        else
            return (T)from;
    } else
        return cupel_ptx_bits<T>(from);
}

/* The register of an output into its variable. */
template <class D, class T> CUPEL_INLINE void cupel_ptx_out(D &&to, T from) {
    typedef std::remove_cv_t<std::remove_reference_t<D>> plain;
    if constexpr (std::is_pointer<plain>::value || (std::is_integral<plain>::value && sizeof(plain) != sizeof(T)))
        to = (plain)from;
    else
        to = cupel_ptx_bits<plain>(from);
}

template <class S> CUPEL_INLINE void *cupel_ptx_in_global(S base, long long offset) { return (void *)((uint64_t)base + (uint64_t)offset); }
template <class S> CUPEL_INLINE void *cupel_ptx_in_shared(S base, long long offset) {
    return cupel_from_window((uint64_t)base + (uint64_t)offset);
}

/* Before a call of the runtime: it keeps its line, for it is not merged with another branch's. */
#define CUPEL_PTX_OWN_LINE [[clang::nomerge]]

/* To the other side of the compiler's view: memory may have changed. */
CUPEL_INLINE void cupel_ptx_fence() { asm volatile("" ::: "memory"); }

#endif
