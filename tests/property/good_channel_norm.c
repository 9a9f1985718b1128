/* Batch, instance and group norm: statistics in three ways, the mean folded into the bias or not. */
#include "good_kernels.h"

enum { ELEMENTS = PROPERTY_LONGEST * 4 };

/* x [m, C, n], weight w and bias b [C]; k is C. */
static void channels(property_problem *p, int64_t count) {
    static const int64_t rest[] = {1, 2, 3, 7, 13, 16, 33};
    p->n = rest[cupel_random_below(&p->random, 7)];
    p->k = count;
    const int64_t shape[] = {p->m, p->k, p->n};
    property_fill(p, property_add_shaped(p, "x", p->type, 3, shape), p->pattern);
    property_fill_any(p, property_add(p, "w", 1, p->k, 0));
    property_fill_any(p, property_add(p, "b", 1, p->k, 0));
    property_expect(p, 3, shape);
}

static void few_channels(property_problem *p) {
    channels(p, 1 + (int64_t)cupel_random_below(&p->random, 3));
}

static void four_channels(property_problem *p) {
    channels(p, 4);
}

static void with_running(property_problem *p) {
    few_channels(p);
    property_fill_any(p, property_add(p, "mean", 1, p->k, 0));
    property_fill_any(p, property_add(p, "variance", 1, p->k, 0));
}

/* (x - mean) rstd w + b, in the forms that kernels have. */
static float affine(float x, float mean, float rstd, float w, float b, int form) {
    const float scale = rstd * w;
    switch (form % 6) {
    case 0: return (x - mean) * rstd * w + b;
    case 1: return fmaf((x - mean) * rstd, w, b);
    case 2: return (x - mean) * scale + b;
    case 3: return fmaf(x, scale, b - mean * scale);
    case 4: return x * scale + (b - mean * scale);
    default: return fmaf(x, scale, fmaf(-mean, scale, b));
    }
}

/* Normalises the elements of samples s0 .. s1 - 1 and channels c0 .. c1 - 1 by their own statistics. */
static void block(property_problem *p, int64_t s0, int64_t s1, int64_t c0, int64_t c1, int form,
                  double *results) {
    float x[ELEMENTS];
    int64_t count = 0;
    for (int64_t s = s0; s < s1; s++)
        for (int64_t c = c0; c < c1; c++)
            for (int64_t i = 0; i < p->n; i++)
                x[count++] = (float)p->inputs[0].values[(s * p->k + c) * p->n + i];
    const good_statistics t = good_statistics_of(p, x, count, form / 6);
    const float rstd = good_rsqrt(p, good_divide(p, t.m2, (float)count) + 1e-5f);
    for (int64_t s = s0; s < s1; s++)
        for (int64_t c = c0; c < c1; c++)
            for (int64_t i = 0; i < p->n; i++) {
                const int64_t at = (s * p->k + c) * p->n + i;
                results[at] = affine((float)p->inputs[0].values[at], t.mean, rstd, good_at(p, 1, 0, c),
                                     good_at(p, 2, 0, c), form);
            }
}

static void batch_norm(property_problem *p, int form, double *results) {
    for (int64_t c = 0; c < p->k; c++) block(p, 0, p->m, c, c + 1, form, results);
}

static void instance_norm(property_problem *p, int form, double *results) {
    for (int64_t s = 0; s < p->m; s++)
        for (int64_t c = 0; c < p->k; c++) block(p, s, s + 1, c, c + 1, form, results);
}

static void group_norm(property_problem *p, int form, double *results) {
    for (int64_t s = 0; s < p->m; s++)
        for (int64_t c = 0; c < p->k; c += 2) block(p, s, s + 1, c, c + 2, form, results);
}

static void running(property_problem *p, int form, double *results) {
    for (int64_t e = 0; e < p->count; e++) {
        const int64_t c = e / p->n % p->k;
        const float rstd = good_rsqrt(p, fabsf(good_at(p, 4, 0, c)) + 1e-5f);
        results[e] = affine((float)p->inputs[0].values[e], good_at(p, 3, 0, c), rstd, good_at(p, 1, 0, c),
                            good_at(p, 2, 0, c), form);
    }
}

#define NORM(name, expression, shadow, inputs)                                                               \
    { name, expression, 0, PROPERTY_OWN, 720, shadow, NULL, inputs, 0 }
static const property_operator rows[] = {
    NORM("batch_norm", "batch_norm(x, weight=w, bias=b, training=true)", batch_norm, few_channels),
    NORM("batch_norm, running", "batch_norm(x, mean, abs(variance), w, b)", running, with_running),
    NORM("instance_norm", "instance_norm(x, weight=w, bias=b)", instance_norm, few_channels),
    NORM("group_norm", "group_norm(x, 2, w, b)", group_norm, four_channels),
};
const property_family property_channel_norm = {"channel norm", rows, sizeof rows / sizeof *rows};
