/* Convolutions, pools and einsum: direct or over written-out windows, padding skipped or multiplied. */
#include <stdio.h>

#include "window_kernels.h"

static void conv(property_problem *p) {
    window_draw_conv(p, false, false);
}
static void conv_bias(property_problem *p) {
    window_draw_conv(p, false, true);
}
static void conv_transpose(property_problem *p) {
    window_draw_conv(p, true, true);
}
static void conv_relu(property_problem *p) {
    window_draw_conv(p, false, true);
    p->expression = cupel_arena_printf(p->arena, "relu(%s)", p->expression);
}

static void conv_then_relu(property_problem *p, int form, double *results) {
    window_conv(p, form, results);
    for (int64_t i = 0; i < p->count; i++) results[i] = results[i] > 0 || isnan(results[i]) ? results[i] : 0;
}

/* The bias as a term of the postcondition, behind the convolution's views. */
static void conv_plus(property_problem *p) {
    window_draw_conv(p, false, true);
    char bare[300];
    snprintf(bare, sizeof bare, "%s", p->expression + 13); /* "conv2d(x, w, b" */
    p->expression = cupel_arena_printf(p->arena, "conv2d(x, w, %s + reshape(b, [-1, 1, 1])", bare + 2);
}

/* ---- pools over [m, n] as channels and length ---- */

static void pool_inputs(property_problem *p) {
    p->k = p->n < 4 ? p->n : 2 + (int64_t)cupel_random_below(&p->random, 3);
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
}

static void max_pool_inputs(property_problem *p) {
    pool_inputs(p);
    property_expect(p, 2, (const int64_t[]){p->m, (p->n + 2 * (p->k / 2) - p->k) / 2 + 1});
}

static void max_pool(property_problem *p, int form, double *results) {
    (void)form;
    const int64_t out = p->shape[1];
    for (int64_t i = 0; i < p->count; i++) {
        float most = -INFINITY;
        for (int64_t t = 0; t < p->k; t++) {
            const int64_t at = i % out * 2 - p->k / 2 + t;
            if (at < 0 || at >= p->n) continue;
            const float x = (float)p->inputs[0].values[i / out * p->n + at];
            if (isnan(x) || x > most) most = x;
            if (isnan(x)) break;
        }
        results[i] = most;
    }
}

static void avg_pool_inputs(property_problem *p) {
    pool_inputs(p);
    property_expect(p, 2, (const int64_t[]){p->m, p->n + 2 * (p->k / 2) - p->k + 1});
}

/* Divided by what lies inside: at the end, by a reciprocal, or term by term. */
static void avg_pool(property_problem *p, int form, double *results) {
    const int64_t out = p->shape[1];
    for (int64_t i = 0; i < p->count; i++) {
        float terms[8];
        int64_t count = 0;
        for (int64_t t = 0; t < p->k; t++) {
            const int64_t at = i % out - p->k / 2 + t;
            if (at >= 0 && at < p->n) terms[count++] = (float)p->inputs[0].values[i / out * p->n + at];
        }
        const float n = (float)count;
        for (int64_t t = 0; form % 3 == 2 && t < count; t++) terms[t] = terms[t] * (1 / n);
        const float sum = good_sum(p, terms, count, form / 3);
        results[i] = form % 3 == 0 ? good_divide(p, sum, n) : form % 3 == 1 ? sum * (1 / n) : sum;
    }
}

/* ---- einsum: y[k, i] = sum over j of x[i, j] w[k, j] ---- */

static void einsum_inputs(property_problem *p) {
    p->k = 1 + (int64_t)cupel_random_below(&p->random, 4);
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->k, p->n));
    property_expect(p, 2, (const int64_t[]){p->k, p->m});
}

static void einsum(property_problem *p, int form, double *results) {
    float terms[PROPERTY_LONGEST];
    for (int64_t i = 0; i < p->count; i++) {
        const double *x = p->inputs[0].values + i % p->m * p->n, *w = p->inputs[1].values + i / p->m * p->n;
        for (int64_t j = 0; j < p->n; j++) terms[j] = (float)x[j] * (float)w[j];
        results[i] = good_sum(p, terms, p->n, form);
    }
}

#define OWN(name, expression, forms, shadow, prepare)                                                        \
    { name, expression, 0, PROPERTY_OWN, forms, shadow, NULL, prepare, 0 }
static const property_operator rows[] = {
    OWN("conv2d", "conv2d(x, w)", WINDOW_CONV_FORMS, window_conv, conv),
    OWN("conv2d bias", "conv2d(x, w, b)", WINDOW_CONV_FORMS, window_conv, conv_bias),
    OWN("conv2d + bias", "conv2d(x, w) + b", WINDOW_CONV_FORMS, window_conv, conv_plus),
    OWN("conv2d relu", "relu(conv2d(x, w, b))", WINDOW_CONV_FORMS, conv_then_relu, conv_relu),
    OWN("conv_transpose2d", "conv_transpose2d(x, w, b)", WINDOW_CONV_FORMS, window_conv, conv_transpose),
    OWN("max_pool1d", "max_pool1d(x, K, 2, K / 2)", 1, max_pool, max_pool_inputs),
    OWN("avg_pool1d", "avg_pool1d(x, K, 1, K / 2, count_include_pad=false)", 30, avg_pool, avg_pool_inputs),
    OWN("einsum", "einsum(\"ij,kj->ki\", x, w)", 10, einsum, einsum_inputs),
};
const property_family property_window = {"window", rows, sizeof rows / sizeof *rows};
