/* Reductions and scans. */
#include "good_kernels.h"

enum { LONGEST = PROPERTY_LONGEST };

/* A reduction of one row. */
typedef float reduce(property_problem *p, const float *x, int form);

static void by_rows(property_problem *p, int form, double *results, reduce *of) {
    float x[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        results[row] = of(p, x, form);
    }
}

#define REDUCTION(name)                                                                                      \
    static float name##_of(property_problem *p, const float *x, int form);                                   \
    static void name(property_problem *p, int form, double *results) {                                       \
        by_rows(p, form, results, name##_of);                                                                \
    }                                                                                                        \
    static float name##_of(property_problem *p, const float *x, int form)

REDUCTION(sum) {
    return good_sum(p, x, p->n, form);
}

REDUCTION(mean) {
    float scaled[LONGEST];
    const float inverse = 1.0f / (float)p->n;
    if (form % 4 == 3) return good_statistics_of(p, x, p->n, 1 + form / 4 % 2).mean;
    for (int64_t i = 0; i < p->n; i++) scaled[i] = form % 4 == 2 ? x[i] * inverse : x[i];
    const float s = good_sum(p, scaled, p->n, form / 4);
    return form % 4 == 0 ? good_divide(p, s, (float)p->n) : form % 4 == 1 ? s * inverse : s;
}

REDUCTION(scaled_sum) {
    float scaled[LONGEST];
    for (int64_t i = 0; i < p->n; i++) scaled[i] = form % 2 ? x[i] * 0.3f : x[i];
    const float s = good_sum(p, scaled, p->n, form / 2);
    return form % 2 ? s : s * 0.3f;
}

REDUCTION(squares) {
    float d[LONGEST], s = 0;
    for (int64_t i = 0; i < p->n; i++) d[i] = x[i] * x[i], s = fmaf(x[i], x[i], s);
    return form % 2 ? s : good_sum(p, d, p->n, form / 2);
}

REDUCTION(exponentials) {
    float e[LONGEST];
    for (int64_t i = 0; i < p->n; i++) e[i] = good_exp(p, x[i]);
    return good_sum(p, e, p->n, form);
}

REDUCTION(variance) {
    return good_divide(p, good_statistics_of(p, x, p->n, form).m2, (float)p->n);
}

REDUCTION(unbiased) {
    return good_divide(p, good_statistics_of(p, x, p->n, form).m2, (float)(p->n - 1));
}

REDUCTION(deviation) {
    return good_sqrt(p, good_divide(p, good_statistics_of(p, x, p->n, form).m2, (float)(p->n - 1)));
}

REDUCTION(norm2) {
    return good_sqrt(p, squares_of(p, x, form));
}

REDUCTION(norm1) {
    float d[LONGEST];
    for (int64_t i = 0; i < p->n; i++) d[i] = fabsf(x[i]);
    return good_sum(p, d, p->n, form);
}

REDUCTION(norm3) {
    float d[LONGEST];
    for (int64_t i = 0; i < p->n; i++)
        d[i] = form % 2 ? powf(fabsf(x[i]), 3.0f) : fabsf(x[i]) * fabsf(x[i]) * fabsf(x[i]);
    return powf(good_sum(p, d, p->n, form / 2), 1.0f / 3.0f);
}

REDUCTION(norm_inf) {
    float d[LONGEST];
    (void)form;
    for (int64_t i = 0; i < p->n; i++) d[i] = fabsf(x[i]);
    return good_max(d, p->n);
}

REDUCTION(norm0) {
    float count = 0;
    (void)form;
    for (int64_t i = 0; i < p->n; i++) count += x[i] != 0;
    return count;
}

/* Serially, from both ends, and as a tree of halves. */
static float product_of(const float *x, int64_t n, int form) {
    float y = 1;
    if (form % 3 == 2 && n > 1) return product_of(x, n / 2, 2) * product_of(x + n / 2, n - n / 2, 2);
    for (int64_t i = 0; i < n; i++) y *= form % 3 ? x[n - 1 - i] : x[i];
    return y;
}

REDUCTION(prod) {
    return product_of(x, p->n, form);
}

REDUCTION(amax) {
    (void)form;
    return good_max(x, p->n);
}

REDUCTION(amin) {
    float d[LONGEST];
    (void)form;
    for (int64_t i = 0; i < p->n; i++) d[i] = -x[i];
    return -good_max(d, p->n);
}

/* The first NaN, else the first of the largest: forwards, or merged from two halves. */
static int64_t first_best(const float *x, int64_t n, float sign) {
    int64_t best = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(x[best]) && (isnan(x[i]) || sign * x[i] > sign * x[best])) best = i;
    return best;
}

static int64_t merged(const float *x, int64_t n, float sign, int form) {
    if (form == 0 || n < 2) return first_best(x, n, sign);
    const int64_t a = first_best(x, n / 2, sign), b = n / 2 + first_best(x + n / 2, n - n / 2, sign);
    const bool second = !isnan(x[a]) && (isnan(x[b]) || sign * x[b] > sign * x[a]);
    return second ? b : a;
}

REDUCTION(argmax) {
    return (float)merged(x, p->n, 1, form);
}

REDUCTION(argmin) {
    return (float)merged(x, p->n, -1, form);
}

REDUCTION(all_positive) {
    (void)form;
    for (int64_t i = 0; i < p->n; i++)
        if (!(x[i] > 0)) return 0;
    return 1;
}

REDUCTION(any_positive) {
    (void)form;
    for (int64_t i = 0; i < p->n; i++)
        if (x[i] > 0) return 1;
    return 0;
}

