/* Activations, in the formulas that PyTorch, its documentation and fused kernels use. */
#include "good_kernels.h"

#define SCALAR(name)                                                                                         \
    static float name(property_problem *p, int form, float x, float w, float b);                             \
    static float name(property_problem *p, int form, float x, float w, float b)
#define UNUSED (void)p, (void)form, (void)w, (void)b

static float keep_nan(float x, float y) {
    return isnan(x) ? x : y;
}

static float clamped(float x, float low, float high) {
    return keep_nan(x, fminf(fmaxf(x, low), high));
}

/* 1 / (1 + exp(-x)), exp(x) / (1 + exp(x)) for negative x, 1/2 + tanh(x / 2) / 2, 1 - sigmoid(-x) for
 * negative x */
SCALAR(sigmoid) {
    UNUSED;
    if (form % 4 == 1) return 0.5f + 0.5f * tanhf(0.5f * x);
    if (form % 4 == 3 && x < 0) return 1.0f - good_divide(p, 1.0f, 1.0f + good_exp(p, x));
    if (form % 4 == 2 && x < 0) {
        const float e = good_exp(p, x);
        return good_divide(p, e, 1.0f + e);
    }
    return good_divide(p, 1.0f, 1.0f + good_exp(p, -x));
}

SCALAR(relu) {
    UNUSED;
    return form % 2 ? keep_nan(x, x > 0 ? x : 0) : keep_nan(x, fmaxf(x, 0));
}

SCALAR(leaky_relu) {
    UNUSED;
    return form % 2 ? x > 0 ? x : 0.01f * x : keep_nan(x, fmaxf(x, 0) + 0.01f * fminf(x, 0));
}

static float exp_less_one(property_problem *p, int form, float x) {
    return form % 2 ? good_exp(p, x) - 1.0f : expm1f(x);
}

SCALAR(elu) {
    UNUSED;
    return x > 0 ? x : exp_less_one(p, form, x);
}

SCALAR(elu_half) {
    UNUSED;
    return x > 0 ? x : 0.5f * exp_less_one(p, form, x);
}

SCALAR(selu) {
    UNUSED;
    const float alpha = 1.67326324f, scale = 1.05070099f, below = exp_less_one(p, form, x);
    if (form / 2 == 0) return x > 0 ? scale * x : alpha * scale * below;
    if (form / 2 == 1) return x > 0 ? scale * x : 1.75809934f * below; /* both constants in one */
    return scale * (x > 0 ? x : alpha * below);
}

SCALAR(celu) {
    UNUSED;
    const float below = 2.0f * exp_less_one(p, form, form < 2 ? x / 2.0f : x * 0.5f);
    return form % 3 ? x > 0 ? x : below : keep_nan(x, fmaxf(x, 0) + fminf(0, below));
}

/* x cdf(x), the cdf by erf or erfc */
SCALAR(gelu) {
    UNUSED;
    if (form % 4 == 0) return x * (0.5f * (1.0f + erff(x * 0.70710678f)));
    if (form % 4 == 1) return 0.5f * x * (1.0f + erff(x / 1.41421356f));
    if (form % 4 == 2) return x * 0.5f * erfcf(-x * 0.70710678f);
    return fmaf(0.5f * x, erff(x * 0.70710678f), 0.5f * x);
}

SCALAR(gelu_tanh) {
    UNUSED;
    const float beta = 0.79788456f, inner = form % 2 ? beta * fmaf(0.044715f, x * x * x, x)
                                                     : beta * x * (1.0f + 0.044715f * x * x);
    if (form / 2 == 0) return 0.5f * x * (1.0f + tanhf(inner));
    if (form / 2 == 1) return x * sigmoid(p, 0, 2.0f * inner, 0, 0);
    return fmaf(0.5f * x, tanhf(inner), 0.5f * x);
}

SCALAR(silu) {
    UNUSED;
    return form % 2 ? x * sigmoid(p, form / 2, x, 0, 0) : good_divide(p, x, 1.0f + good_exp(p, -x));
}

SCALAR(softplus) {
    UNUSED;
    if (x > 20) return x;
    if (form % 3 == 0) return log1pf(good_exp(p, x));
    if (form % 3 == 1) return good_log(p, 1.0f + good_exp(p, x));
    return keep_nan(x, fmaxf(x, 0) + log1pf(good_exp(p, -fabsf(x))));
}

