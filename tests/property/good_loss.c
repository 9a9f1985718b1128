/* Losses: the element's formula, then its mean, sum, or none of them. */
#include <string.h>

#include "good_kernels.h"

enum { LONGEST = PROPERTY_LONGEST };

typedef float element_loss(property_problem *p, int form, float x, float t);

/* Means: the sum over n, times 1/n, or every term divided first. */
static float averaged(property_problem *p, const float *terms, int64_t n, float divisor, int form) {
    float scaled[LONGEST * 3];
    if (form % 3 == 2) {
        for (int64_t i = 0; i < n; i++) scaled[i] = terms[i] / divisor;
        return good_sum(p, scaled, n, form / 3);
    }
    const float s = good_sum(p, terms, n, form / 3);
    return form % 3 ? s * (1.0f / divisor) : good_divide(p, s, divisor);
}

static void elementwise(property_problem *p, int form, double *results, element_loss *of) {
    float terms[LONGEST * 3];
    const int64_t n = p->inputs[0].count;
    for (int64_t i = 0; i < n; i++)
        terms[i] = of(p, form, (float)p->inputs[0].values[i], (float)p->inputs[1].values[i]);
    if (strstr(p->expression, "none")) {
        for (int64_t i = 0; i < n; i++) results[i] = terms[i];
    } else {
        results[0] = strstr(p->expression, "sum") ? good_sum(p, terms, n, form)
                                                  : averaged(p, terms, n, (float)n, form);
    }
}

#define LOSS(name)                                                                                           \
    static float name##_of(property_problem *p, int form, float x, float t);                                 \
    static void name(property_problem *p, int form, double *results) {                                       \
        elementwise(p, form, results, name##_of);                                                            \
    }                                                                                                        \
    static float name##_of(property_problem *p, int form, float x, float t)

LOSS(mse) {
    (void)p, (void)form;
    return (x - t) * (x - t);
}

LOSS(l1) {
    (void)p, (void)form;
    return fabsf(x - t);
}

LOSS(smooth_l1) {
    (void)p;
    const float d = fabsf(x - t);
    return d < 0.5f ? form % 2 ? 0.5f * d * d / 0.5f : d * d : d - 0.25f;
}

/* log(1 + exp(x)) - x t in the forms of textbooks and of PyTorch's versions. */
LOSS(logits) {
    const float e = good_exp(p, -fabsf(x)), most = fmaxf(-x, 0);
    const float soft = form / 4 % 2 ? good_log(p, 1.0f + e) : log1pf(e);
    if (isnan(x) || isnan(t)) return NAN;
    switch (form % 4) {
    case 0: return fmaxf(x, 0) - x * t + soft;
    case 1: return (1.0f - t) * x + soft + most;
    case 2: return (1.0f - t) * x - (fminf(x, 0) - soft);
    default: return fmaf(-x, t, fmaxf(x, 0)) + soft;
    }
}

LOSS(hinge) {
    (void)p;
    const float margin = form % 2 ? fmaf(-x, t, 1.0f) : 1.0f - x * t;
    return isnan(margin) ? margin : fmaxf(margin, 0);
}

LOSS(huber) {
    (void)p;
    const float d = fabsf(x - t);
    return d <= 0.5f ? 0.5f * d * d : form % 2 ? 0.5f * (d - 0.25f) : 0.5f * d - 0.125f;
}

static float keep_nan(float x, float y) {
    return isnan(x) ? x : y;
}

LOSS(bce) {
    const float present = good_log(p, x), absent = form % 2 ? log1pf(-x) : good_log(p, 1.0f - x);
    const float a = keep_nan(present, fmaxf(present, -100)), c = keep_nan(absent, fmaxf(absent, -100));
    return form % 4 < 2 ? -(t * a + (1.0f - t) * c) : (t - 1.0f) * c - t * a;
}

LOSS(kl_div) {
    (void)form;
    return t == 0 ? form % 2 ? 0 : -(t * x) : t * good_log(p, t) - t * x;
}

LOSS(kl_div_log) {
    (void)form;
    return good_exp(p, t) * (t - x);
}

/* ---- classes ---- */

static void losses_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "t", 2, p->m, p->n));
    const bool none = strstr(p->expression, "none") != NULL;
    property_expect(p, none ? 2 : 0, (const int64_t[]){p->m, p->n});
}

