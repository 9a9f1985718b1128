/* Fast functions of the hardware: their errors are absolute in a range, or grow with the argument. */
#include "feature.cuh"

/* From -1 to 1. */
__device__ float unit(unsigned x) { return (float)((int)x >> 8) * 0x1p-23f; }
/* From 2^-32 to 2^32. */
__device__ float positive(unsigned x) { return __uint_as_float((x & 0x7fffffu) | (95 + (x >> 23 & 63)) << 23); }

__global__ void fast_exponentials(const unsigned *x, unsigned *y) {
    FEATURE(3);
    float v = 80.0f * unit(x[0]);
    y[0] = bits(__expf(v)), y[1] = bits(__exp10f(0.4f * v));
    y[2] = bits(exp2f(v));
}
__global__ void fast_logarithms(const unsigned *x, unsigned *y) {
    FEATURE(3);
    float v = positive(x[0]);
    y[0] = bits(__logf(v)), y[1] = bits(__log2f(v)), y[2] = bits(__log10f(v));
}
__global__ void fast_trigonometric(const unsigned *x, unsigned *y) {
    FEATURE(4);
    float v = 3.14159f * unit(x[0]), s, c;
    y[0] = bits(__sinf(v)), y[1] = bits(__cosf(v));
    __sincosf(v, &s, &c);
    y[2] = bits(s), y[3] = bits(c);
}
__global__ void fast_tangent(const unsigned *x, unsigned *y) {
    FEATURE(1);
    y[0] = bits(__tanf(0.75f * unit(x[0])));
}
__global__ void fast_power(const unsigned *x, unsigned *y) {
    FEATURE(1);
    y[0] = bits(__powf(positive(x[0]), unit(x[1])));
}
__global__ void fast_quotient(const unsigned *x, unsigned *y) {
    FEATURE(3);
    float a = unit(x[0]), b = positive(x[1]);
    y[0] = bits(__fdividef(a, b)), y[1] = bits(fdividef(a, b));
    y[2] = bits(__frsqrt_rn(b));
}
/* What is fixed to the bit. */
__global__ void fast_exact(const unsigned *x, unsigned *y) {
    FEATURE(4);
    float v = as_float(x[0]);
    y[0] = bits(__saturatef(v));
    y[1] = bits(__fdividef(1.0f, 0x1.8p126f)), y[2] = bits(__fdividef(INFINITY, 0x1.8p127f));
    y[3] = bits(__expf(0.0f)) ^ bits(__log2f(1.0f)) ^ bits(__sinf(0.0f));
}
