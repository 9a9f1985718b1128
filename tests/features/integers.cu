/* Integer and bit intrinsics. */
#include "feature.cuh"

__global__ void bit_counts(const unsigned *x, unsigned *y) {
    FEATURE(12);
    unsigned long long w = as_long(x + 1);
    y[0] = __popc(x[0]), y[1] = __popcll(w);
    y[2] = __clz((int)x[0]), y[3] = __clzll((long long)w);
    y[4] = __ffs((int)x[0]), y[5] = __ffsll((long long)w);
    y[6] = __brev(x[0]);
    put(y + 7, __brevll(w));
    y[9] = __fns(x[0], x[3] & 31, (int)(x[4] % 9) - 4);
    y[10] = __popc(x[0] & 0), y[11] = 31 - __clz((int)(x[0] | 1));
}
__global__ void byte_permute(const unsigned *x, unsigned *y) {
    FEATURE(4);
    y[0] = __byte_perm(x[0], x[1], x[2]);
    y[1] = __byte_perm(x[0], x[1], 0x5410);
    y[2] = __byte_perm(x[0], 0, 0x0123);
    y[3] = __byte_perm(x[0], x[1], 0xf8bc);
}
__global__ void funnel_shift(const unsigned *x, unsigned *y) {
    FEATURE(4);
    y[0] = __funnelshift_l(x[0], x[1], x[2]), y[1] = __funnelshift_r(x[0], x[1], x[2]);
    y[2] = __funnelshift_lc(x[0], x[1], x[2]), y[3] = __funnelshift_rc(x[0], x[1], x[2]);
}
__global__ void multiply_high(const unsigned *x, unsigned *y) {
    FEATURE(9);
    y[0] = (unsigned)__mulhi((int)x[0], (int)x[1]), y[1] = __umulhi(x[0], x[1]);
    put(y + 2, (unsigned long long)__mul64hi((long long)as_long(x), (long long)as_long(x + 2)));
    put(y + 4, __umul64hi(as_long(x), as_long(x + 2)));
    y[6] = (unsigned)__mul24((int)x[0], (int)x[1]), y[7] = __umul24(x[0], x[1]);
    y[8] = (unsigned)((unsigned long long)x[0] * x[1] >> 32);
}
__global__ void averages(const unsigned *x, unsigned *y) {
    FEATURE(6);
    y[0] = (unsigned)__hadd((int)x[0], (int)x[1]), y[1] = (unsigned)__rhadd((int)x[0], (int)x[1]);
    y[2] = __uhadd(x[0], x[1]), y[3] = __urhadd(x[0], x[1]);
    y[4] = __sad((int)x[0], (int)x[1], x[2]), y[5] = __usad(x[0], x[1], x[2]);
}
__global__ void dot_products(const unsigned *x, unsigned *y) {
    FEATURE(12);
    int a = (int)x[0], b = (int)x[1], c = (int)x[2];
    y[0] = (unsigned)__dp4a(a, b, c), y[1] = __dp4a(x[0], x[1], x[2]);
    y[2] = (unsigned)__dp4a(*(char4 *)&a, *(char4 *)&b, c);
    y[3] = __dp4a(*(uchar4 *)&a, *(uchar4 *)&b, x[2]);
    y[4] = (unsigned)__dp2a_lo(a, b, c), y[5] = (unsigned)__dp2a_hi(a, b, c);
    y[6] = __dp2a_lo(x[0], x[1], x[2]), y[7] = __dp2a_hi(x[0], x[1], x[2]);
    y[8] = (unsigned)__dp2a_lo(*(short2 *)&a, *(char4 *)&b, c), y[9] = (unsigned)__dp2a_hi(*(short2 *)&a, *(char4 *)&b, c);
    y[10] = __dp2a_lo(*(ushort2 *)&a, *(uchar4 *)&b, x[2]), y[11] = __dp2a_hi(*(ushort2 *)&a, *(uchar4 *)&b, x[2]);
}
__global__ void minima(const unsigned *x, unsigned *y) {
    FEATURE(16);
    int a = (int)x[0], b = (int)x[1];
    y[0] = (unsigned)min(a, b), y[1] = (unsigned)max(a, b);
    y[2] = min(x[0], x[1]), y[3] = max(x[0], x[1]);
    y[4] = min(a, x[1]), y[5] = max(x[0], b);
    put(y + 6, (unsigned long long)min((long long)as_long(x), (long long)as_long(x + 2)));
    put(y + 8, max(as_long(x), as_long(x + 2)));
    y[10] = umin(x[0], x[1]), y[11] = umax(x[0], x[1]);
    put(y + 12, (unsigned long long)llmax((long long)as_long(x), (long long)as_long(x + 2)));
    put(y + 14, ullmin(as_long(x), as_long(x + 2)));
}
__global__ void magnitudes(const unsigned *x, unsigned *y) {
    FEATURE(5);
    y[0] = (unsigned)abs((int)(x[0] | 1));
    put(y + 1, (unsigned long long)llabs((long long)(as_long(x) | 1)));
    put(y + 3, (unsigned long long)labs((long)(as_long(x + 2) | 1)));
}
__global__ void reinterpret(const unsigned *x, unsigned *y) {
    FEATURE(13);
    y[0] = (unsigned)__float_as_int(__int_as_float((int)x[0]));
    y[1] = __float_as_uint(__uint_as_float(x[1]) * 1.0f == 0.0f ? 0.0f : 1.5f);
    put(y + 2, (unsigned long long)__double_as_longlong(__longlong_as_double((long long)as_long(x))));
    y[4] = (unsigned)__double2hiint(as_double(x)), y[5] = (unsigned)__double2loint(as_double(x));
    put(y + 6, (unsigned long long)__double_as_longlong(__hiloint2double((int)x[0], (int)x[1])));
    float f = 2.5f;
    y[8] = *reinterpret_cast<unsigned *>(&f);
    union {
        unsigned u[2];
        unsigned short h[4];
        unsigned char c[8];
    } both;
    both.u[0] = x[0], both.u[1] = x[1];
    y[9] = both.h[3], y[10] = both.c[5];
    unsigned copied;
    memcpy(&copied, reinterpret_cast<const unsigned char *>(x) + 4, sizeof copied);
    y[11] = copied;
    y[12] = *reinterpret_cast<const unsigned short *>(reinterpret_cast<const char *>(x) + 6);
}
__global__ void arithmetic(const unsigned *x, unsigned *y) {
    FEATURE(14);
    int a = (int)x[0], b = (int)(x[1] | 1);
    bool overflows = a == INT_MIN && b == -1;
    y[0] = overflows ? 0 : (unsigned)(a / b), y[1] = overflows ? 0 : (unsigned)(a % b);
    y[2] = x[0] / (x[1] | 1), y[3] = x[0] % (x[1] | 1);
    put(y + 4, as_long(x) / (as_long(x + 2) | 1));
    put(y + 6, as_long(x) % (as_long(x + 2) | 1));
    put(y + 8, as_long(x) * as_long(x + 2));
    y[10] = (unsigned)(a >> (x[2] & 31)), y[11] = x[0] >> (x[2] & 31);
    y[12] = (unsigned)(signed char)x[0], y[13] = (unsigned)(int)(short)x[0];
}
