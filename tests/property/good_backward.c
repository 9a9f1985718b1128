/* Backward kernels, in the formulas that PyTorch and fused kernels use: from the inputs alone, or from an
 * output computed again. */
#include "good_kernels.h"

enum { LONGEST = PROPERTY_LONGEST };

/* ---- one element: dy by the derivative; x and w are inputs, b is dy ---- */

#define SCALAR(name)                                                                                         \
    static float name(property_problem *p, int form, float x, float w, float b);                             \
    static float name(property_problem *p, int form, float x, float w, float b)
#define UNUSED (void)p, (void)form, (void)x, (void)w, (void)b
#define PLAIN(name, result)                                                                                  \
    SCALAR(name) {                                                                                           \
        UNUSED;                                                                                              \
        return result;                                                                                       \
    }

static float sigmoid(property_problem *p, int form, float x) {
    return form % 2 ? 0.5f + 0.5f * tanhf(0.5f * x) : good_divide(p, 1.0f, 1.0f + good_exp(p, -x));
}

PLAIN(by_exp, form ? b *good_exp(p, x) : good_exp(p, x) * b)
PLAIN(by_log, form ? good_divide(p, b, x) : b *(1.0f / x))
PLAIN(by_product, b *w)
PLAIN(by_dividend, form ? good_divide(p, b, w) : b *(1.0f / w))
PLAIN(by_relu, x > 0 ? b : 0)
PLAIN(by_leaky, x > 0 ? b : 0.01f * b)
PLAIN(by_abs, x > 0 ? b : x < 0 ? -b : 0)
PLAIN(by_clamp, x >= -1 && x <= 1.5f ? b : 0)
PLAIN(by_square, form ? 2.0f * x *b : b *(x + x))
PLAIN(by_sin, b *cosf(x))

SCALAR(by_divisor) {
    UNUSED;
    if (form % 3 == 0) return -b * good_divide(p, x, w * w);
    if (form % 3 == 1) return -(b * x) * (1.0f / (w * w));
    return -good_divide(p, good_divide(p, b * x, w), w);
}

SCALAR(by_sqrt) {
    UNUSED;
    return form ? b * (0.5f * good_rsqrt(p, x)) : good_divide(p, b, 2.0f * good_sqrt(p, x));
}

SCALAR(by_tanh) {
    UNUSED;
    const float y = tanhf(x);
    if (form == 2) return b * (1.0f - y) * (1.0f + y);
    return form ? b * (1.0f - y * y) : b * fmaf(-y, y, 1.0f);
}

SCALAR(by_sigmoid) {
    UNUSED;
    const float y = sigmoid(p, form / 2, x);
    return form % 2 ? b * (y * (1.0f - y)) : b * y * (1.0f - y);
}

SCALAR(by_silu) {
    UNUSED;
    const float s = sigmoid(p, form / 2, x);
    return form % 2 ? b * (s * (1.0f + x * (1.0f - s))) : b * s * fmaf(x, 1.0f - s, 1.0f);
}

SCALAR(by_gelu) {
    UNUSED;
    const float cdf = 0.5f * (1.0f + erff(x * 0.70710678f)), pdf = good_exp(p, -0.5f * x * x) * 0.39894228f;
    return form ? b * fmaf(x, pdf, cdf) : b * (cdf + x * pdf);
}

SCALAR(by_softplus) {
    UNUSED;
    if (x > 20) return b;
    const float e = good_exp(p, x);
    return form ? b * sigmoid(p, 0, x) : good_divide(p, b * e, e + 1.0f);
}

SCALAR(by_elu) {
    UNUSED;
    return x > 0 ? b : form ? b * (expm1f(x) + 1.0f) : b * good_exp(p, x);
}

/* ---- rows: x, w (weights) and dy (last) ---- */

static void rows_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 1, p->n, 0));
    property_fill_any(p, property_add(p, "b", 1, p->n, 0));
    property_fill_any(p, property_add(p, "dy", 2, p->m, p->n));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void weight_inputs(property_problem *p) {
    rows_inputs(p);
    property_expect(p, 1, &p->n);
}

static float weighted(property_problem *p, const float *y, int64_t row, int form) {
    float terms[LONGEST];
    for (int64_t i = 0; i < p->n; i++) terms[i] = y[i] * good_at(p, 3, row, i);
    return good_sum(p, terms, p->n, form);
}

static void softmax(property_problem *p, int form, double *results) {
    float x[LONGEST], y[LONGEST], sum, top;
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        good_softmax_row(p, x, p->n, form, y, &sum, &top);
        for (int64_t i = 0; i < p->n; i++) y[i] = good_divide(p, y[i], sum);
        const float along = weighted(p, y, row, form / 4);
        for (int64_t i = 0; i < p->n; i++) {
            const float dy = good_at(p, 3, row, i);
            results[row * p->n + i] = form % 2 ? y[i] * (dy - along) : fmaf(-y[i], along, y[i] * dy);
        }
    }
}

