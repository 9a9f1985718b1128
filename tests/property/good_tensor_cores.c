/* Matrix products as tensor cores form them (ball.h, CUPEL_MATRIX_CUTS): products exact, each instruction's
 * terms and its accumulator aligned to the largest exponent and cut there, the sum cut to f32. A subnormal
 * operand has the exponent of the smallest normal number. */
#include "good_kernels.h"

enum { LONGEST_BLOCK = 16 };

/* The exponent that a unit sees in v, which is finite and not zero. */
static int exponent_of(double v, int least) {
    int e;
    frexp(v, &e);
    return e - 1 > least ? e - 1 : least;
}

/* v, cut to f32 towards zero. */
static float cut(double v) {
    const float near = (float)v;
    if (fabs((double)near) <= fabs(v)) return near;
    return nextafterf(near, 0);
}

/* One instruction: terms a[i] b[i] and the accumulator, with so many bits behind the leading one. */
static float instruction(float accumulator, const double *a, const double *b, int64_t count, int least,
                         int bits) {
    int top = accumulator != 0 ? exponent_of(accumulator, -126) : INT32_MIN;
    for (int64_t i = 0; i < count; i++) {
        if (a[i] == 0 || b[i] == 0) continue;
        const int e = exponent_of(a[i], least) + exponent_of(b[i], least);
        if (e > top) top = e;
    }
    if (top == INT32_MIN) return accumulator;
    const double last = ldexp(1, top - bits);
    double sum = trunc(accumulator / last);
    for (int64_t i = 0; i < count; i++) sum += trunc(a[i] * b[i] / last);
    return cut(sum * last);
}

/* x w, on top of c where there is one. */
static void matmul(property_problem *p, int form, double *results) {
    static const int64_t blocks[] = {4, 8, LONGEST_BLOCK};
    const int64_t block = blocks[form % 3];
    const int bits = 23 + form / 3 % 4, least = ilogb(p->rules.matrix_normal);
    for (int64_t i = 0; i < p->count; i++) {
        float sum = p->input_count > 2 ? (float)p->inputs[2].values[i] : 0;
        for (int64_t from = 0; from < p->n; from += block) {
            double a[LONGEST_BLOCK], b[LONGEST_BLOCK];
            const int64_t count = p->n - from < block ? p->n - from : block;
            for (int64_t l = 0; l < count; l++) {
                a[l] = p->inputs[0].values[i / p->k * p->n + from + l];
                b[l] = p->inputs[1].values[(from + l) * p->k + i % p->k];
            }
            sum = instruction(sum, a, b, count, least, bits);
        }
        results[i] = sum;
    }
}

/* Finite, no overflow; now and then many subnormals. */
static void tame(property_problem *p, property_input *input) {
    const bool small = cupel_random_below(&p->random, 2) != 0;
    const double normal = p->rules.matrix_normal;
    for (int64_t i = 0; i < input->count; i++) {
        double *v = &input->values[i];
        if (!(fabs(*v) < 0x1p15)) *v = (double)(i % 9) - 4;
        if (small && cupel_random_below(&p->random, 3) != 0)
            *v = cupel_round(input->type, normal * ((double)cupel_random_below(&p->random, 2048) / 1024 - 1));
    }
}

static void multiplied_in(property_problem *p, cupel_dtype type) {
    p->rules.working = CUPEL_F32;
    p->rules.subnormals = CUPEL_SUBNORMALS_KEEP;
    p->rules.matrix_normal = cupel_format_normal(type);
    p->k = 1 + (int64_t)cupel_random_below(&p->random, 4);
}

/* Subnormal numbers of all magnitudes, but for up to two elements. */
static void fill_with_subnormals(property_problem *p, property_input *input) {
    for (int64_t i = 0; i < input->count; i++) {
        const uint64_t most = (uint64_t)1 << cupel_random_below(&p->random, 10);
        const double whole = (double)(1 + cupel_random_below(&p->random, most));
        input->values[i] = ldexp(cupel_random_below(&p->random, 2) ? whole : -whole, -24);
    }
    for (int k = 0; k < (int)cupel_random_below(&p->random, 3); k++)
        input->values[cupel_random_below(&p->random, (uint64_t)input->count)] =
            ldexp(1, (int)cupel_random_below(&p->random, 25) - 14);
}

static void subnormal_matrices(property_problem *p) {
    multiplied_in(p, CUPEL_F16);
    fill_with_subnormals(p, property_add_shaped(p, "x", CUPEL_F16, 2, (const int64_t[]){p->m, p->n}));
    fill_with_subnormals(p, property_add_shaped(p, "w", CUPEL_F16, 2, (const int64_t[]){p->n, p->k}));
    property_expect(p, 2, (const int64_t[]){p->m, p->k});
}

/* Products that are all alike, so that the same is cut of each, and a term that they start with. */
static void joined_matrices(property_problem *p) {
    const double size = ldexp(1 + cupel_random_unit(&p->random), (int)cupel_random_below(&p->random, 12));
    const cupel_dtype type = cupel_random_below(&p->random, 2) ? CUPEL_F16 : CUPEL_BF16;
    multiplied_in(p, type);
    property_input *x = property_add_shaped(p, "x", type, 2, (const int64_t[]){p->m, p->n});
    property_input *w = property_add_shaped(p, "w", type, 2, (const int64_t[]){p->n, p->k});
    property_input *c = property_add_shaped(p, "c", CUPEL_F32, 2, (const int64_t[]){p->m, p->k});
    for (int64_t i = 0; i < x->count; i++) x->values[i] = cupel_round(type, size * 0x1p-12);
    for (int64_t i = 0; i < w->count; i++)
        w->values[i] =
            cupel_round(type, i < p->k ? cupel_random_unit(&p->random) * 0x1p-11 : w->values[i % p->k]);
    for (int64_t i = 0; i < c->count; i++) c->values[i] = (double)(float)(1 + cupel_random_unit(&p->random));
    property_expect(p, 2, (const int64_t[]){p->m, p->k});
}

static void matrices(property_problem *p) {
    static const cupel_dtype narrow[] = {CUPEL_F16, CUPEL_F16, CUPEL_BF16};
    const cupel_dtype type = narrow[cupel_random_below(&p->random, 3)];
    multiplied_in(p, type);
    property_input *x = property_add_shaped(p, "x", type, 2, (const int64_t[]){p->m, p->n});
    property_fill(p, x, p->pattern);
    tame(p, x);
    property_input *w = property_add_shaped(p, "w", type, 2, (const int64_t[]){p->n, p->k});
    property_fill_any(p, w);
    tame(p, w);
    property_expect(p, 2, (const int64_t[]){p->m, p->k});
}

static const property_operator rows[] = {
    {"matmul on tensor cores", "matmul(x, w)", 0, PROPERTY_OWN, 12, matmul, NULL, matrices, 0},
    {"matmul of subnormals on tensor cores", "matmul(x, w)", 0, PROPERTY_OWN, 12, matmul, NULL,
     subnormal_matrices, CUPEL_F32},
    {"matmul onto c on tensor cores", "c + matmul(x, w)", 0, PROPERTY_OWN, 12, matmul, NULL, joined_matrices,
     CUPEL_F32},
};
const property_family property_tensor_cores = {"tensor cores", rows, sizeof rows / sizeof *rows};
