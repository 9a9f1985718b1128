/* Softmax and its relatives. */
#include "good_kernels.h"

enum { LONGEST = PROPERTY_LONGEST };

static void softmax(property_problem *p, int form, double *results) {
    float x[LONGEST], e[LONGEST], sum, top;
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        good_softmax_row(p, x, p->n, form, e, &sum, &top);
        const float inverse = 1.0f / sum;
        for (int64_t i = 0; i < p->n; i++)
            results[row * p->n + i] = form % 7 == 0 ? e[i] * inverse : good_divide(p, e[i], sum);
    }
}

/* (x - m) - log s, or x - m taken again when the sum is there. */
static void log_softmax(property_problem *p, int form, double *results) {
    float x[LONGEST], e[LONGEST], sum, top;
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        good_softmax_row(p, x, p->n, form, e, &sum, &top);
        const float logarithm = good_log(p, sum);
        for (int64_t i = 0; i < p->n; i++) results[row * p->n + i] = (x[i] - top) - logarithm;
    }
}

static void logsumexp(property_problem *p, int form, double *results) {
    float x[LONGEST], e[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        float m = good_max(x, p->n), s;
        if (form % 4 == 3 && isfinite(m)) {
            s = good_online(p, x, p->n, &m);
        } else {
            if (isinf(m)) m = 0;
            for (int64_t i = 0; i < p->n; i++) e[i] = good_exp(p, x[i] - m);
            s = good_sum(p, e, p->n, form);
        }
        results[row] = good_log(p, s) + m;
    }
}

/* Down the columns of x. */
static void softmax_columns(property_problem *p, int form, double *results) {
    float x[LONGEST], e[LONGEST], sum, top;
    for (int64_t column = 0; column < p->n; column++) {
        for (int64_t i = 0; i < p->m; i++) x[i] = good_at(p, 0, i, column);
        good_softmax_row(p, x, p->m, form, e, &sum, &top);
        for (int64_t i = 0; i < p->m; i++) results[i * p->n + column] = good_divide(p, e[i], sum);
    }
}

/* A scale and a mask before the softmax, folded into one fma where that is allowed. */
static void scaled_softmax(property_problem *p, int form, double *results) {
    float x[LONGEST], e[LONGEST], sum, top;
    for (int64_t row = 0; row < p->m; row++) {
        for (int64_t i = 0; i < p->n; i++) {
            const float v = good_at(p, 0, row, i), w = good_at(p, 1, row, i);
            x[i] = form % 2 ? fmaf(v, 0.3f, w) : v * 0.3f + w;
        }
        good_softmax_row(p, x, p->n, form, e, &sum, &top);
        for (int64_t i = 0; i < p->n; i++) results[row * p->n + i] = good_divide(p, e[i], sum);
    }
}

static const property_operator rows[] = {
    {"softmax", "softmax(x, axis=-1)", 1, PROPERTY_ROWS, 70, softmax, NULL, NULL, 0},
    {"softmax columns", "softmax(x, axis=0)", 1, PROPERTY_ROWS, 40, softmax_columns, NULL, NULL, 0},
    {"softmax scaled", "softmax(x * 0.3 + w, axis=-1)", 2, PROPERTY_ROWS, 40, scaled_softmax, NULL, NULL, 0},
    {"log_softmax", "log_softmax(x, axis=-1)", 1, PROPERTY_ROWS, 40, log_softmax, NULL, NULL, 0},
    {"logsumexp", "logsumexp(x, axis=-1)", 1, PROPERTY_NUMBERS, 40, logsumexp, NULL, NULL, 0},
};
const property_family property_softmax = {"softmax", rows, sizeof rows / sizeof *rows};
