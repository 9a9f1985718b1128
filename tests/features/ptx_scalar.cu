/* Inline PTX on single values: integers, bits, carries, predicates, floating point, conversions. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "feature.cuh"


__global__ void ptx_integers(const unsigned *x, unsigned *y) {
    FEATURE(20);
    unsigned long long wide;
    asm("add.s32 %0, %1, %2;" : "=r"(y[0]) : "r"(x[0]), "r"(x[1]));
    asm("add.sat.s32 %0, %1, %2;" : "=r"(y[1]) : "r"(x[0]), "r"(x[1]));
    asm("sub.u32 %0, %1, %2;" : "=r"(y[2]) : "r"(x[0]), "r"(x[1]));
    asm("mul.lo.s32 %0, %1, %2;" : "=r"(y[3]) : "r"(x[0]), "r"(x[1]));
    asm("mul.hi.s32 %0, %1, %2;" : "=r"(y[4]) : "r"(x[0]), "r"(x[1]));
    asm("mul.hi.u32 %0, %1, %2;" : "=r"(y[5]) : "r"(x[0]), "r"(x[1]));
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(wide) : "r"(x[0]), "r"(x[1]));
    put(y + 6, wide);
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(y[8]) : "r"(x[0]), "r"(x[1]), "r"(x[2]));
    asm("mad.hi.s32 %0, %1, %2, %3;" : "=r"(y[9]) : "r"(x[0]), "r"(x[1]), "r"(x[2]));
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(x[0]), "r"(x[1]), "l"(as_long(x + 2)));
    put(y + 10, wide);
    asm("min.s32 %0, %1, %2;" : "=r"(y[12]) : "r"(x[0]), "r"(x[1]));
    asm("max.u32 %0, %1, %2;" : "=r"(y[13]) : "r"(x[0]), "r"(x[1]));
    asm("sad.s32 %0, %1, %2, %3;" : "=r"(y[14]) : "r"(x[0]), "r"(x[1]), "r"(x[2]));
    asm("neg.s32 %0, %1;" : "=r"(y[15]) : "r"(x[0]));
    asm("abs.s32 %0, %1;" : "=r"(y[16]) : "r"(x[0]));
    asm("rem.u32 %0, %1, %2;" : "=r"(y[17]) : "r"(x[0]), "r"(x[1] | 1));
    asm("div.s32 %0, %1, %2;" : "=r"(y[18]) : "r"(x[0] >> 1), "r"(x[1] | 1));
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(y[19]) : "r"(x[0]), "r"(x[1]), "r"(x[2]));
}
__global__ void ptx_bits(const unsigned *x, unsigned *y) {
    FEATURE(20);
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(y[0]) : "r"(x[0]), "r"(x[1]), "r"(x[2]));
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(y[1]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "n"(0xE4));
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(y[2]) : "r"(x[0]), "r"(x[1]), "r"(x[2]));
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(y[3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]));
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(y[4]) : "r"(x[0]), "r"(x[1]), "r"(x[2] & 63));
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(y[5]) : "r"(x[0]), "r"(x[1]), "r"(x[2]));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(y[6]) : "r"(x[0]), "r"(x[1] & 31), "r"(x[2] & 31));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(y[7]) : "r"(x[0]), "r"(x[1]), "r"(x[2] & 31), "r"(x[3] & 31));
    asm("brev.b32 %0, %1;" : "=r"(y[8]) : "r"(x[0]));
    asm("popc.b32 %0, %1;" : "=r"(y[9]) : "r"(x[0]));
    asm("clz.b32 %0, %1;" : "=r"(y[10]) : "r"(x[0]));
    asm("bfind.s32 %0, %1;" : "=r"(y[11]) : "r"(x[0]));
    asm("and.b32 %0, %1, %2;" : "=r"(y[12]) : "r"(x[0]), "r"(x[1]));
    asm("xor.b32 %0, %1, %2;" : "=r"(y[13]) : "r"(x[0]), "r"(x[1]));
    asm("not.b32 %0, %1;" : "=r"(y[14]) : "r"(x[0]));
    asm("shl.b32 %0, %1, %2;" : "=r"(y[15]) : "r"(x[0]), "r"(x[1] & 63));
    asm("shr.s32 %0, %1, %2;" : "=r"(y[16]) : "r"(x[0]), "r"(x[1] & 63));
    asm("shr.u32 %0, %1, %2;" : "=r"(y[17]) : "r"(x[0]), "r"(x[1]));
    unsigned short low, high;
    asm("mov.b32 {%0, %1}, %2;" : "=h"(low), "=h"(high) : "r"(x[0]));
    asm("mov.b32 %0, {%1, %2};" : "=r"(y[18]) : "h"(high), "h"(low));
    asm("popc.b64 %0, %1;" : "=r"(y[19]) : "l"(as_long(x)));
}
/* 64-bit sums, differences and products from 32-bit instructions. */
__global__ void ptx_carries(const unsigned *x, unsigned *y) {
    FEATURE(6);
    asm("add.cc.u32 %0, %2, %4;\n\taddc.u32 %1, %3, %5;" : "=r"(y[0]), "=r"(y[1]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]));
    asm("sub.cc.u32 %0, %2, %4;\n\tsubc.u32 %1, %3, %5;" : "=r"(y[2]), "=r"(y[3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]));
    asm("{\n\t.reg .u32 t;\n\tmad.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.u32 %1, %2, %3, %5;\n\t}"
        : "=&r"(y[4]), "=r"(y[5])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]));
}
#define CLAMPED(d, a, low, high)                                                                             \
    asm("{\n\t"                                                                                              \
        ".reg .pred below, above;  // two predicates\n\t"                                                    \
        ".reg .s32 t<2>;\n\t"                                                                                \
        "mov.s32 t0, %1; /* a */\n\t"                                                                        \
        "setp.lt.s32 below, t0, " #low ";\n\t"                                                               \
        "setp.gt.s32 above, t0, %2;\n\t"                                                                     \
        "selp.s32 t1, %2, t0, above;\n\t"                                                                    \
        "@below mov.s32 t1, " #low ";\n\t"                                                                   \
        "@!below mov.s32 t1, t1;\n\t"                                                                        \
        "mov.s32 %0, t1;\n\t"                                                                                \
        "}"                                                                                                  \
        : "=r"(d)                                                                                            \
        : "r"(a), "n"(high))
