/* Math functions in float: those of functions.inc, by groups, and those of several arguments. */
#include "feature.cuh"

#define SMALL(v) fmodf(v, 9.0f)
#define MAGNITUDE(v) fabsf(v)

/* The group as a number, so that a row knows whether it is of the kernel's group. */
enum { group_exponentials, group_logarithms, group_trigonometric, group_inverse_trigonometric, group_hyperbolic, group_roots, group_error_functions, group_inverse_error_functions, group_gamma_functions };

template <int G> __device__ void functions(float v, unsigned *y) {
    int n = 0;
#define FUNCTION(group, name, argument, ...) \
    if constexpr (G == group_##group) y[n++] = bits(name##f(argument));
#include "functions.inc"
#undef FUNCTION
}

__global__ void exponentials(const unsigned *x, unsigned *y) {
    FEATURE(4);
    functions<group_exponentials>(as_float(x[0]), y);
}
__global__ void logarithms(const unsigned *x, unsigned *y) {
    FEATURE(4);
    functions<group_logarithms>(as_float(x[0]), y);
}
__global__ void trigonometric(const unsigned *x, unsigned *y) {
    FEATURE(5);
    functions<group_trigonometric>(as_float(x[0]), y);
}
__global__ void inverse_trigonometric(const unsigned *x, unsigned *y) {
    FEATURE(3);
    functions<group_inverse_trigonometric>(as_float(x[0]), y);
}
__global__ void hyperbolic(const unsigned *x, unsigned *y) {
    FEATURE(6);
    functions<group_hyperbolic>(as_float(x[0]), y);
}
__global__ void roots(const unsigned *x, unsigned *y) {
    FEATURE(4);
    functions<group_roots>(as_float(x[0]), y);
}
__global__ void error_functions(const unsigned *x, unsigned *y) {
    FEATURE(4);
    functions<group_error_functions>(as_float(x[0]), y);
}
__global__ void inverse_error_functions(const unsigned *x, unsigned *y) {
    FEATURE(3);
    functions<group_inverse_error_functions>(as_float(x[0]), y);
}
__global__ void gamma_functions(const unsigned *x, unsigned *y) {
    FEATURE(4);
    functions<group_gamma_functions>(as_float(x[0]), y);
}
__global__ void powers(const unsigned *x, unsigned *y) {
    FEATURE(6);
    float a = as_float(x[0]), b = as_float(x[1]), c = as_float(x[2]), d = as_float(x[3]), s, t;
    y[0] = bits(powf(a, b)), y[1] = bits(hypotf(a, b)), y[2] = bits(rhypotf(a, b)), y[3] = bits(atan2f(a, b));
    sincosf(c, &s, &t);
    y[4] = bits(s), y[5] = bits(t);
    (void)d;
}
__global__ void norms(const unsigned *x, unsigned *y) {
    FEATURE(6);
    float p[5];
    for (int i = 0; i < 5; i++) p[i] = as_float(x[i]);
    y[0] = bits(norm3df(p[0], p[1], p[2])), y[1] = bits(rnorm3df(p[0], p[1], p[2]));
    y[2] = bits(norm4df(p[0], p[1], p[2], p[3])), y[3] = bits(rnorm4df(p[0], p[1], p[2], p[3]));
    y[4] = bits(normf(5, p)), y[5] = bits(rnormf(5, p));
}