static void log_softmax(property_problem *p, int form, double *results) {
    float x[LONGEST], e[LONGEST], dy[LONGEST], sum, top;
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x), good_row(p, 3, row, dy);
        good_softmax_row(p, x, p->n, form, e, &sum, &top);
        const float all = good_sum(p, dy, p->n, form / 4), logarithm = good_log(p, sum);
        for (int64_t i = 0; i < p->n; i++) {
            const float y = form % 2 ? good_exp(p, (x[i] - top) - logarithm) : good_divide(p, e[i], sum);
            results[row * p->n + i] = dy[i] - y * all;
        }
    }
}

/* Normalised rows: xhat and rstd, by variance or by the mean square. */
static float normalised(property_problem *p, int64_t row, bool centred, int form, float *xhat) {
    float x[LONGEST], d[LONGEST];
    good_row(p, 0, row, x);
    good_statistics s = {0};
    if (centred) {
        s = good_statistics_of(p, x, p->n, form);
    } else {
        for (int64_t i = 0; i < p->n; i++) d[i] = x[i] * x[i];
        s.m2 = good_sum(p, d, p->n, form);
    }
    const float rstd = good_rsqrt(p, s.m2 / (float)p->n + 1e-5f);
    for (int64_t i = 0; i < p->n; i++) xhat[i] = (x[i] - s.mean) * rstd;
    return rstd;
}

static void norm_by_x(property_problem *p, bool centred, int form, double *results) {
    float xhat[LONGEST], g[LONGEST], d[LONGEST];
    const float n = (float)p->n;
    for (int64_t row = 0; row < p->m; row++) {
        const float rstd = normalised(p, row, centred, form, xhat);
        for (int64_t i = 0; i < p->n; i++)
            g[i] = good_at(p, 3, row, i) * good_at(p, 1, 0, i), d[i] = g[i] * xhat[i];
        const float sum = centred ? good_sum(p, g, p->n, form / 4) : 0,
                    along = good_sum(p, d, p->n, form / 4 + 1);
        const float scaled = form % 2 ? good_divide(p, rstd, n) : 0, mean = good_divide(p, sum, n),
                    part = good_divide(p, along, n);
        for (int64_t i = 0; i < p->n; i++)
            results[row * p->n + i] = form % 2 ? scaled * ((n * g[i] - sum) - xhat[i] * along)
                                               : rstd * ((g[i] - mean) - xhat[i] * part);
    }
}

static void layer_norm(property_problem *p, int form, double *results) {
    norm_by_x(p, true, form, results);
}
static void rms_norm(property_problem *p, int form, double *results) {
    norm_by_x(p, false, form, results);
}

static void layer_norm_weight(property_problem *p, int form, double *results) {
    float terms[3][LONGEST], column[3];
    for (int64_t row = 0; row < p->m; row++) {
        normalised(p, row, true, form, terms[row]);
        for (int64_t i = 0; i < p->n; i++) terms[row][i] *= good_at(p, 3, row, i);
    }
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t row = 0; row < p->m; row++) column[row] = terms[row][i];
        results[i] = good_sum(p, column, p->m, form / 4);
    }
}

static void columns_of(property_problem *p, int form, double *results) {
    float column[3];
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t row = 0; row < p->m; row++) column[row] = good_at(p, 3, row, i);
        results[i] = good_sum(p, column, p->m, form);
    }
}

/* Running sums from the end. */
static void cumsum(property_problem *p, int form, double *results) {
    float x[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 3, row, x);
        for (int64_t i = 0; i < p->n; i++) results[row * p->n + i] = good_sum(p, x + i, p->n - i, form);
    }
}

/* ---- products ---- */

static void product_inputs(property_problem *p) {
    p->k = 1 + (int64_t)cupel_random_below(&p->random, 5);
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->n, p->k));
    property_fill_any(p, property_add(p, "dy", 2, p->m, p->k));
}

static void by_left_inputs(property_problem *p) {
    product_inputs(p);
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}
static void by_right_inputs(property_problem *p) {
    product_inputs(p);
    property_expect(p, 2, (const int64_t[]){p->n, p->k});
}

static void by_left(property_problem *p, int form, double *results) {
    float terms[8];
    for (int64_t e = 0; e < p->count; e++) {
        for (int64_t j = 0; j < p->k; j++) terms[j] = good_at(p, 2, e / p->n, j) * good_at(p, 1, e % p->n, j);
        results[e] = good_sum(p, terms, p->k, form);
    }
}
static void by_right(property_problem *p, int form, double *results) {
    float terms[3];
    for (int64_t e = 0; e < p->count; e++) {
        for (int64_t i = 0; i < p->m; i++) terms[i] = good_at(p, 0, i, e / p->k) * good_at(p, 2, i, e % p->k);
        results[e] = good_sum(p, terms, p->m, form);
    }
}

