/* Arithmetic, extrema, choices, casts and products with a fault. */
#include "bad_kernels.h"

#define FAULT(name, result)                                                                                  \
    static float name(property_problem *p, int form, float x, float w, float b) {                            \
        (void)p, (void)form, (void)x, (void)w, (void)b;                                                      \
        return result;                                                                                       \
    }

static float chopped(float x, int bits) { /* towards zero */
    int exponent;
    return isfinite(x) ? ldexpf(truncf(ldexpf(frexpf(x, &exponent), bits)), exponent - bits) : x;
}

FAULT(half_sum, bad_half((double)x + w))
FAULT(half_product, bad_half((double)x *w))
FAULT(half_fma, bad_half((double)x *w) + b)
FAULT(half_quotient, x *bad_half(1 / (double)w))
FAULT(exp_of_log, (float)cupel_round(CUPEL_BF16, exp((double)w *log((double)x))))
FAULT(sign_of_divisor, fmodf(x, w) != 0 && (fmodf(x, w) < 0) != (w < 0) ? fmodf(x, w) + w : fmodf(x, w))
FAULT(sign_of_dividend, fmodf(x, w))
FAULT(half_plane, atanf(x / w))
FAULT(swallowed_maximum, fmaxf(x, w))
FAULT(swallowed_minimum, fminf(x, w))
FAULT(kept_maximum, isnan(x) || isnan(w) ? NAN : fmaxf(x, w))
FAULT(kept_minimum, isnan(x) || isnan(w) ? NAN : fminf(x, w))
FAULT(or_equal, x >= w ? x : b)
FAULT(swallowed_clamp, fminf(fmaxf(x, -1), 1.5f))
FAULT(lower_wins, isnan(x) || isnan(w) || isnan(b) ? NAN : fmaxf(fminf(x, b), w))
FAULT(chopped_f16, fabsf(x) > 1e-3f && fabsf(x) < 60000 ? chopped(x, 11) : (float)cupel_round(CUPEL_F16, x))
FAULT(chopped_bf16, chopped(x, 8))
FAULT(rounded_i32, rintf(x))
FAULT(nan_less, !(x >= w))

static void c_remainder(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++) {
        const int32_t i = (int32_t)p->inputs[0].values[e], j = (int32_t)p->inputs[1].values[e];
        results[e] = j == 0 ? 0 : i % j;
    }
}

static void integer_inputs(property_problem *p) {
    p->type = CUPEL_I32;
    property_fill_integers(p, property_add(p, "i", 2, p->m, p->n), -9, 9);
    property_fill_integers(p, property_add(p, "j", 2, p->m, p->n), -9, 9);
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

/* ---- products ---- */

static double element(const property_problem *p, int64_t i, int64_t l, int64_t j, bool rows) {
    const double *w = p->inputs[1].values;
    return p->inputs[0].values[i * p->n + l] * (rows ? w[j * p->n + l] : w[l * p->k + j]);
}

/* Half sums, or the last of an odd number of steps lost. */
static void products(property_problem *p, double *results, bool half, bool rows) {
    for (int64_t e = 0; e < p->m * p->k; e++) {
        double acc = 0;
        for (int64_t l = 0; l < (half ? p->n : p->n / 4 * 4); l++) {
            acc += element(p, e / p->k, l, e % p->k, rows);
            if (half) acc = bad_half(acc);
        }
        results[e] = acc;
    }
}

static void half_matmul(property_problem *p, int form, double *results) {
    (void)form;
    products(p, results, true, false);
}
static void short_matmul(property_problem *p, int form, double *results) {
    (void)form;
    products(p, results, false, false);
}
static void no_bias(property_problem *p, int form, double *results) {
    (void)form;
    products(p, results, false, true);
}
static void linear_inputs(property_problem *p) {
    p->k = 3;
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->k, p->n));
    property_fill_any(p, property_add(p, "b", 1, p->k, 0));
    property_expect(p, 2, (const int64_t[]){p->m, p->k});
}

static void half_outer(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t i = 0; i < p->count; i++)
        results[i] = bad_half(p->inputs[0].values[i / p->n] * p->inputs[1].values[i % p->n]);
}
static void outer_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 1, p->m, 0), p->pattern);
    property_fill_any(p, property_add(p, "w", 1, p->n, 0));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

#define ROW(fault, expression, inputs, scalar)                                                               \
    {fault, expression, inputs, PROPERTY_POINTWISE, 1, NULL, scalar, NULL, 0},
#define TRUTH(fault, expression, inputs, scalar)                                                             \
    {fault, expression, inputs, PROPERTY_POINTWISE, 1, NULL, scalar, NULL, CUPEL_I32},
/* clang-format off */
static const property_operator rows[] = {
    ROW("in half precision", "x + w", 2, half_sum)
    ROW("in half precision", "x * w", 2, half_product)
    ROW("half product", "x * w + b", 3, half_fma)
    ROW("half reciprocal", "x / w", 2, half_quotient)
    ROW("exp(w log x) in bf16", "pow(x, w)", 2, exp_of_log)
    ROW("sign of the divisor", "fmod(x, w)", 2, sign_of_divisor)
    ROW("sign of the dividend", "x % w", 2, sign_of_dividend)
    ROW("atan(x / w)", "atan2(x, w)", 2, half_plane)
    ROW("NaN swallowed", "maximum(x, w)", 2, swallowed_maximum)
    ROW("NaN swallowed", "minimum(x, w)", 2, swallowed_minimum)
    ROW("NaN kept", "fmax(x, w)", 2, kept_maximum)
    ROW("NaN kept", "fmin(x, w)", 2, kept_minimum)
    ROW("or equal", "where(x > w, x, b)", 3, or_equal)
    ROW("NaN swallowed", "clamp(x, -1, 1.5)", 1, swallowed_clamp)
    ROW("the lower bound wins", "clamp(x, w, b)", 3, lower_wins)
    ROW("towards zero", "cast(x, f16)", 1, chopped_f16)
    ROW("towards zero", "cast(x, bf16)", 1, chopped_bf16)
    TRUTH("to nearest", "cast(x, i32)", 1, rounded_i32)
    TRUTH("not greater or equal", "x < w", 2, nan_less)
    {"C's remainder", "i % j", 0, PROPERTY_OWN, 1, c_remainder, NULL, integer_inputs, 0},
    {"half accumulator", "matmul(x, w)", 2, PROPERTY_PRODUCT, 1, half_matmul, NULL, NULL, 0},
    {"dropped tail", "matmul(x, w)", 2, PROPERTY_PRODUCT, 1, short_matmul, NULL, NULL, 0},
    {"no bias", "linear(x, w, b)", 0, PROPERTY_OWN, 1, no_bias, NULL, linear_inputs, 0},
    {"in half precision", "outer(x, w)", 0, PROPERTY_OWN, 1, half_outer, NULL, outer_inputs, 0},
};
/* clang-format on */
const property_family bad_binary = {"binary", rows, sizeof rows / sizeof *rows};
