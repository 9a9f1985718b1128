/* Convolutions, pools and einsum with a fault. */
#include "axes_kernels.h"
#include "bad_kernels.h"

/* ---- the filter read backwards ---- */

static void backwards(property_problem *p, double *results, bool transposed) {
    float left[AXES_TERMS], right[AXES_TERMS];
    for (int64_t e = 0; e < p->count; e++) {
        int64_t out;
        const int64_t n = axes_terms(p, e, transposed, true, false, &out, left, right);
        double s = p->inputs[2].values[out];
        for (int64_t i = 0; i < n; i++) s += (double)left[i] * right[i];
        results[e] = s;
    }
}

static void conv(property_problem *p, int form, double *results) {
    (void)form;
    backwards(p, results, false);
}
static void transposed(property_problem *p, int form, double *results) {
    (void)form;
    backwards(p, results, true);
}

#define INPUTS(name, axes, transposed, filter)                                                               \
    static void name(property_problem *p) {                                                                  \
        axes_inputs(p, axes, transposed, filter);                                                            \
    }
INPUTS(one, 1, false, true)
INPUTS(three, 3, false, true)
INPUTS(one_transposed, 1, true, true)
INPUTS(two_transposed, 2, true, true)
INPUTS(three_transposed, 3, true, true)
INPUTS(plane, 2, false, false)
INPUTS(space, 3, false, false)

static void line(property_problem *p) {
    axes_inputs(p, 1, false, false);
    p->inputs[0].shape[1] = p->inputs[0].count / 2;
    property_expect(p, 2, (const int64_t[]){2, p->inputs[0].shape[1] - 1});
}

/* ---- pools ---- */

static void max_from_zero(property_problem *p, int form, double *results) {
    float terms[8];
    (void)form;
    for (int64_t e = 0; e < p->count; e++) {
        const float most = good_max(terms, axes_pooled(p, e, terms));
        results[e] = most < 0 ? 0 : most;
    }
}

static void last_lost(property_problem *p, int form, double *results) {
    float terms[8];
    (void)form;
    for (int64_t e = 0; e < p->count; e++) {
        const int64_t n = axes_pooled(p, e, terms);
        double s = 0;
        for (int64_t i = 0; i + 1 < n; i++) s += terms[i];
        results[e] = s / (double)n;
    }
}

static void halves_inputs(property_problem *p) {
    axes_inputs(p, 2, false, false);
    property_expect(p, 3, (const int64_t[]){2, 2, 1});
}

static void equal_halves(property_problem *p, int form,
                         double *results) { /* an odd row in the middle is in neither */
    const int64_t h = p->inputs[0].shape[1], w = p->inputs[0].shape[2];
    (void)form;
    for (int64_t e = 0; e < 4; e++) {
        double s = 0;
        for (int64_t i = 0; i < h / 2; i++)
            for (int64_t j = 0; j < w; j++)
                s += p->inputs[0].values[(e / 2 * h + e % 2 * (h / 2) + i) * w + j];
        results[e] = s / (double)(h / 2 * w);
    }
}

/* ---- einsum ---- */

static void square_inputs(property_problem *p) {
    p->k = p->m;
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->k, p->n));
    property_expect(p, 2, (const int64_t[]){p->k, p->m});
}

static void labels_swapped(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++) {
        double s = 0;
        for (int64_t j = 0; j < p->n; j++)
            s += p->inputs[0].values[e / p->m * p->n + j] * p->inputs[1].values[e % p->m * p->n + j];
        results[e] = s;
    }
}

#define ROW(fault, expression, shadow, inputs)                                                               \
    { fault, expression, 0, PROPERTY_OWN, 1, shadow, NULL, inputs, 0 }
static const property_operator rows[] = {
    ROW("the filter backwards", "conv1d(x, w, b, padding=1)", conv, one),
    ROW("the filter backwards", "conv3d(x, w, b)", conv, three),
    ROW("the filter backwards", "conv_transpose1d(x, w, b, padding=1)", transposed, one_transposed),
    ROW("the filter backwards", "conv_transpose2d(x, w, b)", transposed, two_transposed),
    ROW("the filter backwards", "conv_transpose3d(x, w, b)", transposed, three_transposed),
    ROW("started from 0", "max_pool1d(x, 2, 1)", max_from_zero, line),
    ROW("started from 0", "max_pool2d(x, 2, 1)", max_from_zero, plane),
    ROW("started from 0", "max_pool3d(x, 2, 1)", max_from_zero, space),
    ROW("last element lost", "avg_pool1d(x, 2, 1)", last_lost, line),
    ROW("last element lost", "avg_pool2d(x, 2, 1)", last_lost, plane),
    ROW("last element lost", "avg_pool3d(x, 2, 1)", last_lost, space),
    ROW("equal halves", "adaptive_avg_pool2d(x, [2, 1])", equal_halves, halves_inputs),
    ROW("labels swapped", "einsum(\"ij,kj->ki\", x, w)", labels_swapped, square_inputs),
};
const property_family bad_window = {"window", rows, sizeof rows / sizeof *rows};
