/* Math functions in double: those of functions.inc, by groups, and those of several arguments. */
#include "feature.cuh"

#define SMALL(v) fmod(v, 9.0)
#define MAGNITUDE(v) fabs(v)

/* The group as a number, so that a row knows whether it is of the kernel's group. */
enum { group_exponentials, group_logarithms, group_trigonometric, group_inverse_trigonometric, group_hyperbolic, group_roots, group_error_functions, group_inverse_error_functions, group_gamma_functions };

template <int G> __device__ void functions(double v, unsigned *y) {
    int n = 0;
#define FUNCTION(group, name, argument, ...) \
    if constexpr (G == group_##group) put(y + 2 * n++, name(argument));
#include "functions.inc"
#undef FUNCTION
}

__global__ void exponentials_double(const unsigned *x, unsigned *y) {
    FEATURE(8);
    functions<group_exponentials>(as_double(x), y);
}
__global__ void logarithms_double(const unsigned *x, unsigned *y) {
    FEATURE(8);
    functions<group_logarithms>(as_double(x), y);
}
__global__ void trigonometric_double(const unsigned *x, unsigned *y) {
    FEATURE(10);
    functions<group_trigonometric>(as_double(x), y);
}
__global__ void inverse_trigonometric_double(const unsigned *x, unsigned *y) {
    FEATURE(6);
    functions<group_inverse_trigonometric>(as_double(x), y);
}
__global__ void hyperbolic_double(const unsigned *x, unsigned *y) {
    FEATURE(12);
    functions<group_hyperbolic>(as_double(x), y);
}
__global__ void roots_double(const unsigned *x, unsigned *y) {
    FEATURE(8);
    functions<group_roots>(as_double(x), y);
}
__global__ void error_functions_double(const unsigned *x, unsigned *y) {
    FEATURE(8);
    functions<group_error_functions>(as_double(x), y);
}
__global__ void inverse_error_functions_double(const unsigned *x, unsigned *y) {
    FEATURE(6);
    functions<group_inverse_error_functions>(as_double(x), y);
}
__global__ void gamma_functions_double(const unsigned *x, unsigned *y) {
    FEATURE(8);
    functions<group_gamma_functions>(as_double(x), y);
}
__global__ void powers_double(const unsigned *x, unsigned *y) {
    FEATURE(12);
    double a = as_double(x), b = as_double(x + 2), s, t;
    put(y, pow(a, b)), put(y + 2, hypot(a, b)), put(y + 4, rhypot(a, b)), put(y + 6, atan2(a, b));
    sincos(a, &s, &t);
    put(y + 8, s), put(y + 10, t);
}
__global__ void norms_double(const unsigned *x, unsigned *y) {
    FEATURE(8);
    double p[3] = {as_double(x), as_double(x + 2), as_double(x + 4)};
    put(y, norm3d(p[0], p[1], p[2])), put(y + 2, rnorm3d(p[0], p[1], p[2]));
    put(y + 4, norm(3, p)), put(y + 6, rnorm(3, p));
}