SCALAR(softplus_beta) {
    UNUSED;
    return 2.0f * x > 20 ? x
           : form % 2    ? log1pf(good_exp(p, 2.0f * x)) / 2.0f
                         : good_log(p, 1.0f + expf(2.0f * x)) * 0.5f;
}

/* x tanh(softplus(x)), or with n = e (e + 2), e = exp(x): x n / (n + 2) */
SCALAR(mish) {
    UNUSED;
    if (form % 2 == 0 || x > 20 || !isfinite(x)) return x * tanhf(softplus(p, form / 2, x, 0, 0));
    const float e = good_exp(p, x), n = e * (e + 2.0f);
    return x * good_divide(p, n, n + 2.0f);
}

SCALAR(softsign) {
    UNUSED;
    return good_divide(p, x, 1.0f + fabsf(x));
}

SCALAR(hardtanh) {
    UNUSED;
    return clamped(x, -1, 1);
}

/* relu6(x + 3) / 6, and x / 6 + 1/2 as PyTorch's documentation writes it */
SCALAR(hardsigmoid) {
    UNUSED;
    if (form % 3 == 0) return clamped(x + 3.0f, 0, 6) / 6.0f;
    if (form % 3 == 1) return clamped(x + 3.0f, 0, 6) * (1.0f / 6.0f);
    return clamped(fmaf(x, 1.0f / 6.0f, 0.5f), 0, 1);
}

SCALAR(hardswish) {
    UNUSED;
    if (form % 3 == 0) return x * clamped(x + 3.0f, 0, 6) / 6.0f;
    return x * hardsigmoid(p, form / 3, x, 0, 0);
}

SCALAR(logsigmoid) {
    UNUSED;
    if (form % 3 == 0) return keep_nan(x, fminf(x, 0) - log1pf(good_exp(p, -fabsf(x))));
    if (form % 3 == 1) return keep_nan(x, fminf(x, 0) - good_log(p, 1.0f + good_exp(p, -fabsf(x))));
    return -softplus(p, 2, -x, 0, 0);
}

SCALAR(tanhshrink) {
    UNUSED;
    return x - tanhf(x);
}

SCALAR(softshrink) {
    UNUSED;
    if (form % 2) return copysignf(fmaxf(fabsf(x) - 0.5f, 0), x) + keep_nan(x, 0);
    return x > 0.5f ? x - 0.5f : x < -0.5f ? x + 0.5f : keep_nan(x, 0);
}

SCALAR(hardshrink) {
    UNUSED;
    return x >= -0.5f && x <= 0.5f ? 0 : x;
}

#define ROW(expression, forms, scalar)                                                                       \
    {expression, expression, 1, PROPERTY_POINTWISE, forms, NULL, scalar, NULL, 0},
/* clang-format off */
static const property_operator rows[] = {
    ROW("sigmoid(x)", 4, sigmoid)
    ROW("relu(x)", 2, relu)
    ROW("leaky_relu(x)", 2, leaky_relu)
    ROW("elu(x)", 2, elu)
    ROW("elu(x, 0.5)", 2, elu_half)
    ROW("selu(x)", 6, selu)
    ROW("celu(x, 2)", 6, celu)
    ROW("gelu(x)", 4, gelu)
    ROW("gelu(x, approximate=\"tanh\")", 6, gelu_tanh)
    ROW("silu(x)", 8, silu)
    ROW("softplus(x)", 3, softplus)
    ROW("softplus(x, 2)", 2, softplus_beta)
    ROW("mish(x)", 6, mish)
    ROW("softsign(x)", 1, softsign)
    ROW("hardtanh(x)", 1, hardtanh)
    ROW("hardsigmoid(x)", 3, hardsigmoid)
    ROW("hardswish(x)", 9, hardswish)
    ROW("logsigmoid(x)", 3, logsigmoid)
    ROW("tanhshrink(x)", 1, tanhshrink)
    ROW("softshrink(x)", 2, softshrink)
    ROW("hardshrink(x)", 1, hardshrink)
};
/* clang-format on */
const property_family property_activation = {"activation", rows, sizeof rows / sizeof *rows};
