/* Normalisations. */
#include "good_kernels.h"

enum { LONGEST = PROPERTY_LONGEST };

static void layer_norm(property_problem *p, int form, double *results) {
    float x[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        const good_statistics s = good_statistics_of(p, x, p->n, form);
        const float rstd = good_rsqrt(p, s.m2 / (float)p->n + 1e-5f);
        for (int64_t i = 0; i < p->n; i++) {
            const float w = good_at(p, 1, 0, i), b = good_at(p, 2, 0, i), y = (x[i] - s.mean) * rstd;
            results[row * p->n + i] = form % 3 == 0   ? fmaf(y, w, b)
                                      : form % 3 == 1 ? y * w + b
                                                      : (x[i] - s.mean) * (rstd * w) + b;
        }
    }
}

static void rms_norm(property_problem *p, int form, double *results) {
    float x[LONGEST], d[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        for (int64_t i = 0; i < p->n; i++) d[i] = x[i] * x[i];
        const float mean = good_divide(p, good_sum(p, d, p->n, form), (float)p->n);
        const float scale = good_rsqrt(p, mean + 1e-5f), root = good_sqrt(p, mean + 1e-5f);
        for (int64_t i = 0; i < p->n; i++) {
            const float w = good_at(p, 1, 0, i);
            results[row * p->n + i] = form % 3 == 0   ? x[i] * scale * w
                                      : form % 3 == 1 ? x[i] * (scale * w)
                                                      : good_divide(p, x[i], root) * w;
        }
    }
}

static void l2_normalize(property_problem *p, int form, double *results) {
    float x[LONGEST], d[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        for (int64_t i = 0; i < p->n; i++) d[i] = x[i] * x[i];
        const float size = good_sqrt(p, good_sum(p, d, p->n, form));
        const float divisor = size < 1e-12f ? 1e-12f : size;
        for (int64_t i = 0; i < p->n; i++) results[row * p->n + i] = good_divide(p, x[i], divisor);
    }
}

static const property_operator rows[] = {
    {"layer_norm", "layer_norm(x, w, b, 1e-5)", 3, PROPERTY_ROWS, 120, layer_norm, NULL, NULL, 0},
    {"rms_norm", "rms_norm(x, w, 1e-5)", 2, PROPERTY_ROWS, 30, rms_norm, NULL, NULL, 0},
    {"l2_normalize", "l2_normalize(x)", 1, PROPERTY_ROWS, 10, l2_normalize, NULL, NULL, 0},
};
const property_family property_norm = {"norm", rows, sizeof rows / sizeof *rows};
