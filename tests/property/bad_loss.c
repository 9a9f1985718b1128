/* Losses with a fault, else in double precision. */
#include <string.h>

#include "bad_kernels.h"

typedef double element_loss(double x, double t);

static double summed(const property_problem *p, element_loss *of) {
    double s = 0;
    for (int64_t i = 0; i < p->inputs[0].count; i++) s += of(p->inputs[0].values[i], p->inputs[1].values[i]);
    return s;
}

#define ELEMENT(name, formula)                                                                               \
    static double name##_of(double x, double t) {                                                            \
        return formula;                                                                                      \
    }
#define MEAN(name, formula, divisor)                                                                         \
    ELEMENT(name, formula)                                                                                   \
    static void name(property_problem *p, int form, double *results) {                                       \
        (void)form;                                                                                          \
        results[0] = summed(p, name##_of) / (double)(divisor);                                               \
    }

MEAN(mse_by_rows, (x - t) * (x - t), p->m)
MEAN(l1_as_l2, fabs(x - t) * fabs(x - t), p->m * p->n)
MEAN(no_beta, fabs(x - t) < 1 ? 0.5 * (x - t) * (x - t) : fabs(x - t) - 0.5, p->m * p->n)
MEAN(as_smooth_l1, fabs(x - t) < 0.5 ? (x - t) * (x - t) : fabs(x - t) - 0.25, p->m * p->n)
MEAN(unclamped, -(t *log(x) + (1 - t) * log1p(-x)), p->m * p->n)
MEAN(zero_log_zero, t *(log(t) - x), p->m * p->n)

static void pair_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "t", 2, p->m, p->n));
    property_expect(p, 0, NULL);
}

static void unit_inputs(property_problem *p) {
    pair_inputs(p);
    for (int i = 0; i < 2; i++)
        for (int64_t e = 0; e < p->inputs[i].count; e++)
            p->inputs[i].values[e] = cupel_random_below(&p->random, 6) == 0
                                         ? (double)cupel_random_below(&p->random, 2)
                                         : cupel_round(p->type, cupel_random_unit(&p->random));
}

static void class_inputs(property_problem *p) {
    const cupel_dtype type = p->type;
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    p->type = CUPEL_I32;
    property_input *t = property_add(p, "t", 1, p->m, 0);
    property_fill_integers(p, t, 0, p->n - 1);
    if (p->m > 1) t->values[0] = -100;
    p->type = type;
    property_expect(p, 0, NULL);
}

/* The mean of losses over all rows, those that are ignored too. */
static void all_rows(property_problem *p, double *results, bool logits) {
    double s = 0;
    for (int64_t row = 0; row < p->m; row++) {
        const int64_t target = (int64_t)p->inputs[1].values[row];
        const double *x = p->inputs[0].values + row * p->n;
        double e = 0;
        for (int64_t i = 0; i < p->n; i++) e += exp(x[i]);
        if (target >= 0) s += (logits ? log(e) : 0) - x[target];
    }
    results[0] = s / (double)p->m;
}

static void counted_ignored(property_problem *p, int form, double *results) {
    (void)form;
    all_rows(p, results, false);
}

static void counted_logits(property_problem *p, int form, double *results) {
    (void)form;
    all_rows(p, results, true);
}

static void cosine_inputs(property_problem *p) {
    pair_inputs(p);
    property_expect(p, 1, (const int64_t[]){p->m});
}

static void no_epsilon(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t row = 0; row < p->m; row++) {
        double xx = 0, tt = 0, xt = 0;
        for (int64_t i = 0; i < p->n; i++) {
            const double x = p->inputs[0].values[row * p->n + i], t = p->inputs[1].values[row * p->n + i];
            xx += x * x, tt += t * t, xt += x * t;
        }
        results[row] = xt / sqrt(xx * tt);
    }
}

static void triplet_inputs(property_problem *p) {
    pair_inputs(p);
    property_fill_any(p, property_add(p, "u", 2, p->m, p->n));
}

static void squared_distances(property_problem *p, int form, double *results) {
    double s = 0;
    (void)form;
    for (int64_t row = 0; row < p->m; row++) {
        double loss = 1;
        for (int64_t i = 0; i < p->n; i++) {
            const double x = p->inputs[0].values[row * p->n + i], t = p->inputs[1].values[row * p->n + i],
                         u = p->inputs[2].values[row * p->n + i];
            loss += (x - t) * (x - t) - (x - u) * (x - u);
        }
        s += loss < 0 ? 0 : loss;
    }
    results[0] = s / (double)p->m;
}

#define ROW(fault, expression, shadow, inputs)                                                               \
    {fault, expression, 0, PROPERTY_OWN, 1, shadow, NULL, inputs, 0},
/* clang-format off */
static const property_operator rows[] = {
    ROW("divided by the rows", "mse_loss(x, t)", mse_by_rows, pair_inputs)
    ROW("squared", "l1_loss(x, t)", l1_as_l2, pair_inputs)
    ROW("beta of 1", "smooth_l1_loss(x, t, beta=0.5)", no_beta, pair_inputs)
    ROW("divided by delta", "huber_loss(x, t, delta=0.5)", as_smooth_l1, pair_inputs)
    ROW("logarithms not clamped", "bce(x, t)", unclamped, unit_inputs)
    ROW("0 log 0 is NaN", "kl_div(x, t)", zero_log_zero, pair_inputs)
    ROW("ignored targets counted", "nll_loss(x, t)", counted_ignored, class_inputs)
    ROW("ignored targets counted", "cross_entropy(x, t)", counted_logits, class_inputs)
    ROW("no epsilon", "cosine_similarity(x, t, axis=-1)", no_epsilon, cosine_inputs)
    ROW("squared distances", "triplet_margin_loss(x, t, u)", squared_distances, triplet_inputs)
};
/* clang-format on */
const property_family bad_loss = {"loss", rows, sizeof rows / sizeof *rows};