/* Probabilities and targets within [0, 1]. */
static void probability_inputs(property_problem *p) {
    losses_inputs(p);
    for (int i = 0; i < 2; i++) {
        property_input *in = &p->inputs[i];
        for (int64_t e = 0; e < in->count; e++)
            if (cupel_random_below(&p->random, 8))
                in->values[e] = cupel_round(in->type, cupel_random_unit(&p->random));
    }
}

/* Classes in range, now and then the ignored one. */
static void class_inputs(property_problem *p) {
    const cupel_dtype type = p->type;
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    p->type = CUPEL_I32;
    property_input *t = property_add(p, "t", 1, p->m, 0);
    property_fill_integers(p, t, 0, p->n - 1);
    if (p->m > 1 && cupel_random_below(&p->random, 3) == 0) t->values[0] = -100;
    p->type = type;
    property_expect(p, strstr(p->expression, "none") ? 1 : 0, (const int64_t[]){p->m});
}

static void over_classes(property_problem *p, int form, double *results, bool logits) {
    float losses[3] = {0}, x[LONGEST], e[LONGEST], sum, top;
    int64_t counted = 0;
    for (int64_t row = 0; row < p->m; row++) {
        const int64_t target = (int64_t)p->inputs[1].values[row];
        if (target == -100) continue;
        counted++;
        good_row(p, 0, row, x);
        losses[row] = -x[target];
        if (!logits) continue;
        good_softmax_row(p, x, p->n, form, e, &sum, &top);
        const float logarithm = good_log(p, sum);
        losses[row] = form % 2 ? -((x[target] - top) - logarithm) : logarithm - (x[target] - top);
    }
    if (strstr(p->expression, "none")) {
        for (int64_t row = 0; row < p->m; row++) results[row] = losses[row];
    } else {
        results[0] = strstr(p->expression, "sum") ? good_sum(p, losses, p->m, form)
                                                  : averaged(p, losses, p->m, (float)counted, form);
    }
}

static void nll(property_problem *p, int form, double *results) {
    over_classes(p, form, results, false);
}

static void cross_entropy(property_problem *p, int form, double *results) {
    over_classes(p, form, results, true);
}

static void soft_targets(property_problem *p, int form, double *results) {
    float losses[3], x[LONGEST], e[LONGEST], sum, top;
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        good_softmax_row(p, x, p->n, form, e, &sum, &top);
        const float logarithm = good_log(p, sum);
        for (int64_t i = 0; i < p->n; i++) e[i] = ((x[i] - top) - logarithm) * good_at(p, 1, row, i);
        losses[row] = -good_sum(p, e, p->n, form);
    }
    results[0] = averaged(p, losses, p->m, (float)p->m, form);
}

/* ---- distances ---- */

static float dot(property_problem *p, const float *x, const float *y, int form) {
    float d[LONGEST], s = 0;
    for (int64_t i = 0; i < p->n; i++) d[i] = x[i] * y[i], s = fmaf(x[i], y[i], s);
    return form % 2 ? s : good_sum(p, d, p->n, form / 2);
}

static float at_least(float x, float low) {
    return x < low ? low : x;
}

static void cosine(property_problem *p, int form, double *results) {
    float x[LONGEST], y[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x), good_row(p, 1, row, y);
        const float a = at_least(good_sqrt(p, dot(p, x, x, form)), 1e-8f);
        const float b = at_least(good_sqrt(p, dot(p, y, y, form)), 1e-8f), s = dot(p, x, y, form);
        results[row] = form % 3 == 0   ? good_divide(p, s, a * b)
                       : form % 3 == 1 ? good_divide(p, good_divide(p, s, a), b)
                                       : s * (1.0f / a) * (1.0f / b);
    }
}

