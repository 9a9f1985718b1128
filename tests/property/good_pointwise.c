/* Functions of one argument. Form 0 is a correctly rounded library, 1 one that is off by as many ulps as
 * CUDA's documentation publishes for it, and under `math: fast` 2 the hardware's approximation at its
 * published maximum (CUDA C++ Programming Guide, "Mathematical Functions", standard and intrinsic; the
 * largest figure over its editions). */
#include "good_kernels.h"

#define SCALAR(name)                                                                                         \
    static float name(property_problem *p, int form, float x, float w, float b);                             \
    static float name(property_problem *p, int form, float x, float w, float b)
#define UNUSED (void)p, (void)form, (void)w, (void)b

/* Limits at infinity are reached by every library. */
static float standard(property_problem *p, int form, float x, double exact, double ulps) {
    return form == 0 || !isfinite(x) ? (float)exact : property_edge(exact, ulps, 0, &p->random);
}

static bool hardware(const property_problem *p, int form) {
    return p->rules.fast_math && form == 2;
}

#define STANDARD(name, exact, ulps)                                                                          \
    SCALAR(name) {                                                                                           \
        UNUSED;                                                                                              \
        return standard(p, form, x, exact((double)x), ulps);                                                 \
    }
STANDARD(expm1_, expm1, 1)
STANDARD(log1p_, log1p, 1)
STANDARD(asin_, asin, 4)
STANDARD(acos_, acos, 3)
STANDARD(atan_, atan, 2)
STANDARD(sinh_, sinh, 3)
STANDARD(cosh_, cosh, 2)
STANDARD(erf_, erf, 2)
STANDARD(erfc_, erfc, 4)

#define PLAIN(name, result)                                                                                  \
    SCALAR(name) {                                                                                           \
        UNUSED;                                                                                              \
        return result;                                                                                       \
    }
PLAIN(isfinite_, isfinite(x) ? 1 : 0)
PLAIN(isnan_, isnan(x) ? 1 : 0)
PLAIN(isinf_, isinf(x) ? 1 : 0)
PLAIN(abs_, fabsf(x))
PLAIN(neg_, -x)
PLAIN(sign_, x > 0 ? 1 : x < 0 ? -1 : x)
PLAIN(floor_, floorf(x))
PLAIN(ceil_, ceilf(x))
PLAIN(round_, rintf(x))
PLAIN(trunc_, truncf(x))
PLAIN(reciprocal_, good_divide(p, 1, x))
PLAIN(neg_half, -0.5f * x)

SCALAR(sqrt_) {
    UNUSED;
    if (!hardware(p, form)) return sqrtf(x);
    return x > 0 ? property_edge(sqrt((double)x), 2, 0, &p->random) : sqrtf(x);
}

SCALAR(rsqrt_) {
    UNUSED;
    if (hardware(p, form)) return property_rsqrt(x, 2, &p->random);
    return x > 0 ? standard(p, form, x, 1 / sqrt((double)x), 2) : 1.0f / sqrtf(x);
}

SCALAR(exp_) {
    UNUSED;
    if (hardware(p, form)) return property_exp(x, 1 + (int)cupel_random_below(&p->random, 3), &p->random);
    return standard(p, form, x, exp((double)x), 2);
}

STANDARD(exp2_, exp2, 2)

/* lg2.approx and what is made of it: absolute near 1. */
static float near_one(property_problem *p, float x, double exact, double absolute, double ulps) {
    const bool near = x >= 0.5f && x <= 2;
    return property_edge(exact, near ? 0 : ulps, near ? absolute : 0, &p->random);
}

SCALAR(log_) {
    UNUSED;
    if (hardware(p, form)) return property_log(x, 1 + (int)cupel_random_below(&p->random, 2), &p->random);
    return standard(p, form, x, log((double)x), 1);
}

SCALAR(log2_) {
    UNUSED;
    const double exact = log2((double)x);
    return hardware(p, form) ? near_one(p, x, exact, 0x1p-22, 2) : standard(p, form, x, exact, 1);
}

SCALAR(log10_) {
    UNUSED;
    const double exact = log10((double)x);
    return hardware(p, form) ? near_one(p, x, exact, 0x1p-24, 3) : standard(p, form, x, exact, 3);
}

/* Beyond pi the hardware reduces its argument by a rounded multiplication. */
static double reduced(float x, double within_pi) {
    return fabsf(x) <= 3.14159f ? within_pi : fmax(within_pi, fabs((double)x) * 0x1p-23);
}

/* Off by so much, and within the function's range but for that. */
static float sinusoid(property_problem *p, double exact, double error) {
    const float y = property_edge(exact, 0, error, &p->random);
    return y > 1.000001f ? 1.000001f : y < -1.000001f ? -1.000001f : y;
}

SCALAR(sin_) {
    UNUSED;
    const double exact = sin((double)x);
    if (hardware(p, form)) return sinusoid(p, exact, reduced(x, 0x1.81p-22));
    return standard(p, form, x, exact, 2);
}

SCALAR(cos_) {
    UNUSED;
    const double exact = cos((double)x);
    if (hardware(p, form)) return sinusoid(p, exact, reduced(x, 0x1.c0p-22));
    return standard(p, form, x, exact, 2);
}

/* __tanf: __sinf times the reciprocal of __cosf. */
SCALAR(tan_) {
    UNUSED;
    if (hardware(p, form)) return sin_(p, 2, x, 0, 0) * (1.0f / cos_(p, 2, x, 0, 0));
    return standard(p, form, x, tan((double)x), 4);
}

SCALAR(tanh_) {
    UNUSED;
    if (hardware(p, form) && fabsf(x) < 40) {
        const int approximate = (int)cupel_random_below(&p->random, 3);
        return 1.0f - property_divide(2.0f, property_exp(2.0f * x, approximate, &p->random) + 1.0f,
                                      approximate, &p->random);
    }
    return standard(p, form, x, tanh((double)x), 2);
}

#define ROW(expression, scalar) {expression, expression, 1, PROPERTY_POINTWISE, 3, NULL, scalar, NULL, 0},
/* clang-format off */
static const property_operator rows[] = {
    ROW("isfinite(x)", isfinite_) ROW("isnan(x)", isnan_) ROW("isinf(x)", isinf_)
    ROW("abs(x)", abs_) ROW("neg(x)", neg_) ROW("sign(x)", sign_)
    ROW("floor(x)", floor_) ROW("ceil(x)", ceil_) ROW("round(x)", round_) ROW("trunc(x)", trunc_)
    ROW("-x * 0.5", neg_half)
    ROW("sqrt(x)", sqrt_) ROW("rsqrt(x)", rsqrt_) ROW("reciprocal(x)", reciprocal_)
    ROW("exp(x)", exp_) ROW("exp2(x)", exp2_) ROW("expm1(x)", expm1_)
    ROW("log(x)", log_) ROW("log2(x)", log2_) ROW("log10(x)", log10_) ROW("log1p(x)", log1p_)
    ROW("sin(x)", sin_) ROW("cos(x)", cos_) ROW("tan(x)", tan_)
    ROW("asin(x)", asin_) ROW("acos(x)", acos_) ROW("atan(x)", atan_)
    ROW("sinh(x)", sinh_) ROW("cosh(x)", cosh_) ROW("tanh(x)", tanh_)
    ROW("erf(x)", erf_) ROW("erfc(x)", erfc_)
};
/* clang-format on */
const property_family property_pointwise = {"pointwise", rows, sizeof rows / sizeof *rows};
