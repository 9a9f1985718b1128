/* Convolutions of one and three axes and their transposes, pools of two and three, einsum's other forms: the
 * windows element by element, their sums in many orders. */
#include "axes_kernels.h"

static void convolve(property_problem *p, int form, double *results, bool transposed) {
    for (int64_t e = 0; e < p->count; e++) {
        float left[AXES_TERMS], right[AXES_TERMS], terms[AXES_TERMS];
        int64_t out;
        const int64_t n = axes_terms(p, e, transposed, false, form % 2, &out, left, right);
        float fused = good_at(p, 2, 0, out);
        for (int64_t i = 0; i < n; i++) terms[i] = left[i] * right[i], fused = fmaf(left[i], right[i], fused);
        results[e] = form / 2 % 2 ? fused : good_sum(p, terms, n, form / 4) + good_at(p, 2, 0, out);
    }
}

static void conv(property_problem *p, int form, double *results) {
    convolve(p, form, results, false);
}
static void transposed(property_problem *p, int form, double *results) {
    convolve(p, form, results, true);
}
static void conv1d(property_problem *p) {
    axes_inputs(p, 1, false, true);
}
static void conv3d(property_problem *p) {
    axes_inputs(p, 3, false, true);
}
static void transposed1d(property_problem *p) {
    axes_inputs(p, 1, true, true);
}
static void transposed3d(property_problem *p) {
    axes_inputs(p, 3, true, true);
}

/* ---- pools of windows of 2, stride 1 ---- */

static void pool2d(property_problem *p) {
    axes_inputs(p, 2, false, false);
}
static void pool3d(property_problem *p) {
    axes_inputs(p, 3, false, false);
}

static void max_pool(property_problem *p, int form, double *results) {
    float terms[8];
    (void)form;
    for (int64_t e = 0; e < p->count; e++) results[e] = good_max(terms, axes_pooled(p, e, terms));
}

static float averaged(property_problem *p, const float *terms, int64_t n, int form) {
    const float s = good_sum(p, terms, n, form / 2);
    return form % 2 ? s * (1.0f / (float)n) : good_divide(p, s, (float)n);
}

static void avg_pool(property_problem *p, int form, double *results) {
    float terms[8];
    for (int64_t e = 0; e < p->count; e++) {
        const int64_t n = axes_pooled(p, e, terms);
        results[e] = averaged(p, terms, n, form);
    }
}

/* To [2, 1] from [2, h, w]: windows of nearly equal size, here the two halves of the rows. */
static void adaptive_inputs(property_problem *p) {
    axes_inputs(p, 2, false, false);
    property_expect(p, 3, (const int64_t[]){2, 2, 1});
}

static void adaptive(property_problem *p, int form, double *results) {
    const int64_t h = p->inputs[0].shape[1], w = p->inputs[0].shape[2];
    for (int64_t e = 0; e < 4; e++) {
        const int64_t c = e / 2, first = e % 2 * h / 2, last = ((e % 2 + 1) * h + 1) / 2;
        float terms[64];
        int64_t n = 0;
        for (int64_t i = first; i < last; i++)
            for (int64_t j = 0; j < w; j++) terms[n++] = (float)p->inputs[0].values[(c * h + i) * w + j];
        results[e] = averaged(p, terms, n, form);
    }
}

#define OWN(expression, forms, shadow, inputs)                                                               \
    { expression, expression, 0, PROPERTY_OWN, forms, shadow, NULL, inputs, 0 }
static const property_operator rows[] = {
    OWN("conv1d(x, w, b, padding=1)", 40, conv, conv1d),
    OWN("conv3d(x, w, b)", 40, conv, conv3d),
    OWN("conv_transpose1d(x, w, b, padding=1)", 40, transposed, transposed1d),
    OWN("conv_transpose3d(x, w, b)", 40, transposed, transposed3d),
    OWN("max_pool2d(x, 2, 1)", 1, max_pool, pool2d),
    OWN("max_pool3d(x, 2, 1)", 1, max_pool, pool3d),
    OWN("avg_pool2d(x, 2, 1)", 20, avg_pool, pool2d),
    OWN("avg_pool3d(x, 2, 1)", 20, avg_pool, pool3d),
    OWN("adaptive_avg_pool2d(x, [2, 1])", 20, adaptive, adaptive_inputs),
};
const property_family property_axes = {"axes", rows, sizeof rows / sizeof *rows};
