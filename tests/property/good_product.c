/* Matrix products, with what kernels fuse into them. */
#include "good_kernels.h"

enum { LONGEST = PROPERTY_LONGEST };

typedef struct operands {
    const property_input *x, *w;
    bool rows; /* w is [k, n]: linear's weight */
} operands;

static float left(const property_problem *p, operands o, int64_t i, int64_t l) {
    return (float)o.x->values[i * p->n + l];
}
static float right(const property_problem *p, operands o, int64_t l, int64_t j) {
    return (float)o.w->values[o.rows ? j * p->n + l : l * p->k + j];
}

/* start + sum over l of x[i, l] w[l, j], `start` being where an accumulator may begin. */
static float dot(property_problem *p, operands o, int64_t i, int64_t j, float start, int form) {
    float terms[LONGEST], acc = start;
    for (int64_t l = 0; l < p->n; l++) terms[l] = left(p, o, i, l) * right(p, o, l, j);
    switch (form % 6) {
    case 0: return good_sum(p, terms, p->n, form / 6) + start;
    case 1: /* starts from the bias, fused */
        for (int64_t l = 0; l < p->n; l++) acc = fmaf(left(p, o, i, l), right(p, o, l, j), acc);
        return acc;
    case 2: /* split K in two */
        return good_sum(p, terms, p->n / 2, form / 6) +
               good_sum(p, terms + p->n / 2, p->n - p->n / 2, form / 6 + 1) + start;
    case 3: /* starts from the bias, not fused */
        for (int64_t l = 0; l < p->n; l++) acc += terms[l];
        return acc;
    case 4: { /* tiles of 8, each fused, added to an accumulator that starts from the bias */
        for (int64_t base = 0; base < p->n; base += 8) {
            float tile = 0;
            for (int64_t l = base; l < p->n && l < base + 8; l++)
                tile = fmaf(left(p, o, i, l), right(p, o, l, j), tile);
            acc += tile;
        }
        return acc;
    }
    default: /* the bias last but inside the tree */
        return property_sum((const float[]){good_sum(p, terms, p->n, form / 6), start}, 2, 0, &p->random);
    }
}

static void matmul(property_problem *p, int form, double *results) {
    const operands o = {&p->inputs[0], &p->inputs[1], false};
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->k; j++)
            results[i * p->k + j] = dot(p, o, i, j, p->input_count > 2 ? good_at(p, 2, 0, j) : 0, form);
}

static void linear_inputs(property_problem *p) {
    p->k = 1 + (int64_t)cupel_random_below(&p->random, 5);
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->k, p->n));
    property_fill_any(p, property_add(p, "b", 1, p->k, 0));
    property_expect(p, 2, (const int64_t[]){p->m, p->k});
}

static void linear(property_problem *p, int form, double *results) {
    const operands o = {&p->inputs[0], &p->inputs[1], true};
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->k; j++) results[i * p->k + j] = dot(p, o, i, j, good_at(p, 2, 0, j), form);
}

/* relu as an epilogue. */
static void linear_relu(property_problem *p, int form, double *results) {
    linear(p, form, results);
    for (int64_t i = 0; i < p->count; i++) results[i] = results[i] > 0 || isnan(results[i]) ? results[i] : 0;
}

/* The old output and two scales: alpha x w + beta c. */
static void gemm_inputs(property_problem *p) {
    p->k = 1 + (int64_t)cupel_random_below(&p->random, 5);
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->n, p->k));
    property_fill_any(p, property_add(p, "c", 2, p->m, p->k));
    property_expect(p, 2, (const int64_t[]){p->m, p->k});
}

static void gemm(property_problem *p, int form, double *results) {
    const operands o = {&p->inputs[0], &p->inputs[1], false};
    for (int64_t i = 0; i < p->m; i++) {
        for (int64_t j = 0; j < p->k; j++) {
            const float old = (float)p->inputs[2].values[i * p->k + j];
            results[i * p->k + j] = form % 3 == 0   ? 0.3f * dot(p, o, i, j, 0, form / 3) + 0.7f * old
                                    : form % 3 == 1 ? fmaf(0.3f, dot(p, o, i, j, 0, form / 3), 0.7f * old)
                                                    : fmaf(0.7f, old, 0.3f * dot(p, o, i, j, 0, form / 3));
        }
    }
}

static void accumulate(property_problem *p, int form, double *results) {
    const operands o = {&p->inputs[0], &p->inputs[1], false};
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->k; j++)
            results[i * p->k + j] = dot(p, o, i, j, (float)p->inputs[2].values[i * p->k + j], form);
}

static void outer_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 1, p->m, 0), p->pattern);
    property_fill_any(p, property_add(p, "w", 1, p->n, 0));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void outer(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t i = 0; i < p->count; i++) {
        const float x = (float)p->inputs[0].values[i / p->n], w = (float)p->inputs[1].values[i % p->n];
        results[i] = x * w;
    }
}

#define OWN(name, expression, forms, shadow, prepare)                                                        \
    { name, expression, 0, PROPERTY_OWN, forms, shadow, NULL, prepare, 0 }
static const property_operator rows[] = {
    {"matmul", "matmul(x, w)", 2, PROPERTY_PRODUCT, 60, matmul, NULL, NULL, 0},
    {"matmul+bias", "matmul(x, w) + b", 3, PROPERTY_PRODUCT, 60, matmul, NULL, NULL, 0},
    OWN("linear", "linear(x, w, b)", 60, linear, linear_inputs),
    OWN("linear relu", "relu(linear(x, w, b))", 60, linear_relu, linear_inputs),
    OWN("matmul old", "c + matmul(x, w)", 60, accumulate, gemm_inputs),
    OWN("gemm", "0.3 * matmul(x, w) + 0.7 * c", 180, gemm, gemm_inputs),
    OWN("outer", "outer(x, w)", 1, outer, outer_inputs),
};
const property_family property_product = {"product", rows, sizeof rows / sizeof *rows};
