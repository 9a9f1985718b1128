/* Arithmetic with a stated rounding. */
#include "feature.cuh"

#define FOUR(i, name, ...)                                                                                   \
    y[i] = bits(name##_rn(__VA_ARGS__)), y[i + 1] = bits(name##_rz(__VA_ARGS__));                            \
    y[i + 2] = bits(name##_ru(__VA_ARGS__)), y[i + 3] = bits(name##_rd(__VA_ARGS__))
#define FOUR_DOUBLE(i, name, ...)                                                                            \
    put(y + (i), name##_rn(__VA_ARGS__)), put(y + (i) + 2, name##_rz(__VA_ARGS__));                          \
    put(y + (i) + 4, name##_ru(__VA_ARGS__)), put(y + (i) + 6, name##_rd(__VA_ARGS__))

__global__ void rounded_sum(const unsigned *x, unsigned *y) {
    FEATURE(12);
    float a = as_float(x[0]), b = as_float(x[1]);
    FOUR(0, __fadd, a, b);
    FOUR(4, __fsub, a, b);
    FOUR(8, __fmul, a, b);
}
__global__ void rounded_fma(const unsigned *x, unsigned *y) {
    FEATURE(4);
    FOUR(0, __fmaf, as_float(x[0]), as_float(x[1]), as_float(x[2]));
}
__global__ void rounded_quotient(const unsigned *x, unsigned *y) {
    FEATURE(13);
    float a = as_float(x[0]), b = as_float(x[1]);
    FOUR(0, __fdiv, a, b);
    FOUR(4, __frcp, b);
    FOUR(8, __fsqrt, fabsf(a));
    y[12] = bits(__fsqrt_rn(-1.0f - fabsf(a)));
}
__global__ void rounded_sum_double(const unsigned *x, unsigned *y) {
    FEATURE(24);
    double a = as_double(x), b = as_double(x + 2);
    FOUR_DOUBLE(0, __dadd, a, b);
    FOUR_DOUBLE(8, __dsub, a, b);
    FOUR_DOUBLE(16, __dmul, a, b);
}
__global__ void rounded_fma_double(const unsigned *x, unsigned *y) {
    FEATURE(8);
    FOUR_DOUBLE(0, __fma, as_double(x), as_double(x + 2), as_double(x + 4));
}
__global__ void rounded_quotient_double(const unsigned *x, unsigned *y) {
    FEATURE(24);
    double a = as_double(x), b = as_double(x + 2);
    FOUR_DOUBLE(0, __ddiv, a, b);
    FOUR_DOUBLE(8, __drcp, b);
    FOUR_DOUBLE(16, __dsqrt, fabs(a));
}
/* a * b + c must not be fused where __fmul_rn and __fadd_rn are written. */
__global__ void unfused(const unsigned *x, unsigned *y) {
    FEATURE(4);
    float a = as_float(x[4]), b = as_float(x[5]), c = as_float(x[6]);
    y[0] = bits(__fadd_rn(__fmul_rn(a, b), c));
    y[1] = bits(fmaf(a, b, c));
    put(y + 2, __dadd_rn(__dmul_rn(as_double(x), as_double(x + 2)), 1.0));
}