__global__ void ptx_predicates(const unsigned *x, unsigned *y) {
    FEATURE(5);
    int d;
    CLAMPED(d, (int)x[0], -100, 1000);
    y[0] = (unsigned)d;
    asm("{ .reg .pred p, q; setp.le.u32 p|q, %1, %2; selp.u32 %0, 1, 2, q; }" : "=r"(y[1]) : "r"(x[0]), "r"(x[1]));
    asm("{ .reg .pred p, q; setp.eq.u32 p, %1, %2; setp.ne.or.u32 q, %1, %3, p; selp.b32 %0, 1, 0, q; }"
        : "=r"(y[2]) : "r"(x[0] & 1), "r"(x[1] & 1), "r"(x[2] & 1));
    asm("set.gt.u32.f32 %0, %1, %2;" : "=r"(y[3]) : "f"(as_float(x[0])), "f"(as_float(x[1])));
    unsigned sum = x[0];
    asm("add.u32 %0, %0, %1;" : "+r"(sum) : "r"(x[1]));
    if (x[0] & 1) asm volatile("add.u32 %0, %0, 1;" : "+r"(sum)); else asm volatile("add.u32 %0, %0, 2;" : "+r"(sum));
    y[4] = sum;
}
__global__ void ptx_floats(const unsigned *x, unsigned *y) {
    FEATURE(18);
    float a = as_float(x[0]), b = as_float(x[1]), c = as_float(x[2]), d;
    asm("add.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); y[0] = bits(d);
    asm("add.rz.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); y[1] = bits(d);
    asm("add.rp.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); y[2] = bits(d);
    asm("sub.rm.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); y[3] = bits(d);
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); y[4] = bits(d);
    asm("mul.rz.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); y[5] = bits(d);
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c)); y[6] = bits(d);
    asm("fma.rm.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c)); y[7] = bits(d);
    asm("min.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); y[8] = bits(d);
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); y[9] = bits(d);
    asm("div.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); y[10] = bits(d);
    asm("sqrt.rn.f32 %0, %1;" : "=f"(d) : "f"(a)); y[11] = bits(d);
    asm("rcp.rn.f32 %0, %1;" : "=f"(d) : "f"(a)); y[12] = bits(d);
    asm("add.rn.sat.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); y[13] = bits(d);
    asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); y[14] = bits(d);
    asm("copysign.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); y[15] = bits(d);
    asm("add.rn.f32 %0, %1, 0f3FC00000;" : "=f"(d) : "f"(a)); y[16] = bits(d);
    asm("abs.f32 %0, %1;" : "=f"(d) : "f"(a)); y[17] = bits(d);
}
__global__ void ptx_doubles(const unsigned *x, unsigned *y) {
    FEATURE(28);
    double a = as_double(x), b = as_double(x + 2), c = as_double(x + 4), d;
    asm("add.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b)); put(y, d);
    asm("add.rz.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b)); put(y + 2, d);
    asm("sub.rm.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b)); put(y + 4, d);
    asm("mul.rn.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b)); put(y + 6, d);
    asm("mul.rp.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b)); put(y + 8, d);
    asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(d) : "d"(a), "d"(b), "d"(c)); put(y + 10, d);
    asm("fma.rz.f64 %0, %1, %2, %3;" : "=d"(d) : "d"(a), "d"(b), "d"(c)); put(y + 12, d);
    asm("div.rn.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b)); put(y + 14, d);
    asm("div.rm.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b)); put(y + 16, d);
    asm("rcp.rp.f64 %0, %1;" : "=d"(d) : "d"(a)); put(y + 18, d);
    asm("sqrt.rn.f64 %0, %1;" : "=d"(d) : "d"(a)); put(y + 20, d);
    asm("sqrt.rz.f64 %0, %1;" : "=d"(d) : "d"(a)); put(y + 22, d);
    asm("max.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b)); put(y + 24, d == 0 ? 0.0 : d);
    asm("abs.f64 %0, %1;" : "=d"(d) : "d"(a)); put(y + 26, d);
}
__global__ void ptx_conversions(const unsigned *x, unsigned *y) {
    FEATURE(18);
    float a = as_float(x[0]), b = as_float(x[1]), d;
    unsigned short h;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(y[0]) : "f"(a));
    asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(y[1]) : "f"(a));
    asm("cvt.rmi.s32.f32 %0, %1;" : "=r"(y[2]) : "f"(a));
    asm("cvt.rn.f32.s32 %0, %1;" : "=f"(d) : "r"(x[0])); y[3] = bits(d);
    asm("cvt.rz.f32.u32 %0, %1;" : "=f"(d) : "r"(x[0])); y[4] = bits(d);
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(a)); y[5] = h;
    asm("cvt.rz.f16.f32 %0, %1;" : "=h"(h) : "f"(a)); y[6] = h;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y[7]) : "f"(a), "f"(b));
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y[8]) : "f"(a), "f"(b));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y[9]) : "f"(a == a ? a : 0.0f));
    asm("cvt.f32.f16 %0, %1;" : "=f"(d) : "h"((unsigned short)x[0])); y[10] = bits(d);
    asm("cvt.sat.f32.f32 %0, %1;" : "=f"(d) : "f"(a)); y[11] = bits(d);
    asm("cvt.rni.f32.f32 %0, %1;" : "=f"(d) : "f"(a)); y[12] = bits(d);
    asm("cvt.s32.s8 %0, %1;" : "=r"(y[13]) : "r"(x[0]));
    asm("cvt.sat.u8.s32 %0, %1;" : "=r"(y[14]) : "r"(x[0]));
    asm("{ .reg .u64 t; cvt.u64.u32 t, %1; shl.b64 t, t, 4; cvt.u32.u64 %0, t; }" : "=r"(y[15]) : "r"(x[0]));
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(h) : "f"(a), "f"(b)); y[16] = h;
    asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(y[17]) : "f"(a == a ? a : 1.0f), "f"(b == b ? b : 1.0f));
}
__device__ unsigned canonical(unsigned two) { /* the NaNs of two halves as one */
    unsigned low = two & 0xffff, high = two >> 16;
    if ((low & 0x7fff) > 0x7c00) low = 0x7fff;
    if ((high & 0x7fff) > 0x7c00) high = 0x7fff;
    return low | high << 16;
}
__global__ void ptx_halves(const unsigned *x, unsigned *y) {
    FEATURE(5);
    unsigned d;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(x[0]), "r"(x[1])); y[0] = canonical(d);
    asm("mul.f16x2 %0, %1, %2;" : "=r"(d) : "r"(x[0]), "r"(x[1])); y[1] = canonical(d);
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(x[0]), "r"(x[1]), "r"(x[2])); y[2] = canonical(d);
    asm("max.f16x2 %0, %1, %2;" : "=r"(d) : "r"(x[0]), "r"(x[1])); y[3] = canonical(d);
    asm("fma.rn.relu.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(x[0]), "r"(x[1]), "r"(x[2])); y[4] = canonical(d);
}
__global__ void ptx_approximations(const unsigned *x, unsigned *y) {
    FEATURE(8);
    float a = as_float(x[4]), d;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(a)); y[0] = bits(d);
    asm("sin.approx.f32 %0, %1;" : "=f"(d) : "f"(a)); y[4] = bits(d);
    asm("cos.approx.f32 %0, %1;" : "=f"(d) : "f"(a)); y[5] = bits(d);
    asm("tanh.approx.f32 %0, %1;" : "=f"(d) : "f"(a)); y[6] = bits(d);
    a = fabsf(as_float(x[6]));
    asm("lg2.approx.f32 %0, %1;" : "=f"(d) : "f"(a)); y[1] = bits(d);
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(d) : "f"(a)); y[2] = bits(d);
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(a)); y[3] = bits(d);
    asm("sqrt.approx.f32 %0, %1;" : "=f"(d) : "f"(a)); y[7] = bits(d);
}