static void cosine_inputs(property_problem *p) {
    losses_inputs(p);
    property_expect(p, 1, (const int64_t[]){p->m});
}

static void triplet_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "t", 2, p->m, p->n));
    property_fill_any(p, property_add(p, "u", 2, p->m, p->n));
    property_expect(p, 0, NULL);
}

static float distance(property_problem *p, int64_t row, int other, int form) {
    float d[LONGEST];
    for (int64_t i = 0; i < p->n; i++) d[i] = (good_at(p, 0, row, i) - good_at(p, other, row, i)) + 1e-6f;
    return good_sqrt(p, dot(p, d, d, form));
}

static void triplet(property_problem *p, int form, double *results) {
    float losses[3];
    for (int64_t row = 0; row < p->m; row++) {
        const float near = distance(p, row, 1, form), far = distance(p, row, 2, form);
        const float loss = form % 2 ? (near + 1.0f) - far : (1.0f + near) - far;
        losses[row] = keep_nan(loss, fmaxf(loss, 0));
    }
    results[0] = averaged(p, losses, p->m, (float)p->m, form);
}

#define ROW(expression, forms, shadow, inputs)                                                               \
    {expression, expression, 0, PROPERTY_OWN, forms, shadow, NULL, inputs, 0},
/* clang-format off */
static const property_operator rows[] = {
    ROW("mse_loss(x, t)", 30, mse, losses_inputs)
    ROW("mse_loss(x, t, reduction=\"sum\")", 10, mse, losses_inputs)
    ROW("mse_loss(x, t, reduction=\"none\")", 1, mse, losses_inputs)
    ROW("l1_loss(x, t)", 30, l1, losses_inputs)
    ROW("smooth_l1_loss(x, t, beta=0.5)", 30, smooth_l1, losses_inputs)
    ROW("smooth_l1_loss(x, t, reduction=\"none\", beta=0.5)", 2, smooth_l1, losses_inputs)
    ROW("huber_loss(x, t, delta=0.5)", 30, huber, losses_inputs)
    ROW("huber_loss(x, t, reduction=\"none\", delta=0.5)", 2, huber, losses_inputs)
    ROW("bce_with_logits(x, t)", 240, logits, losses_inputs)
    ROW("bce_with_logits(x, t, reduction=\"none\")", 8, logits, probability_inputs)
    ROW("bce_with_logits(x, t, reduction=\"sum\")", 80, logits, probability_inputs)
    ROW("hinge_loss(x, t)", 30, hinge, losses_inputs)
    ROW("hinge_loss(x, t, reduction=\"none\")", 2, hinge, losses_inputs)
    ROW("bce(x, t)", 60, bce, probability_inputs)
    ROW("bce(x, t, reduction=\"none\")", 4, bce, probability_inputs)
    ROW("kl_div(x, t)", 30, kl_div, losses_inputs)
    ROW("kl_div(x, t, reduction=\"none\")", 2, kl_div, probability_inputs)
    ROW("kl_div(x, t, reduction=\"sum\", log_target=true)", 10, kl_div_log, losses_inputs)
    ROW("nll_loss(x, t)", 30, nll, class_inputs)
    ROW("nll_loss(x, t, reduction=\"none\")", 1, nll, class_inputs)
    ROW("cross_entropy(x, t)", 60, cross_entropy, class_inputs)
    ROW("cross_entropy(x, t, reduction=\"none\")", 40, cross_entropy, class_inputs)
    {"cross_entropy soft", "cross_entropy(x, t)", 0, PROPERTY_OWN, 60, soft_targets, NULL, losses_inputs, 0},
    ROW("cosine_similarity(x, t, axis=-1)", 60, cosine, cosine_inputs)
    ROW("triplet_margin_loss(x, t, u)", 60, triplet, triplet_inputs)
};
/* clang-format on */
const property_family property_loss = {"loss", rows, sizeof rows / sizeof *rows};
