/* PTX's integer, logical and comparison instructions (PTX ISA, "Integer Arithmetic", "Extended-Precision", "Comparison and
 * Selection", "Logic and Shift"). Sums wrap. */
#ifndef CUPEL_PTX_INTEGER_H
#define CUPEL_PTX_INTEGER_H

template <class T> using cupel_ptx_unsigned = std::make_unsigned_t<T>;
template <class T>
using cupel_ptx_doubled = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed<T>::value, int32_t, uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed<T>::value, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed<T>::value, __int128, unsigned __int128>>>;

template <class T> CUPEL_INLINE T cupel_ptx_clamped(__int128 v) {
    if (v < std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
    return v > std::numeric_limits<T>::max() ? std::numeric_limits<T>::max() : (T)v;
}

template <class Sat, class T> CUPEL_INLINE void cupel_ptx_add_i(T &d, T a, T b) {
    if constexpr (cupel_ptx_is<Sat, cupel_ptx_sat>)
        d = cupel_ptx_clamped<T>((__int128)a + b);
    else
        d = (T)((cupel_ptx_unsigned<T>)a + (cupel_ptx_unsigned<T>)b);
}
template <class Sat, class T> CUPEL_INLINE void cupel_ptx_sub_i(T &d, T a, T b) {
    if constexpr (cupel_ptx_is<Sat, cupel_ptx_sat>)
        d = cupel_ptx_clamped<T>((__int128)a - b);
    else
        d = (T)((cupel_ptx_unsigned<T>)a - (cupel_ptx_unsigned<T>)b);
}
template <class Part, class T> CUPEL_INLINE void cupel_ptx_mul_i(T &d, T a, T b) {
    const cupel_ptx_doubled<T> product = (cupel_ptx_doubled<T>)a * b;
    d = cupel_ptx_is<Part, cupel_ptx_hi> ? (T)(product >> (8 * sizeof(T))) : (T)product;
}
template <class T> CUPEL_INLINE void cupel_ptx_mul_wide(cupel_ptx_doubled<T> &d, T a, T b) { d = (cupel_ptx_doubled<T>)a * b; }
template <class T> CUPEL_INLINE void cupel_ptx_mul_wide(uint64_t &d, T a, T b) { d = (uint64_t)((cupel_ptx_doubled<T>)a * b); }
template <class T> CUPEL_INLINE void cupel_ptx_mul_wide(uint32_t &d, T a, T b) { d = (uint32_t)((cupel_ptx_doubled<T>)a * b); }
template <class Part, class Sat, class T> CUPEL_INLINE void cupel_ptx_mad_i(T &d, T a, T b, T c) {
    T product;
    cupel_ptx_mul_i<Part, T>(product, a, b);
    cupel_ptx_add_i<Sat, T>(d, product, c);
}
template <class T, class W> CUPEL_INLINE void cupel_ptx_mad_wide(W &d, T a, T b, W c) {
    d = (W)((cupel_ptx_unsigned<W>)((cupel_ptx_doubled<T>)a * b) + (cupel_ptx_unsigned<W>)c);
}
/* The carry flag lives from one instruction to the next of a thread: inside one statement, or from statement to statement while
 * nothing else runs between. */
static __device__ bool cupel_ptx_carry_flag __attribute__((unused));
CUPEL_INLINE bool cupel_ptx_carry() { return *(const bool __attribute__((address_space(1))) *)&cupel_ptx_carry_flag; }
CUPEL_INLINE void cupel_ptx_set_carry(bool on) { *(bool __attribute__((address_space(1))) *)&cupel_ptx_carry_flag = on; }
template <class T> CUPEL_INLINE void cupel_ptx_sum_cc(T &d, T a, T b, bool in, bool out) {
    typedef cupel_ptx_unsigned<T> U;
    const unsigned __int128 sum = (unsigned __int128)(U)a + (U)b + in;
    if (out) cupel_ptx_set_carry((sum >> (8 * sizeof(T))) != 0);
    d = (T)sum;
}
/* The flag holds a borrow. */
template <class T> CUPEL_INLINE void cupel_ptx_difference_cc(T &d, T a, T b, bool in, bool out) {
    typedef cupel_ptx_unsigned<T> U;
    if (out) cupel_ptx_set_carry((unsigned __int128)(U)a < (unsigned __int128)(U)b + in);
    d = (T)((U)a - (U)b - in);
}
template <class T> CUPEL_INLINE void cupel_ptx_add_cc(T &d, T a, T b) { cupel_ptx_sum_cc(d, a, b, false, true); }
template <class CC, class T> CUPEL_INLINE void cupel_ptx_addc(T &d, T a, T b) {
    cupel_ptx_sum_cc(d, a, b, cupel_ptx_carry(), cupel_ptx_is<CC, cupel_ptx_cc>);
}
template <class T> CUPEL_INLINE void cupel_ptx_sub_cc(T &d, T a, T b) { cupel_ptx_difference_cc(d, a, b, false, true); }
template <class CC, class T> CUPEL_INLINE void cupel_ptx_subc(T &d, T a, T b) {
    cupel_ptx_difference_cc(d, a, b, cupel_ptx_carry(), cupel_ptx_is<CC, cupel_ptx_cc>);
}
template <class Part, class T> CUPEL_INLINE void cupel_ptx_mad_cc(T &d, T a, T b, T c) {
    T product;
    cupel_ptx_mul_i<Part, T>(product, a, b);
    cupel_ptx_sum_cc(d, product, c, false, true);
}
template <class Part, class CC, class T> CUPEL_INLINE void cupel_ptx_madc(T &d, T a, T b, T c) {
    T product;
    cupel_ptx_mul_i<Part, T>(product, a, b);
    cupel_ptx_sum_cc(d, product, c, cupel_ptx_carry(), cupel_ptx_is<CC, cupel_ptx_cc>);
}
template <class T> CUPEL_INLINE void cupel_ptx_mul24(T &d, T a, T b) {
    if constexpr (std::is_signed<T>::value) d = __mul24(a, b);
    else d = __umul24(a, b);
}
template <class T> CUPEL_INLINE void cupel_ptx_mad24(T &d, T a, T b, T c) {
    T product;
    cupel_ptx_mul24<T>(product, a, b);
    d = (T)((cupel_ptx_unsigned<T>)product + (cupel_ptx_unsigned<T>)c);
}
template <class T> CUPEL_INLINE void cupel_ptx_sad(T &d, T a, T b, T c) {
    typedef cupel_ptx_unsigned<T> U;
    d = (T)((U)c + (a < b ? (U)b - (U)a : (U)a - (U)b));
}
/* Division by zero gives what the hardware's subroutine gives in no documented way: the run ends as a trap would. */
template <class T> CUPEL_INLINE void cupel_ptx_div_i(T &d, T a, T b) { d = b == (T)-1 && std::is_signed<T>::value ? (T)(0 - (cupel_ptx_unsigned<T>)a) : (T)(a / b); }
template <class T> CUPEL_INLINE void cupel_ptx_rem_i(T &d, T a, T b) { d = b == (T)-1 && std::is_signed<T>::value ? (T)0 : (T)(a % b); }
template <class T> CUPEL_INLINE void cupel_ptx_abs_i(T &d, T a) { d = a < 0 ? (T)(0 - (cupel_ptx_unsigned<T>)a) : a; }
template <class T> CUPEL_INLINE void cupel_ptx_neg_i(T &d, T a) { d = (T)(0 - (cupel_ptx_unsigned<T>)a); }
template <class T> CUPEL_INLINE void cupel_ptx_min_i(T &d, T a, T b) { d = b < a ? b : a; }
template <class T> CUPEL_INLINE void cupel_ptx_max_i(T &d, T a, T b) { d = a < b ? b : a; }

template <class T> CUPEL_INLINE void cupel_ptx_logic_and(T &d, T a, T b) { d = (T)(a & b); }
template <class T> CUPEL_INLINE void cupel_ptx_logic_or(T &d, T a, T b) { d = (T)(a | b); }
template <class T> CUPEL_INLINE void cupel_ptx_logic_xor(T &d, T a, T b) { d = (T)(a ^ b); }
template <class T> CUPEL_INLINE void cupel_ptx_logic_not(T &d, T a) {
    if constexpr (cupel_ptx_is<T, bool>) d = !a;
    else d = (T)~a;
}
template <class T> CUPEL_INLINE void cupel_ptx_cnot(T &d, T a) { d = a == 0; }
template <class T> CUPEL_INLINE void cupel_ptx_shl(T &d, T a, uint32_t b) { d = b >= 8 * sizeof(T) ? (T)0 : (T)(a << b); }
template <class T> CUPEL_INLINE void cupel_ptx_shr(T &d, T a, uint32_t b) {
    if (b >= 8 * sizeof(T)) d = std::is_signed<T>::value && a < 0 ? (T)-1 : (T)0;
    else d = (T)(a >> b);
}
template <class Side, class Way> CUPEL_INLINE void cupel_ptx_shf(uint32_t &d, uint32_t lo, uint32_t hi, uint32_t by) {
    constexpr bool left = cupel_ptx_is<Side, cupel_ptx_l>, clamps = cupel_ptx_is<Way, cupel_ptx_clamp>;
    if (left) d = clamps ? __funnelshift_lc(lo, hi, by) : __funnelshift_l(lo, hi, by);
    else d = clamps ? __funnelshift_rc(lo, hi, by) : __funnelshift_r(lo, hi, by);
}

/* Bit field of length len from position pos; beyond the top bit a signed field goes on with its own sign. */
template <class T> CUPEL_INLINE void cupel_ptx_bfe(T &d, T a, uint32_t b, uint32_t c) {
    typedef cupel_ptx_unsigned<T> U;
    const uint32_t top = 8 * sizeof(T) - 1, pos = b & 255, len = c & 255;
    U sign = 0;
    if (std::is_signed<T>::value && len != 0) sign = (U)a >> (pos + len - 1 < top ? pos + len - 1 : top) & 1;
    U result = 0;
    for (uint32_t i = 0; i <= top; i++) result |= (i < len && pos + i <= top ? (U)a >> (pos + i) & 1 : sign) << i;
    d = (T)result;
}
template <class T> CUPEL_INLINE void cupel_ptx_bfi(T &f, T a, T b, uint32_t c, uint32_t d) {
    const uint32_t top = 8 * sizeof(T) - 1, pos = c & 255, len = d & 255;
    f = b;
    for (uint32_t i = 0; i < len && pos + i <= top; i++) f = (T)((f & ~((T)1 << (pos + i))) | ((a >> i & 1) << (pos + i)));
}
template <class T> CUPEL_INLINE void cupel_ptx_bfind(uint32_t &d, T a) {
    typedef cupel_ptx_unsigned<T> U;
    const U u = std::is_signed<T>::value && a < 0 ? (U)~(U)a : (U)a;
    d = u == 0 ? 0xffffffffu : sizeof(T) == 8 ? 63u - (uint32_t)__builtin_clzll(u) : 31u - (uint32_t)__builtin_clz((uint32_t)u);
}
CUPEL_INLINE void cupel_ptx_brev(uint32_t &d, uint32_t a) { d = __brev(a); }
CUPEL_INLINE void cupel_ptx_brev(uint64_t &d, uint64_t a) { d = __brevll(a); }
CUPEL_INLINE void cupel_ptx_popc(uint32_t &d, uint32_t a) { d = (uint32_t)__popc(a); }
CUPEL_INLINE void cupel_ptx_popc(uint32_t &d, uint64_t a) { d = (uint32_t)__popcll(a); }
CUPEL_INLINE void cupel_ptx_clz(uint32_t &d, uint32_t a) { d = (uint32_t)__clz((int)a); }
CUPEL_INLINE void cupel_ptx_clz(uint32_t &d, uint64_t a) { d = (uint32_t)__clzll((long long)a); }

/* Any function of three bits, by its truth table. */
CUPEL_INLINE void cupel_ptx_lop3(uint32_t &d, uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    d = 0;
    for (uint32_t k = 0; k < 8; k++)
        if (table >> k & 1) d |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
}
/* As __byte_perm, but bit 3 of a selector's nibble spreads the byte's sign. */
CUPEL_INLINE uint32_t cupel_ptx_permuted(uint32_t a, uint32_t b, uint32_t selector) {
    const uint32_t bytes = __byte_perm(a, b, selector), spread = (selector & 8) >> 3 | (selector & 128) << 1 | (selector & 2048) << 5 | (selector & 32768) << 9;
    return (bytes & ~(spread * 255)) | (bytes >> 7 & spread) * 255;
}
template <class Mode> CUPEL_INLINE void cupel_ptx_prmt(uint32_t &d, uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t i = c & 3;
    uint32_t selector = c;
    if constexpr (cupel_ptx_is<Mode, cupel_ptx_f4e>) selector = (i + 3) << 12 | (i + 2) << 8 | (i + 1) << 4 | i;
    if constexpr (cupel_ptx_is<Mode, cupel_ptx_b4e>) selector = ((i + 5) & 7) << 12 | ((i + 6) & 7) << 8 | ((i + 7) & 7) << 4 | i;
    if constexpr (cupel_ptx_is<Mode, cupel_ptx_rc8>) selector = i * 0x1111;
    if constexpr (cupel_ptx_is<Mode, cupel_ptx_ecl>) selector = 3 << 12 | (i < 2 ? 2 : i) << 8 | (i < 1 ? 1 : i) << 4 | i;
    if constexpr (cupel_ptx_is<Mode, cupel_ptx_ecr>) selector = i << 12 | (i > 2 ? 2 : i) << 8 | (i > 1 ? 1 : i) << 4;
    if constexpr (cupel_ptx_is<Mode, cupel_ptx_rc16>) selector = i & 1 ? 0x3232 : 0x1010;
    d = cupel_ptx_permuted(a, b, selector);
}
/* Bytes of a and b, each signed or not, multiplied and added to c. */
template <class A, class B, class C> CUPEL_INLINE void cupel_ptx_dp4a(C &d, uint32_t a, uint32_t b, C c) {
    typedef std::conditional_t<std::is_signed<A>::value, int8_t, uint8_t> X;
    typedef std::conditional_t<std::is_signed<B>::value, int8_t, uint8_t> Y;
    uint32_t sum = (uint32_t)c;
    for (int i = 0; i < 4; i++) sum += (uint32_t)((int)(X)(a >> (8 * i)) * (int)(Y)(b >> (8 * i)));
    d = (C)sum;
}
/* The 16-bit halves of a with two bytes of b, the low ones or the high ones. */
template <class Part, class A, class B, class C> CUPEL_INLINE void cupel_ptx_dp2a(C &d, uint32_t a, uint32_t b, C c) {
    typedef std::conditional_t<std::is_signed<A>::value, int16_t, uint16_t> X;
    typedef std::conditional_t<std::is_signed<B>::value, int8_t, uint8_t> Y;
    const uint32_t bytes = cupel_ptx_is<Part, cupel_ptx_hi> ? b >> 16 : b;
    uint32_t sum = (uint32_t)c;
    for (int i = 0; i < 2; i++) sum += (uint32_t)((int)(X)(a >> (16 * i)) * (int)(Y)(bytes >> (8 * i)));
    d = (C)sum;
}

template <class C, class T> CUPEL_INLINE bool cupel_ptx_compares(T a, T b) {
    const bool unordered = a != a || b != b;
    if constexpr (cupel_ptx_is<C, cupel_ptx_eq>) return a == b;
    else if constexpr (cupel_ptx_is<C, cupel_ptx_ne>) return !unordered && a != b;
    else if constexpr (cupel_ptx_is<C, cupel_ptx_lt>) return a < b;
    else if constexpr (cupel_ptx_is<C, cupel_ptx_le>) return a <= b;
    else if constexpr (cupel_ptx_is<C, cupel_ptx_gt>) return a > b;
    else if constexpr (cupel_ptx_is<C, cupel_ptx_ge>) return a >= b;
    else if constexpr (cupel_ptx_is<C, cupel_ptx_equ>) return unordered || a == b;
    else if constexpr (cupel_ptx_is<C, cupel_ptx_neu>) return unordered || a != b;
    else if constexpr (cupel_ptx_is<C, cupel_ptx_ltu>) return unordered || a < b;
    else if constexpr (cupel_ptx_is<C, cupel_ptx_leu>) return unordered || a <= b;
    else if constexpr (cupel_ptx_is<C, cupel_ptx_gtu>) return unordered || a > b;
    else if constexpr (cupel_ptx_is<C, cupel_ptx_geu>) return unordered || a >= b;
    else if constexpr (cupel_ptx_is<C, cupel_ptx_num>) return !unordered;
    else return unordered;
}
/* lo, ls, hi, hs compare without sign: the types there are unsigned or bits, so they are lt, le, gt, ge. */
template <class C>
using cupel_ptx_plain_comparison = std::conditional_t<
    cupel_ptx_is<C, cupel_ptx_lo>, cupel_ptx_lt,
    std::conditional_t<cupel_ptx_is<C, cupel_ptx_ls>, cupel_ptx_le,
                       std::conditional_t<cupel_ptx_is<C, cupel_ptx_hi>, cupel_ptx_gt,
                                          std::conditional_t<cupel_ptx_is<C, cupel_ptx_hs>, cupel_ptx_ge, C>>>>;
template <class T> CUPEL_INLINE auto cupel_ptx_comparable(T a) {
    if constexpr (cupel_ptx_is<T, __half> || cupel_ptx_is<T, __nv_bfloat16>) return cupel_widen(a);
    else return a;
}
template <class C, class T> CUPEL_INLINE void cupel_ptx_setp(bool &p, bool &q, T a, T b) {
    p = cupel_ptx_compares<cupel_ptx_plain_comparison<C>>(cupel_ptx_comparable(a), cupel_ptx_comparable(b));
    q = !p;
}
template <class C, class T> CUPEL_INLINE void cupel_ptx_setp(bool &p, T a, T b) {
    bool q;
    cupel_ptx_setp<C, T>(p, q, a, b);
}
template <class Op> CUPEL_INLINE bool cupel_ptx_join(bool a, bool b) {
    return cupel_ptx_is<Op, cupel_ptx_and> ? a && b : cupel_ptx_is<Op, cupel_ptx_or> ? a || b : a != b;
}
template <class C, class Op, class T> CUPEL_INLINE void cupel_ptx_setp_join(bool &p, bool &q, T a, T b, bool c) {
    bool plain, opposite;
    cupel_ptx_setp<C, T>(plain, opposite, a, b);
    p = cupel_ptx_join<Op>(plain, c), q = cupel_ptx_join<Op>(opposite, c);
}
template <class C, class Op, class T> CUPEL_INLINE void cupel_ptx_setp_join(bool &p, T a, T b, bool c) {
    bool q;
    cupel_ptx_setp_join<C, Op, T>(p, q, a, b, c);
}
template <class C, class D, class T> CUPEL_INLINE void cupel_ptx_set(D &d, T a, T b) {
    bool p;
    cupel_ptx_setp<C, T>(p, a, b);
    if constexpr (cupel_ptx_is<D, float>) d = p ? 1.0f : 0.0f;
    else d = p ? (D)-1 : (D)0;
}
template <class T> CUPEL_INLINE void cupel_ptx_selp(T &d, T a, T b, bool p) { d = p ? a : b; }
template <class T, class C> CUPEL_INLINE void cupel_ptx_slct(T &d, T a, T b, C c) { d = c >= 0 ? a : b; }

template <class T> CUPEL_INLINE void cupel_ptx_mov(T &d, T a) { d = a; }
/* Vectors of halves or quarters of a register, the first element in its low bits. */
template <class T, class E, int N> CUPEL_INLINE void cupel_ptx_mov(T &d, const E (&a)[N]) {
    static_assert(sizeof d == sizeof a, "the vector is not as wide as the register");
    __builtin_memcpy(&d, a, sizeof d);
}
template <class T, class E, int N> CUPEL_INLINE void cupel_ptx_mov(E (&d)[N], T a) {
    static_assert(sizeof d == sizeof a, "the vector is not as wide as the register");
    __builtin_memcpy(d, &a, sizeof a);
}

#endif
