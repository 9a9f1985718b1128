/* Functions of one argument and activations, each with a fault that kernels are known for. */
#include <string.h>

#include "bad_kernels.h"

#define FAULT(name, result)                                                                                  \
    static float name(property_problem *p, int form, float x, float w, float b) {                            \
        (void)p, (void)form, (void)x, (void)w, (void)b;                                                      \
        return result;                                                                                       \
    }

static float clamped(float x, float low, float high) {
    return fminf(fmaxf(x, low), high);
}

static float inverse_root(float x) { /* a guess from the exponent, and one step of Newton's */
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = 0x5f3759dfu - (bits >> 1);
    float y;
    memcpy(&y, &bits, sizeof y);
    return y * (1.5f - 0.5f * x * y * y);
}

FAULT(only_infinity, !isinf(x))
FAULT(never, 0)
FAULT(only_positive_infinity, x == INFINITY)
FAULT(itself, x)
FAULT(zero_less, 0.0f - x)
FAULT(sign_of_zero, x >= 0 ? 1 : -1)
FAULT(truncated, truncf(x))
FAULT(floor_and_one, floorf(x) + 1.0f)
FAULT(half_away, roundf(x))
FAULT(floored, floorf(x))
FAULT(half_sqrt, bad_half(sqrt((double)x)))
FAULT(quake, x > 0 ? inverse_root(x) : 1.0f / sqrtf(x))
FAULT(half_reciprocal, bad_half(1 / (double)x))
FAULT(power_256, powf(1.0f + x / 256.0f, 256.0f))
FAULT(half_exp2, bad_half(exp2((double)x)))
FAULT(exp_less_one, expf(x) - 1.0f)
FAULT(half_log, logf(bad_half(x)))
FAULT(short_constant, logf(x) * 1.4427f)
FAULT(short_constant10, logf(x) * 0.4343f)
FAULT(log_of_one_more, logf(1.0f + x))
FAULT(parabola, x - x * x * x / 6.0f + x * x * x * x * x / 120.0f)
FAULT(cosine_series, 1.0f - x * x / 2.0f + x * x * x * x / 24.0f)
FAULT(half_tan, bad_half(sin((double)x)) / bad_half(cos((double)x)))
FAULT(asin_by_atan, atanf(x / sqrtf(1.0f - x * x)))
FAULT(acos_by_asin, 1.57079633f - asinf(x))
FAULT(rational_atan, x / (1.0f + 0.28f * x * x))
FAULT(difference_of_exps, (expf(x) - expf(-x)) * 0.5f)
FAULT(one_exp, expf(fabsf(x)) * 0.5f)
FAULT(approximate_tanh, (float)(tanh((double)x) * (1 + 0x1p-11)))
FAULT(erf_by_tanh, tanhf(1.12837917f * x * (1.0f + 0.0889f * x * x)))
FAULT(one_less_erf, 1.0f - erff(x))

FAULT(overflowing_sigmoid, expf(x) / (1.0f + expf(x)))
FAULT(swallowed_relu, fmaxf(x, 0))
FAULT(other_slope, x > 0 ? x : 0.1f * x)
FAULT(half_elu, x > 0 ? x : bad_half(expm1((double)x)))
FAULT(short_selu, x > 0 ? 1.05f * x : 1.05f * 1.67f * expm1f(x))
FAULT(undivided_celu, x > 0 ? x : 2.0f * expm1f(x))
FAULT(tanh_gelu, 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x))))
FAULT(sigmoid_gelu, x / (1.0f + expf(-1.702f * x)))
FAULT(hard_silu, x *clamped(x / 6.0f + 0.5f, 0, 1))
FAULT(mish_of_exp, x *tanhf(expf(x)))
FAULT(overflowing_softplus, logf(1.0f + expf(x)))
FAULT(signed_softsign, x / (1.0f + x))
FAULT(swallowed_hardtanh, clamped(x, -1, 1))
FAULT(fifth_hardsigmoid, isnan(x) ? x : clamped(0.2f * x + 0.5f, 0, 1))
FAULT(fifth_hardswish, x *clamped(0.2f * x + 0.5f, 0, 1))
FAULT(log_of_sigmoid, logf(1.0f / (1.0f + expf(-x))))
FAULT(half_tanhshrink, x - bad_half(tanh((double)x)))
FAULT(hard_softshrink, fabsf(x) > 0.5f ? x : 0)
FAULT(soft_hardshrink, x > 0.5f ? x - 0.5f : x < -0.5f ? x + 0.5f : 0)

