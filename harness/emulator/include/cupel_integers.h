/* Integer and bit intrinsics, and reinterpretation. */
#ifndef CUPEL_INTEGERS_H
#define CUPEL_INTEGERS_H

template <class To, class From> CUPEL_BOTH To cupel_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
    return __builtin_bit_cast(To, from);
}

CUPEL_BOTH int __float_as_int(float x) { return cupel_bits<int>(x); }
CUPEL_BOTH unsigned int __float_as_uint(float x) { return cupel_bits<unsigned int>(x); }
CUPEL_BOTH float __int_as_float(int x) { return cupel_bits<float>(x); }
CUPEL_BOTH float __uint_as_float(unsigned int x) { return cupel_bits<float>(x); }
CUPEL_BOTH long long __double_as_longlong(double x) { return cupel_bits<long long>(x); }
CUPEL_BOTH double __longlong_as_double(long long x) { return cupel_bits<double>(x); }
CUPEL_BOTH int __double2hiint(double x) { return (int)(cupel_bits<uint64_t>(x) >> 32); }
CUPEL_BOTH int __double2loint(double x) { return (int)cupel_bits<uint64_t>(x); }
CUPEL_BOTH double __hiloint2double(int hi, int lo) {
    return cupel_bits<double>((uint64_t)(uint32_t)hi << 32 | (uint32_t)lo);
}

CUPEL_BOTH int __popc(unsigned int x) { return __builtin_popcount(x); }
CUPEL_BOTH int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
CUPEL_BOTH int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
CUPEL_BOTH int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
CUPEL_BOTH int __ffs(int x) { return __builtin_ffs(x); }
CUPEL_BOTH int __ffsll(long long x) { return __builtin_ffsll(x); }
CUPEL_BOTH unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
CUPEL_BOTH unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

/* Four bytes picked from the eight of y:x by the low three bits of the selector's nibbles: bit 3 is ignored, as on an H200 (in
 * PTX's prmt it spreads the byte's sign). */
CUPEL_BOTH unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
    uint64_t both = (uint64_t)y << 32 | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; i++) result |= ((unsigned int)(both >> (8 * (selector >> (4 * i) & 7))) & 255) << (8 * i);
    return result;
}

CUPEL_BOTH unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift) {
    return (unsigned int)(((uint64_t)hi << 32 | lo) << (shift & 31) >> 32);
}
CUPEL_BOTH unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift) {
    return (unsigned int)(((uint64_t)hi << 32 | lo) >> (shift & 31));
}
CUPEL_BOTH unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int shift) {
    return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
CUPEL_BOTH unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int shift) {
    return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

CUPEL_BOTH int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
CUPEL_BOTH unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)((unsigned long long)a * b >> 32);
}
CUPEL_BOTH long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
CUPEL_BOTH unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
CUPEL_BOTH int __mul24(int a, int b) { return (int)((uint32_t)((int)((uint32_t)a << 8) >> 8) * (uint32_t)((int)((uint32_t)b << 8) >> 8)); }
CUPEL_BOTH unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
CUPEL_BOTH int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
CUPEL_BOTH int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
CUPEL_BOTH unsigned int __uhadd(unsigned int a, unsigned int b) { return (unsigned int)(((unsigned long long)a + b) >> 1); }
CUPEL_BOTH unsigned int __urhadd(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a + b + 1) >> 1);
}
CUPEL_BOTH unsigned int __sad(int a, int b, unsigned int c) { return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a); }
CUPEL_BOTH unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return c + (a > b ? a - b : b - a); }

CUPEL_BOTH int __dp4a(int a, int b, int c) {
    uint32_t sum = (uint32_t)c;
    for (int i = 0; i < 4; i++) sum += (uint32_t)((int)(signed char)(a >> (8 * i)) * (int)(signed char)(b >> (8 * i)));
    return (int)sum;
}
CUPEL_BOTH unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    for (int i = 0; i < 4; i++) c += (a >> (8 * i) & 255) * (b >> (8 * i) & 255);
    return c;
}
CUPEL_BOTH int __dp4a(char4 a, char4 b, int c) { return __dp4a(cupel_bits<int>(a.cupel_wide[0]), cupel_bits<int>(b.cupel_wide[0]), c); }

CUPEL_BOTH unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
    return __dp4a(cupel_bits<unsigned int>(a.cupel_wide[0]), cupel_bits<unsigned int>(b.cupel_wide[0]), c);
}

/* Two 16-bit numbers of a times two of the four bytes of b. */
CUPEL_BOTH int cupel_dp2a(int a, int b, int c, int first) {
    uint32_t sum = (uint32_t)c;
    for (int i = 0; i < 2; i++)
        sum += (uint32_t)((int)(short)(a >> (16 * i)) * (int)(signed char)(b >> (8 * (first + i))));
    return (int)sum;
}
CUPEL_BOTH unsigned int cupel_dp2a(unsigned int a, unsigned int b, unsigned int c, int first) {
    for (int i = 0; i < 2; i++) c += (a >> (16 * i) & 0xffff) * (b >> (8 * (first + i)) & 255);
    return c;
}
#define CUPEL_DP2A(name, first)                                                                              \
    CUPEL_BOTH int name(int a, int b, int c) { return cupel_dp2a(a, b, c, first); }                          \
    CUPEL_BOTH unsigned int name(unsigned int a, unsigned int b, unsigned int c) { return cupel_dp2a(a, b, c, first); } \
    CUPEL_BOTH int name(short2 a, char4 b, int c) {                                                          \
        return cupel_dp2a((int)a.cupel_wide[0], (int)b.cupel_wide[0], c, first);                             \
    }                                                                                                        \
    CUPEL_BOTH unsigned int name(ushort2 a, uchar4 b, unsigned int c) {                                      \
        return cupel_dp2a((unsigned int)a.cupel_wide[0], (unsigned int)b.cupel_wide[0], c, first);           \
    }
CUPEL_DP2A(__dp2a_lo, 0)
CUPEL_DP2A(__dp2a_hi, 2)

/* The offset-th set bit from base upwards (offset > 0), downwards (offset < 0), or base itself; 0xffffffff: there is none. */
CUPEL_BOTH unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    if (base > 31) return 0xffffffffu;
    int left = offset < 0 ? -offset : offset, step = offset < 0 ? -1 : 1;
    if (offset == 0) return mask >> base & 1 ? base : 0xffffffffu;
    for (int i = (int)base; i >= 0 && i < 32; i += step)
        if ((mask >> i & 1) && --left == 0) return (unsigned int)i;
    return 0xffffffffu;
}

#endif