/* Two inputs: the dot product of rows, and a sum added to an old output. */
static void dots(property_problem *p, int form, double *results) {
    float d[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        float s = 0;
        for (int64_t i = 0; i < p->n; i++) {
            const float x = good_at(p, 0, row, i), w = good_at(p, 1, row, i);
            d[i] = x * w, s = fmaf(x, w, s);
        }
        results[row] = form % 2 ? s : good_sum(p, d, p->n, form / 2);
    }
}

static void old_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "c", 1, p->m, 0));
    property_expect(p, 1, (const int64_t[]){p->m});
}

static void sum_old(property_problem *p, int form, double *results) {
    float x[LONGEST + 1];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x + 1);
        x[0] = good_at(p, 1, 0, row);
        results[row] =
            form % 2 ? good_sum(p, x, p->n + 1, form / 2) : x[0] + good_sum(p, x + 1, p->n, form / 2);
    }
}

/* ---- scans: serially, or by blocks of 8 and 5 with a carry ---- */

static void cumsum(property_problem *p, int form, double *results) {
    float x[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        const int64_t block = form % 3 == 0 ? p->n : form % 3 == 1 ? 8 : 5;
        float carry = 0;
        for (int64_t begin = 0; begin < p->n; begin += block) {
            float s = 0;
            for (int64_t i = begin; i < p->n && i < begin + block; i++) {
                s += x[i];
                results[row * p->n + i] = begin == 0 ? s : carry + s;
            }
            carry = begin == 0 ? s : carry + s;
        }
    }
}

/* Hillis and Steele's doubling scan. */
static void doubling(float *x, int64_t n, bool products) {
    for (int64_t step = 1; step < n; step *= 2) {
        for (int64_t i = n; i-- > step;) x[i] = products ? x[i] * x[i - step] : x[i] + x[i - step];
    }
}

static void scan_sum(property_problem *p, int form, double *results) {
    float x[LONGEST];
    if (form < 3) {
        cumsum(p, form, results);
        return;
    }
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        doubling(x, p->n, false);
        for (int64_t i = 0; i < p->n; i++) results[row * p->n + i] = x[i];
    }
}

static void cumprod(property_problem *p, int form, double *results) {
    float x[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        if (form)
            doubling(x, p->n, true);
        else
            for (int64_t i = 1; i < p->n; i++) x[i] *= x[i - 1];
        for (int64_t i = 0; i < p->n; i++) results[row * p->n + i] = x[i];
    }
}

static void running(property_problem *p, float sign, double *results) {
    float x[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        for (int64_t i = 1; i < p->n; i++)
            x[i] = isnan(x[i - 1]) || sign * x[i - 1] > sign * x[i] ? x[i - 1] : x[i];
        for (int64_t i = 0; i < p->n; i++) results[row * p->n + i] = x[i];
    }
}

static void cummax(property_problem *p, int form, double *results) {
    (void)form;
    running(p, 1, results);
}

static void cummin(property_problem *p, int form, double *results) {
    (void)form;
    running(p, -1, results);
}

#define NUMBERS(expression, forms, shadow)                                                                   \
    {expression, expression, 1, PROPERTY_NUMBERS, forms, shadow, NULL, NULL, 0},
#define INDICES(expression, forms, shadow)                                                                   \
    {expression, expression, 1, PROPERTY_NUMBERS, forms, shadow, NULL, NULL, CUPEL_I32},
#define SCAN(expression, forms, shadow)                                                                      \
    {expression, expression, 1, PROPERTY_ROWS, forms, shadow, NULL, NULL, 0},
static void pair_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->m, p->n));
    property_expect(p, 1, (const int64_t[]){p->m});
}

/* clang-format off */
static const property_operator rows[] = {
    NUMBERS("sum(x, axis=-1)", 10, sum)
    NUMBERS("sum(x, axis=-1) * 0.3", 20, scaled_sum)
    NUMBERS("sum(x * x, axis=-1)", 20, squares)
    NUMBERS("sum(exp(x), axis=-1)", 10, exponentials)
    NUMBERS("mean(x, axis=-1)", 40, mean)
    NUMBERS("var(x, axis=-1, correction=0)", 40, variance)
    NUMBERS("var(x, axis=-1)", 40, unbiased)
    NUMBERS("std(x, axis=-1)", 40, deviation)
    NUMBERS("norm(x, axis=-1)", 20, norm2)
    NUMBERS("norm(x, p=1, axis=-1)", 10, norm1)
    NUMBERS("norm(x, p=3, axis=-1)", 20, norm3)
    NUMBERS("norm(x, p=inf, axis=-1)", 1, norm_inf)
    NUMBERS("norm(x, p=0, axis=-1)", 1, norm0)
    NUMBERS("prod(x, axis=-1)", 3, prod)
    NUMBERS("amax(x, axis=-1)", 1, amax)
    NUMBERS("amin(x, axis=-1)", 1, amin)
    INDICES("argmax(x, axis=-1)", 2, argmax)
    INDICES("argmin(x, axis=-1)", 2, argmin)
    INDICES("all(x > 0, axis=-1)", 1, all_positive)
    INDICES("any(x > 0, axis=-1)", 1, any_positive)
    SCAN("cumsum(x, axis=-1)", 4, scan_sum)
    SCAN("cumprod(x, axis=-1)", 2, cumprod)
    SCAN("cummax(x, axis=-1)", 1, cummax)
    SCAN("cummin(x, axis=-1)", 1, cummin)
    {"sum of products", "sum(x * w, axis=-1)", 0, PROPERTY_OWN, 20, dots, NULL, pair_inputs, 0},
    {"sum to old", "c + sum(x, axis=-1)", 0, PROPERTY_OWN, 20, sum_old, NULL, old_inputs, 0},
};
/* clang-format on */
const property_family property_reduction = {"reduction", rows, sizeof rows / sizeof *rows};
