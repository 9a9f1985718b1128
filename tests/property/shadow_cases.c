#include "shadow_cases.h"
#include "good_radius.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define POINTWISE(text, count) {text, text, count, SHADOW_POINTWISE},
#define NUMBERS(text, count) {text, text, count, SHADOW_NUMBERS},
#define ROWS(text, count) {text, text, count, SHADOW_ROWS},
#define SCALAR(text, count) {text, text, count, SHADOW_SCALAR},

const shadow_case shadow_cases[] = {
    /* clang-format off */
    POINTWISE("isfinite(x)", 1) POINTWISE("abs(x)", 1) POINTWISE("neg(x)", 1) POINTWISE("sign(x)", 1)
    POINTWISE("floor(x)", 1) POINTWISE("ceil(x)", 1) POINTWISE("round(x)", 1) POINTWISE("trunc(x)", 1)
    POINTWISE("sqrt(x)", 1) POINTWISE("rsqrt(x)", 1) POINTWISE("reciprocal(x)", 1) POINTWISE("exp(x)", 1)
    POINTWISE("exp2(x)", 1) POINTWISE("expm1(x)", 1) POINTWISE("log(x)", 1) POINTWISE("log2(x)", 1)
    POINTWISE("log10(x)", 1) POINTWISE("log1p(x)", 1) POINTWISE("sin(x)", 1) POINTWISE("cos(x)", 1)
    POINTWISE("tan(x)", 1) POINTWISE("asin(x)", 1) POINTWISE("acos(x)", 1) POINTWISE("atan(x)", 1)
    POINTWISE("atan2(x, w)", 2) POINTWISE("sinh(x)", 1) POINTWISE("cosh(x)", 1) POINTWISE("tanh(x)", 1)
    POINTWISE("erf(x)", 1) POINTWISE("erfc(x)", 1) POINTWISE("sigmoid(x)", 1) POINTWISE("relu(x)", 1)
    POINTWISE("leaky_relu(x)", 1) POINTWISE("elu(x)", 1) POINTWISE("selu(x)", 1) POINTWISE("celu(x)", 1)
    POINTWISE("gelu(x)", 1) POINTWISE("gelu(x, approximate=\"tanh\")", 1) POINTWISE("silu(x)", 1)
    POINTWISE("mish(x)", 1) POINTWISE("softplus(x)", 1) POINTWISE("softsign(x)", 1)
    POINTWISE("hardtanh(x)", 1) POINTWISE("hardsigmoid(x)", 1) POINTWISE("hardswish(x)", 1)
    POINTWISE("logsigmoid(x)", 1) POINTWISE("tanhshrink(x)", 1) POINTWISE("softshrink(x)", 1)
    POINTWISE("hardshrink(x)", 1) POINTWISE("pow(x, w)", 2) POINTWISE("pow(x, 3)", 1)
    POINTWISE("fmod(x, w)", 2) POINTWISE("x % w", 2) POINTWISE("clamp(x, -1, 1)", 1)
    POINTWISE("minimum(x, w)", 2) POINTWISE("maximum(x, w)", 2) POINTWISE("fmin(x, w)", 2)
    POINTWISE("fmax(x, w)", 2) POINTWISE("where(x > w, x, b)", 3) POINTWISE("isnan(x)", 1)
    POINTWISE("isinf(x)", 1) POINTWISE("cast(x * w, f16)", 2) POINTWISE("x * w + b", 3)
    POINTWISE("x - w * b", 3) POINTWISE("x * w * b", 3) POINTWISE("x / w", 2) POINTWISE("x * w / b", 3)
    POINTWISE("x * 0.1 + 1e-5", 1)
    NUMBERS("sum(x, axis=-1)", 1) NUMBERS("mean(x, axis=-1)", 1) NUMBERS("prod(x, axis=-1)", 1)
    NUMBERS("amax(x, axis=-1)", 1) NUMBERS("amin(x, axis=-1)", 1) NUMBERS("argmax(x, axis=-1)", 1)
    NUMBERS("argmin(x, axis=-1)", 1) NUMBERS("all(x, axis=-1)", 1) NUMBERS("any(x, axis=-1)", 1)
    NUMBERS("var(x, axis=-1)", 1) NUMBERS("var(x, axis=-1, correction=0)", 1) NUMBERS("std(x, axis=-1)", 1)
    NUMBERS("norm(x, axis=-1)", 1) NUMBERS("norm(x, 1, axis=-1)", 1) NUMBERS("logsumexp(x, axis=-1)", 1)
    NUMBERS("sum(x * w, axis=-1)", 2) NUMBERS("sum(x, axis=-1) * 0.3", 1) SCALAR("sum(x)", 1)
    SCALAR("mean(x)", 1) SCALAR("var(x)", 1)
    ROWS("flip(x, [1])", 1) ROWS("roll(x, 2, 1)", 1) ROWS("tril(x)", 1) ROWS("triu(x)", 1)
    ROWS("pad(x, [1, -1], value=0.5)", 1) ROWS("concat([x[:, 1:], x[:, :1]], axis=1)", 1)
    {"matmul", "matmul(x, w)", 2, SHADOW_MATRIX}, {"matmul + b", "matmul(x, w) + b", 3, SHADOW_MATRIX},
    {"gelu(matmul + b)", "gelu(matmul(x, w) + b)", 3, SHADOW_MATRIX},
    {"layer_norm of matmul", "layer_norm(matmul(x, w))", 2, SHADOW_MATRIX},
    ROWS("outer(x[:, 0], w)", 2)
    ROWS("cumsum(x, axis=-1)", 1) ROWS("cumprod(x, axis=-1)", 1) ROWS("cummax(x, axis=-1)", 1)
    ROWS("cummin(x, axis=-1)", 1) ROWS("cumsum(x, axis=0)", 1)
    ROWS("softmax(x, axis=-1)", 1) ROWS("softmax(x, axis=0)", 1) ROWS("log_softmax(x, axis=-1)", 1)
    ROWS("layer_norm(x)", 1) ROWS("layer_norm(x, w, b)", 3) ROWS("rms_norm(x, w)", 2)
    ROWS("l2_normalize(x)", 1)
    {"attention", "matmul(softmax(matmul(x, transpose(w)) * 0.3, axis=-1), b)", 3, SHADOW_ATTENTION},
    {"attention, fused", "attention(x, w, b)", 3, SHADOW_ATTENTION},
    {"attention, causal", "attention(x, w, b, causal=true)", 3, SHADOW_ATTENTION},
    {"attention, masked", "attention(x, w, b, mask=matmul(x, transpose(w)) > 0, empty_rows=\"zero\")", 3, SHADOW_ATTENTION},
    {"attention, biased", "attention(x, w, b, scale=0.7, mask=matmul(w, transpose(b)))", 3, SHADOW_ATTENTION},
    ROWS("batch_norm(x, weight=w, bias=b, training=true)", 3) ROWS("batch_norm(x, w, abs(b), b, w)", 3)
    ROWS("group_norm(x, 1, w, b)", 3) ROWS("squeeze(instance_norm(unsqueeze(x, 1)), 1)", 1)
    POINTWISE("sort(x)", 1) POINTWISE("sort(x * w, descending=true)", 2) POINTWISE("argsort(x)", 1)
    POINTWISE("argsort(x, stable=true)", 1) POINTWISE("argsort(x * w, descending=true, stable=true)", 2)
    POINTWISE("scatter_add(x, 1, argsort(w, stable=true), b)", 3)
    POINTWISE("scatter_add(x, 1, argsort(w, stable=true) % 2, x * b) * w", 3)
    NUMBERS("sum(rope(concat([x, x], 1), w, b), axis=-1)", 3)
    POINTWISE("where(dropout_mask(11, 0.4), x / 0.6, 0)", 1) POINTWISE("quantize(x, w, i8)", 2)
    POINTWISE("quantize(x, w, f16)", 2) POINTWISE("dequantize(quantize(x, 0.37, u8, 3), w, 3)", 2)
    POINTWISE("bce_with_logits(x, w, \"none\")", 2) SCALAR("bce_with_logits(x, w)", 2)
    SCALAR("hinge_loss(x, w)", 2)
    SCALAR("mse_loss(x, w)", 2) SCALAR("l1_loss(x, w)", 2) SCALAR("smooth_l1_loss(x, w)", 2)
    SCALAR("huber_loss(x, w)", 2) SCALAR("cross_entropy(x, argmax(w, axis=-1))", 2)
    SCALAR("nll_loss(x, argmax(w, axis=-1))", 2) SCALAR("kl_div(x, w)", 2) SCALAR("bce(sigmoid(x), sigmoid(w))", 2)
    NUMBERS("cosine_similarity(x, w, axis=-1)", 2) SCALAR("triplet_margin_loss(x, w, b)", 3)
    /* clang-format on */
};
const int shadow_case_count = sizeof shadow_cases / sizeof *shadow_cases;