/* ---- losses, whose cotangent is a number g ---- */

static void loss_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "t", 2, p->m, p->n));
    property_fill_any(p, property_add(p, "g", 0, 0, 0));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void mse(property_problem *p, int form, double *results) {
    const float g = (float)p->inputs[2].values[0], n = (float)(p->m * p->n);
    for (int64_t e = 0; e < p->count; e++) {
        const float d = (float)p->inputs[0].values[e] - (float)p->inputs[1].values[e];
        results[e] = form % 3 == 0   ? good_divide(p, 2.0f, n) * d * g
                     : form % 3 == 1 ? g * (2.0f * d / n)
                                     : 2.0f * (d * (g / n));
    }
}

static void class_inputs(property_problem *p) {
    const cupel_dtype type = p->type;
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    p->type = CUPEL_I32;
    property_fill_integers(p, property_add(p, "t", 1, p->m, 0), 0, p->n - 1);
    p->type = type;
    property_fill_any(p, property_add(p, "g", 0, 0, 0));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void cross_entropy(property_problem *p, int form, double *results) {
    float x[LONGEST], e[LONGEST], sum, top;
    const float share = good_divide(p, (float)p->inputs[2].values[0], (float)p->m);
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        good_softmax_row(p, x, p->n, form, e, &sum, &top);
        for (int64_t i = 0; i < p->n; i++) {
            const float y = good_divide(p, e[i], sum), one = p->inputs[1].values[row] == (double)i;
            results[row * p->n + i] = (y - one) * share;
        }
    }
}

#define ROW(expression, forms, scalar)                                                                       \
    {expression, expression, 3, PROPERTY_POINTWISE, forms, NULL, scalar, NULL, 0},
#define OWN(expression, forms, shadow, inputs)                                                               \
    {expression, expression, 0, PROPERTY_OWN, forms, shadow, NULL, inputs, 0},
/* clang-format off */
static const property_operator rows[] = {
    ROW("vjp(exp(x), x, b)", 2, by_exp) ROW("vjp(log(x), x, b)", 2, by_log) ROW("vjp(sqrt(x), x, b)", 2, by_sqrt)
    ROW("vjp(sin(x), x, b)", 1, by_sin) ROW("vjp(tanh(x), x, b)", 3, by_tanh) ROW("vjp(x ** 2, x, b)", 2, by_square)
    ROW("vjp(x * w, x, b)", 1, by_product) ROW("vjp(x / w, x, b)", 2, by_dividend)
    ROW("vjp(x / w, w, b)", 3, by_divisor) ROW("vjp(abs(x), x, b)", 1, by_abs)
    ROW("vjp(clamp(x, -1, 1.5), x, b)", 1, by_clamp) ROW("vjp(relu(x), x, b)", 1, by_relu)
    ROW("vjp(leaky_relu(x), x, b)", 1, by_leaky) ROW("vjp(sigmoid(x), x, b)", 4, by_sigmoid)
    ROW("vjp(silu(x), x, b)", 4, by_silu) ROW("vjp(gelu(x), x, b)", 2, by_gelu)
    ROW("vjp(softplus(x), x, b)", 2, by_softplus) ROW("vjp(elu(x), x, b)", 2, by_elu)
    OWN("vjp(softmax(x, axis=-1), x, dy)", 40, softmax, rows_inputs)
    OWN("vjp(log_softmax(x, axis=-1), x, dy)", 40, log_softmax, rows_inputs)
    OWN("vjp(layer_norm(x, w, b), x, dy)", 40, layer_norm, rows_inputs)
    OWN("vjp(layer_norm(x, w, b), w, dy)", 40, layer_norm_weight, weight_inputs)
    OWN("vjp(layer_norm(x, w, b), b, dy)", 10, columns_of, weight_inputs)
    OWN("vjp(rms_norm(x, w), x, dy)", 40, rms_norm, rows_inputs)
    OWN("vjp(cumsum(x, axis=-1), x, dy)", 10, cumsum, rows_inputs)
    OWN("vjp(matmul(x, w), x, dy)", 10, by_left, by_left_inputs)
    OWN("vjp(matmul(x, w), w, dy)", 10, by_right, by_right_inputs)
    OWN("vjp(mse_loss(x, t), x, g)", 3, mse, loss_inputs)
    OWN("vjp(cross_entropy(x, t), x, g)", 40, cross_entropy, class_inputs)
};
/* clang-format on */
const property_family property_backward = {"backward", rows, sizeof rows / sizeof *rows};
