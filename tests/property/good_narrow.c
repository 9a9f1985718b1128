/* Products whose operands are narrowed first (`products`), as kernels with tensor cores do: before or after a
 * scale is folded in, softmax's weights before or after their division. */
#include "window_kernels.h"

enum { LONGEST = PROPERTY_LONGEST };

static void choose_products(property_problem *p) {
    static const cupel_dtype narrow[] = {CUPEL_TF32, CUPEL_BF16, CUPEL_F16};
    p->products_given = true;
    p->products = narrow[cupel_random_below(&p->random, 3)];
}

static void matrices(property_problem *p) {
    choose_products(p);
    p->k = 1 + (int64_t)cupel_random_below(&p->random, 4);
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->n, p->k));
    property_expect(p, 2, (const int64_t[]){p->m, p->k});
}

/* y = scale x w, the scale on x (before or after narrowing), on w, or last. */
static void scaled_matmul(property_problem *p, int form, double *results) {
    const int how = form % 4, place = form / 4 % 4;
    const float scale = 0.3f;
    float terms[LONGEST];
    for (int64_t i = 0; i < p->count; i++) {
        for (int64_t l = 0; l < p->n; l++) {
            float x = (float)p->inputs[0].values[i / p->k * p->n + l],
                  w = (float)p->inputs[1].values[l * p->k + i % p->k];
            if (place == 0) x *= scale;
            if (place == 1) w *= scale;
            x = window_narrowed(p, x, how, 0), w = window_narrowed(p, w, how, 0);
            if (place == 2) x *= scale;
            terms[l] = x * w;
        }
        const float sum = good_sum(p, terms, p->n, form / 16);
        results[i] = place == 3 ? sum * scale : sum;
    }
}

static void matmul(property_problem *p, int form, double *results) {
    float terms[LONGEST];
    for (int64_t i = 0; i < p->count; i++) {
        for (int64_t l = 0; l < p->n; l++) {
            const float x = (float)p->inputs[0].values[i / p->k * p->n + l];
            const float w = (float)p->inputs[1].values[l * p->k + i % p->k];
            terms[l] = window_narrowed(p, x, form % 4, 0) * window_narrowed(p, w, form / 4 % 4, 0);
        }
        results[i] = good_sum(p, terms, p->n, form / 16);
    }
}

/* softmax(x) w: the weights narrowed before or after the division, or relative to a running maximum. */
static void weighted(property_problem *p, int form, double *results) {
    const int how = form % 4, place = form / 4 % 3;
    float row[LONGEST], e[LONGEST], terms[LONGEST];
    for (int64_t i = 0; i < p->count; i++) {
        good_row(p, 0, i / p->k, row);
        float sum, top, acc = 0, running = -INFINITY, total = 0;
        if (place == 2) {
            for (int64_t l = 0; l < p->n; l++) {
                const float next = row[l] > running || isnan(row[l]) ? row[l] : running;
                const float again = running == -INFINITY ? 0 : good_exp(p, running - next);
                const float w = (float)p->inputs[1].values[l * p->k + i % p->k],
                            own = good_exp(p, row[l] - next);
                acc = acc * again + window_narrowed(p, own, how, 0) * window_narrowed(p, w, how, 0);
                total = total * again + own;
                running = next;
            }
            results[i] = good_divide(p, acc, total);
            continue;
        }
        good_softmax_row(p, row, p->n, 0, e, &sum, &top);
        for (int64_t l = 0; l < p->n; l++) {
            const float w = (float)p->inputs[1].values[l * p->k + i % p->k];
            const float weight = place == 0 ? good_divide(p, e[l], sum) : e[l];
            terms[l] = window_narrowed(p, weight, how, 0) * window_narrowed(p, w, how, 0);
        }
        const float y = good_sum(p, terms, p->n, form / 12);
        results[i] = place == 0 ? y : good_divide(p, y, sum);
    }
}

/* Finite scores: what infinite ones give is another test's. */
static void weights_inputs(property_problem *p) {
    matrices(p);
    property_input *x = &p->inputs[0];
    for (int64_t i = 0; i < x->count; i++)
        if (!(fabs(x->values[i]) < 100)) x->values[i] = (double)(i % 7) - 3;
}

#define OWN(name, expression, forms, shadow, prepare)                                                        \
    { name, expression, 0, PROPERTY_OWN, forms, shadow, NULL, prepare, 0 }
static const property_operator rows[] = {
    OWN("matmul narrow", "matmul(x, w)", 160, matmul, matrices),
    OWN("matmul narrow scaled", "matmul(x, w) * 0.3", 160, scaled_matmul, matrices),
    OWN("matmul of scaled narrow", "matmul(x * 0.3, w)", 160, scaled_matmul, matrices),
    OWN("softmax narrow", "matmul(softmax(x, axis=-1), w)", 120, weighted, weights_inputs),
    OWN("attention narrow",
        "matmul(exp(x - amax(x, axis=-1, keepdim=true)), w) / sum(exp(x - amax(x, axis=-1, keepdim=true)), "
        "axis=-1, keepdim=true)",
        120, weighted, weights_inputs),
};
const property_family property_narrow = {"narrow", rows, sizeof rows / sizeof *rows};