void shadow_case_answer(property_problem *p, const shadow_case *c, int pattern) {
    const bool rows = c->shape == SHADOW_ROWS;
    p->expression = c->expression;
    property_input *x = property_add(p, "x", 2, p->m, p->n);
    property_fill(p, x, pattern);
    if (c->inputs > 1) {
        property_input *w = c->shape == SHADOW_MATRIX ? property_add(p, "w", 2, p->n, p->k)
                            : rows                    ? property_add(p, "w", 1, p->n, 0)
                                                      : property_add(p, "w", 2, p->m, p->n);
        property_fill(p, w, cupel_random_below(&p->random, 2) ? pattern : 0);
    }
    if (c->inputs > 2) {
        property_input *b = c->shape == SHADOW_MATRIX ? property_add(p, "b", 1, p->k, 0)
                            : rows                    ? property_add(p, "b", 1, p->n, 0)
                                                      : property_add(p, "b", 2, p->m, p->n);
        property_fill(p, b, cupel_random_below(&p->random, 2) ? pattern : 0);
    }
    p->rank = c->shape == SHADOW_SCALAR ? 0 : c->shape == SHADOW_NUMBERS ? 1 : 2;
    p->shape[0] = p->rank ? p->m : 0;
    p->shape[1] = p->rank < 2 ? 0 : c->shape == SHADOW_MATRIX ? p->k : p->n;
    p->count = p->rank == 0 ? 1 : p->rank == 1 ? p->m : p->m * p->shape[1];
    property_answer(p);
}

