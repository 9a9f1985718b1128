/* Sorting, adding at positions, rotary embedding, quantisation: what moves or rounds elements. */
#include <string.h>

#include "good_kernels.h"

enum { LONGEST = PROPERTY_LONGEST };

static void two(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->m, p->n));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

/* ---- order ---- */

static bool before(float a, float b) {
    return a < b || (isnan(b) && !isnan(a));
}

/* Positions in ascending order, stable, NaN last; by insertion or by merging halves. */
static void order_of(const float *x, int64_t n, int64_t *at, int form) {
    int64_t left[LONGEST], right[LONGEST];
    if (form % 2 && n > 1) {
        order_of(x, n / 2, left, form);
        order_of(x + n / 2, n - n / 2, right, form);
        for (int64_t i = 0, j = 0; i + j < n;) {
            const bool from_left = j == n - n / 2 || (i < n / 2 && !before(x[n / 2 + right[j]], x[left[i]]));
            at[i + j] = from_left ? left[i] : n / 2 + right[j];
            if (from_left)
                i++;
            else
                j++;
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t place = i;
        for (; place > 0 && before(x[i], x[at[place - 1]]); place--) at[place] = at[place - 1];
        at[place] = i;
    }
}

typedef enum what { VALUES, DESCENDING, POSITIONS, PRODUCTS } what;

static void ordered(property_problem *p, what what, int form, double *results) {
    float x[LONGEST];
    int64_t at[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        for (int64_t i = 0; i < p->n; i++)
            x[i] = good_at(p, 0, row, i) * (what == PRODUCTS ? good_at(p, 1, row, i) : 1.0f);
        order_of(x, p->n, at, form);
        for (int64_t i = 0; i < p->n; i++) {
            const int64_t from = what == DESCENDING ? at[p->n - 1 - i] : at[i];
            results[row * p->n + i] = what == POSITIONS ? (double)from : x[from];
        }
    }
}

static void sort_values(property_problem *p, int form, double *results) {
    ordered(p, VALUES, form, results);
}
static void sort_down(property_problem *p, int form, double *results) {
    ordered(p, DESCENDING, form, results);
}
static void sort_positions(property_problem *p, int form, double *results) {
    ordered(p, POSITIONS, form, results);
}
static void sort_products(property_problem *p, int form, double *results) {
    ordered(p, PRODUCTS, form, results);
}

/* ---- scatter_add ---- */

static void scatter_inputs(property_problem *p) {
    const cupel_dtype type = p->type;
    p->k = 1 + (int64_t)cupel_random_below(&p->random, 60);
    property_fill(p, property_add(p, "x", 1, p->n, 0), p->pattern);
    property_fill_any(p, property_add(p, "src", 1, p->k, 0));
    p->type = CUPEL_I32;
    /* now and then few positions get all of it */
    const int64_t top = cupel_random_below(&p->random, 2) ? p->n - 1 : (p->n - 1) / 8;
    property_fill_integers(p, property_add(p, "at", 1, p->k, 0), 0, top);
    p->type = type;
    property_expect(p, 1, &p->n);
}

/* Atomics add in any order; other kernels sum what belongs to a position first. */
static void scatter_add(property_problem *p, int form, double *results) {
    for (int64_t i = 0; i < p->n; i++) {
        float terms[LONGEST];
        int64_t count = 0;
        for (int64_t j = 0; j < p->k; j++)
            if ((int64_t)p->inputs[2].values[j] == i) terms[count++] = good_at(p, 1, 0, j);
        float sum = good_at(p, 0, 0, i);
        if (form % 2) {
            for (; count > 0; count--) { /* a random order */
                const int64_t next = (int64_t)cupel_random_below(&p->random, (uint64_t)count);
                sum += terms[next];
                terms[next] = terms[count - 1];
            }
        } else if (count > 0) {
            sum += good_sum(p, terms, count, form / 2);
        }
        results[i] = sum;
    }
}

/* ---- rope ---- */

static void rope_inputs(property_problem *p) {
    static const int64_t widths[] = {2, 4, 6, 16, 64};
    p->n = widths[cupel_random_below(&p->random, 5)];
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    const int pattern = p->pattern;
    p->pattern = 0;
    property_fill_any(p, property_add(p, "c", 2, p->m, p->n / 2));
    property_fill_any(p, property_add(p, "s", 2, p->m, p->n / 2));
    p->pattern = pattern;
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void rope(property_problem *p, int form, double *results) {
    const int64_t pairs = p->n / 2;
    const bool interleaved = strstr(p->expression, "interleaved") != NULL;
    for (int64_t e = 0; e < p->m * pairs; e++) {
        const int64_t row = e / pairs, i = e % pairs;
        const int64_t one = interleaved ? 2 * i : i, other = interleaved ? 2 * i + 1 : i + pairs;
        const float a = good_at(p, 0, row, one), b = good_at(p, 0, row, other);
        const float c = good_at(p, 1, row, i), s = good_at(p, 2, row, i);
        results[row * p->n + one] = form % 3 == 0   ? a * c - b * s
                                    : form % 3 == 1 ? fmaf(a, c, -(b * s))
                                                    : fmaf(-b, s, a * c);
        results[row * p->n + other] = form % 3 == 0   ? b * c + a * s
                                      : form % 3 == 1 ? fmaf(b, c, a * s)
                                                      : fmaf(a, s, b * c);
    }
}

/* ---- quantisation ---- */

static void scale_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "scale", 1, p->n, 0));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void quantize(property_problem *p, int form, double *results) {
    for (int64_t e = 0; e < p->count; e++) {
        const float x = (float)p->inputs[0].values[e], scale = good_at(p, 1, 0, e % p->n);
        const float q = form % 2 ? x * (1.0f / scale) : good_divide(p, x, scale);
        const float steps =
            form / 2 % 2 ? rintf(fminf(fmaxf(q, -128.0f), 127.0f)) : fminf(fmaxf(rintf(q), -128.0f), 127.0f);
        results[e] = isnan(q) ? 0 : steps;
    }
}

static void narrow_inputs(property_problem *p) {
    const cupel_dtype type = p->type;
    p->type = CUPEL_I8;
    property_fill_integers(p, property_add(p, "x", 2, p->m, p->n), -128, 127);
    p->type = type;
    property_fill(p, property_add(p, "scale", 1, p->n, 0), p->pattern);
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void dequantize(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++)
        results[e] = ((float)p->inputs[0].values[e] - 3.0f) * good_at(p, 1, 0, e % p->n);
}

#define OWN(expression, forms, shadow, inputs)                                                               \
    { expression, expression, 0, PROPERTY_OWN, forms, shadow, NULL, inputs, 0 }
static const property_operator rows[] = {
    OWN("sort(x)", 2, sort_values, two),
    OWN("sort(x, descending=true)", 2, sort_down, two),
    OWN("sort(x * w)", 2, sort_products, two),
    OWN("topk(x, N)", 2, sort_down, two),
    OWN("argsort(x)", 2, sort_positions, two),
    OWN("argsort(x, stable=true)", 2, sort_positions, two),
    OWN("scatter_add(x, 0, at, src)", 20, scatter_add, scatter_inputs),
    OWN("rope(x, c, s)", 3, rope, rope_inputs),
    OWN("rope(x, c, s, interleaved=true)", 3, rope, rope_inputs),
    {"quantize", "quantize(x, scale, i8)", 0, PROPERTY_OWN, 4, quantize, NULL, scale_inputs, CUPEL_I8},
    OWN("dequantize(x, scale, 3)", 1, dequantize, narrow_inputs),
};
const property_family property_order = {"order", rows, sizeof rows / sizeof *rows};