/* Up to 1 in magnitude, and close to it. */
static void unit_inputs(property_problem *p) {
    property_input *x = property_add(p, "x", 2, p->m, p->n);
    for (int64_t i = 0; i < x->count; i++)
        x->values[i] = cupel_round(
            p->type, 1 - ldexp(cupel_random_unit(&p->random), -(int)cupel_random_below(&p->random, 20)));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

#define UNIT(fault, expression, scalar) {fault, expression, 1, PROPERTY_OWN, 1, NULL, scalar, unit_inputs, 0},
#define ROW(fault, expression, scalar) {fault, expression, 1, PROPERTY_POINTWISE, 1, NULL, scalar, NULL, 0},
/* clang-format off */
static const property_operator rows[] = {
    ROW("NaN is finite", "isfinite(x)", only_infinity)
    ROW("x != x folded away", "isnan(x)", never)
    ROW("only +inf", "isinf(x)", only_positive_infinity)
    ROW("x itself", "abs(x)", itself)
    ROW("0 - x", "neg(x)", zero_less)
    ROW("1 for a zero", "sign(x)", sign_of_zero)
    ROW("towards zero", "floor(x)", truncated)
    ROW("floor + 1", "ceil(x)", floor_and_one)
    ROW("halves away from zero", "round(x)", half_away)
    ROW("floor", "trunc(x)", floored)
    ROW("in half precision", "sqrt(x)", half_sqrt)
    ROW("one Newton step", "rsqrt(x)", quake)
    ROW("in half precision", "reciprocal(x)", half_reciprocal)
    ROW("(1 + x/256) ** 256", "exp(x)", power_256)
    ROW("in half precision", "exp2(x)", half_exp2)
    ROW("exp(x) - 1", "expm1(x)", exp_less_one)
    ROW("of a half", "log(x)", half_log)
    ROW("a short constant", "log2(x)", short_constant)
    ROW("a short constant", "log10(x)", short_constant10)
    ROW("log(1 + x)", "log1p(x)", log_of_one_more)
    ROW("a short series", "sin(x)", parabola)
    ROW("a short series", "cos(x)", cosine_series)
    ROW("in half precision", "tan(x)", half_tan)
    UNIT("by atan of a quotient", "asin(x)", asin_by_atan)
    UNIT("pi/2 - asin(x)", "acos(x)", acos_by_asin)
    ROW("a rational function", "atan(x)", rational_atan)
    ROW("(exp(x) - exp(-x)) / 2", "sinh(x)", difference_of_exps)
    ROW("exp(abs(x)) / 2", "cosh(x)", one_exp)
    ROW("tanh.approx", "tanh(x)", approximate_tanh)
    ROW("by tanh", "erf(x)", erf_by_tanh)
    ROW("1 - erf(x)", "erfc(x)", one_less_erf)
    ROW("exp(x) / (1 + exp(x))", "sigmoid(x)", overflowing_sigmoid)
    ROW("NaN swallowed", "relu(x)", swallowed_relu)
    ROW("another slope", "leaky_relu(x)", other_slope)
    ROW("in half precision", "elu(x)", half_elu)
    ROW("short constants", "selu(x)", short_selu)
    ROW("alpha outside only", "celu(x, 2)", undivided_celu)
    ROW("the tanh form", "gelu(x)", tanh_gelu)
    ROW("the sigmoid form", "gelu(x, approximate=\"tanh\")", sigmoid_gelu)
    ROW("a hard sigmoid", "silu(x)", hard_silu)
    ROW("tanh(exp(x))", "mish(x)", mish_of_exp)
    ROW("no threshold", "softplus(x)", overflowing_softplus)
    ROW("1 + x", "softsign(x)", signed_softsign)
    ROW("NaN swallowed", "hardtanh(x)", swallowed_hardtanh)
    ROW("a slope of 1/5", "hardsigmoid(x)", fifth_hardsigmoid)
    ROW("a slope of 1/5", "hardswish(x)", fifth_hardswish)
    ROW("log(sigmoid(x))", "logsigmoid(x)", log_of_sigmoid)
    ROW("in half precision", "tanhshrink(x)", half_tanhshrink)
    ROW("hard", "softshrink(x)", hard_softshrink)
    ROW("soft", "hardshrink(x)", soft_hardshrink)
};
/* clang-format on */
const property_family bad_pointwise = {"pointwise", rows, sizeof rows / sizeof *rows};