cupel_shadow_output shadow_case_run(const property_problem *p, const cupel_shadow_plan *plan) {
    cupel_shadow_output out;
    cupel_error err = {0};
    if (cupel_shadow_run(p->graph, &p->bindings, &p->rules, plan, p->arena, &out, &err) != CUPEL_OK)
        fail_msg("%s: %s", p->expression, err.text);
    return out;
}

int shadow_case_judge(const property_problem *p, const cupel_shadow_output *run, double *worst,
                      int64_t *first) {
    const size_t size = cupel_format_of(run->type)->size;
    int outside = 0;
    for (int64_t i = 0; i < run->count; i++) {
        const cupel_judgement verdict = cupel_judge_element(&p->allowed, i, run->bytes + (size_t)i * size);
        if (verdict == CUPEL_NOT_JUDGED) continue;
        if (verdict != CUPEL_ALLOWED) {
            if (outside++ == 0) *first = i;
            continue;
        }
        const double error = fabs(run->values[i] - p->allowed.value[i]), radius = p->allowed.radius[i];
        /* under flush the hull reaches zero, however small the radius */
        if (p->rules.subnormals == CUPEL_SUBNORMALS_FLUSH) continue;
        if (isfinite(error) && isfinite(radius) && radius > 0) *worst = fmax(*worst, error / radius);
    }
    return outside;
}

const cupel_shadow_plan shadow_beyond[SHADOW_BEYOND] = {
    {.name = "8 lanes", .order = CUPEL_SHADOW_LANES, .lanes = 8, .fused = true, .welford = true},
    {.name = "64 lanes", .order = CUPEL_SHADOW_LANES, .lanes = 64, .hardware = true, .folded = true},
    {.name = "128 lanes", .order = CUPEL_SHADOW_LANES, .lanes = 128, .reciprocal = true, .flush = true},
    {.name = "tree", .order = CUPEL_SHADOW_TREE, .seed = 5, .fused = true, .hardware = true, .loose = true},
    {.name = "kahan", .order = CUPEL_SHADOW_KAHAN, .reciprocal = true, .hardware = true, .flush = true},
    {.name = "welford", .welford = true, .online = true, .reciprocal = true},
};

bool shadow_case_evidence(const property_problem *p, double **radius) {
    cupel_error err;
    *radius = NULL;
    if (!cupel_good_radius_tame(p->graph, &p->bindings)) return false;
    if (cupel_good_radius_find(p->graph, &p->bindings, &p->rules, &p->allowed, p->arena, radius, &err) !=
        CUPEL_OK)
        fail_msg("%s: %s", p->expression, err.text);
    return *radius != NULL;
}

double shadow_case_evidence_ratio(const property_problem *p, const double *radius, const double *results,
                                  int64_t *worst) {
    double ratio = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const double own = fabs(results[i] - p->allowed.value[i]) / radius[i];
        if (isfinite(radius[i]) && own > ratio) ratio = own, *worst = i;
    }
    return ratio;
}
