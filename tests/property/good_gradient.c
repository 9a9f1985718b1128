/* Backward kernels, in the forms that are in use. x, and w as the upstream gradient. */
#include "good_kernels.h"

enum { LONGEST = PROPERTY_LONGEST };

static float sum_of_products(property_problem *p, const float *x, const float *y, int64_t n, int form) {
    float product[LONGEST], total = 0;
    if (form % 3 == 0) {
        for (int64_t i = 0; i < n; i++) total = fmaf(x[i], y[i], total);
        return total;
    }
    for (int64_t i = 0; i < n; i++) product[i] = x[i] * y[i];
    return good_sum(p, product, n, form);
}

/* y (dy - s), y dy - y s, or with the division by the sum of exponentials last. */
static void softmax(property_problem *p, int form, double *results) {
    float x[LONGEST], dy[LONGEST], e[LONGEST], y[LONGEST], sum, top;
    for (int64_t row = 0; row < p->m; row++) {
        double *dx = results + row * p->n;
        good_row(p, 0, row, x);
        good_row(p, 1, row, dy);
        good_softmax_row(p, x, p->n, form, e, &sum, &top);
        for (int64_t i = 0; i < p->n; i++) y[i] = good_divide(p, e[i], sum);
        const float s = sum_of_products(p, y, dy, p->n, form / 3);
        const float late = good_divide(p, sum_of_products(p, e, dy, p->n, form / 3), sum);
        for (int64_t i = 0; i < p->n; i++) switch (form % 4) {
            case 0: dx[i] = y[i] * (dy[i] - s); break;
            case 1: dx[i] = y[i] * dy[i] - y[i] * s; break;
            case 2: dx[i] = fmaf(-y[i], s, y[i] * dy[i]); break;
            default: dx[i] = good_divide(p, e[i] * (dy[i] - late), sum); break;
            }
    }
}

static void log_softmax(property_problem *p, int form, double *results) {
    float x[LONGEST], dy[LONGEST], e[LONGEST], sum, top;
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        good_row(p, 1, row, dy);
        good_softmax_row(p, x, p->n, form, e, &sum, &top);
        const float logarithm = good_log(p, sum), s = good_sum(p, dy, p->n, form / 2);
        for (int64_t i = 0; i < p->n; i++) {
            const float y = form % 2 ? good_divide(p, e[i], sum) : good_exp(p, (x[i] - top) - logarithm);
            results[row * p->n + i] = form % 3 == 0 ? fmaf(-y, s, dy[i]) : dy[i] - y * s;
        }
    }
}

static void logsumexp(property_problem *p, int form, double *results) {
    float x[LONGEST], e[LONGEST], sum, top;
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        good_softmax_row(p, x, p->n, form, e, &sum, &top);
        const float dy = good_at(p, 1, row, 0), y = good_log(p, sum) + top;
        for (int64_t i = 0; i < p->n; i++)
            results[row * p->n + i] = dy * (form % 2 ? good_divide(p, e[i], sum) : good_exp(p, x[i] - y));
    }
}

/* The mean cross entropy of classes. */
static void cross_entropy(property_problem *p, int form, double *results) {
    float x[LONGEST], e[LONGEST], sum, top;
    const float dy = (float)p->inputs[2].values[0];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        good_softmax_row(p, x, p->n, form, e, &sum, &top);
        const int64_t target = (int64_t)p->inputs[1].values[row];
        for (int64_t i = 0; i < p->n; i++) {
            const float off = good_divide(p, e[i], sum) - (i == target ? 1.0f : 0.0f);
            results[row * p->n + i] =
                form % 2 ? off * good_divide(p, dy, (float)p->m) : good_divide(p, off * dy, (float)p->m);
        }
    }
}

static void cross_entropy_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_input *t = property_add_shaped(p, "i", CUPEL_I32, 1, (const int64_t[]){p->m});
    property_fill_integers(p, t, 0, p->n - 1);
    property_fill_any(p, property_add(p, "w", 1, 1, 0));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

/* ---- norms ---- */

/* x, w of x's shape for the upstream, b [n] for the weight. */
static void norm_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->m, p->n));
    property_fill_any(p, property_add(p, "b", 1, p->n, 0));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static float weighted(property_problem *p, int64_t row, float *g) {
    good_row(p, 1, row, g);
    for (int64_t i = 0; i < p->n; i++) g[i] *= good_at(p, 2, 0, i);
    return (float)p->n;
}

/* rstd / n (n g - sum g - xhat sum(g xhat)), or with means; statistics by two passes or Welford. */
static void layer_norm(property_problem *p, int form, double *results) {
    float x[LONGEST], g[LONGEST], xhat[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        double *dx = results + row * p->n;
        good_row(p, 0, row, x);
        const float n = weighted(p, row, g);
        const good_statistics s = good_statistics_of(p, x, p->n, form);
        const float rstd = good_rsqrt(p, s.m2 / n + 1e-5f);
        for (int64_t i = 0; i < p->n; i++) xhat[i] = (x[i] - s.mean) * rstd;
        const float sum = good_sum(p, g, p->n, form / 3), along = sum_of_products(p, g, xhat, p->n, form / 2);
        for (int64_t i = 0; i < p->n; i++) switch (form % 4) {
            case 0: dx[i] = (rstd / n) * (n * g[i] - sum - xhat[i] * along); break;
            case 1: dx[i] = rstd * (g[i] - sum / n - xhat[i] * (along / n)); break;
            case 2: dx[i] = rstd * (g[i] - (sum + xhat[i] * along) * (1 / n)); break;
            default: dx[i] = rstd * fmaf(-xhat[i], along / n, g[i] - sum / n); break;
            }
    }
}

static void rms_norm(property_problem *p, int form, double *results) {
    float x[LONGEST], g[LONGEST], xhat[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        double *dx = results + row * p->n;
        good_row(p, 0, row, x);
        const float n = weighted(p, row, g), square = sum_of_products(p, x, x, p->n, form);
        const float r = good_rsqrt(p, square / n + 1e-5f);
        for (int64_t i = 0; i < p->n; i++) xhat[i] = x[i] * r;
        const float along = sum_of_products(p, g, xhat, p->n, form / 2);
        for (int64_t i = 0; i < p->n; i++)
            dx[i] = form % 2 ? r * (g[i] - xhat[i] * (along / n)) : (r / n) * (n * g[i] - xhat[i] * along);
    }
}

/* The gradient by the weight: the sum down the columns of dy xhat. */
static void layer_norm_weight(property_problem *p, int form, double *results) {
    float x[LONGEST], part[3][LONGEST], column[3];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        const good_statistics s = good_statistics_of(p, x, p->n, form);
        const float rstd = good_rsqrt(p, s.m2 / (float)p->n + 1e-5f);
        for (int64_t i = 0; i < p->n; i++) part[row][i] = good_at(p, 1, row, i) * ((x[i] - s.mean) * rstd);
    }
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t row = 0; row < p->m; row++) column[row] = part[row][i];
        results[i] = good_sum(p, column, p->m, form);
    }
}

static void weight_inputs(property_problem *p) {
    norm_inputs(p);
    property_expect(p, 1, (const int64_t[]){p->n});
}

/* (dy - y s) / norm, or dy / norm - x (s / norm). */
static void l2_normalize(property_problem *p, int form, double *results) {
    float x[LONGEST], dy[LONGEST], y[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        good_row(p, 0, row, x);
        good_row(p, 1, row, dy);
        const float norm = good_sqrt(p, sum_of_products(p, x, x, p->n, form)), divisor = fmaxf(norm, 1e-12f);
        for (int64_t i = 0; i < p->n; i++) y[i] = good_divide(p, x[i], divisor);
        const float s = sum_of_products(p, y, dy, p->n, form / 2);
        for (int64_t i = 0; i < p->n; i++) {
            const float inner = norm >= 1e-12f || isnan(norm) ? dy[i] - y[i] * s : dy[i];
            results[row * p->n + i] = good_divide(p, inner, divisor);
        }
    }
}

/* ---- elementwise ---- */

static float sigmoid_of(property_problem *p, int form, float x) {
    return form % 3 == 0 ? 0.5f + 0.5f * tanhf(0.5f * x) : good_divide(p, 1.0f, 1.0f + good_exp(p, -x));
}

static float sigmoid(property_problem *p, int form, float x, float dy, float unused) {
    (void)unused;
    const float y = sigmoid_of(p, form, x);
    return form % 2 ? dy * y * (1.0f - y) : dy * ((1.0f - y) * y);
}

static float tanh_backward(property_problem *p, int form, float x, float dy, float unused) {
    (void)unused, (void)p;
    const float y = tanhf(x);
    return form % 2 ? dy * (1.0f - y * y) : dy * fmaf(-y, y, 1.0f);
}

static float silu(property_problem *p, int form, float x, float dy, float unused) {
    (void)unused;
    const float s = sigmoid_of(p, form / 4, x);
    switch (form % 4) {
    case 0: return dy * s * (1.0f + x * (1.0f - s));
    case 1: return dy * (s * fmaf(x, 1.0f - s, 1.0f));
    case 2: return dy * (s + s * x * (1.0f - s));
    default: return dy * (s + (x * s) * (1.0f - s));
    }
}

static float gelu(property_problem *p, int form, float x, float dy, float unused) {
    (void)unused;
    const float cdf = 0.5f * (1.0f + erff(x * 0.70710678f));
    const float pdf = good_exp(p, -0.5f * x * x) * 0.39894228f;
    return form % 2 ? dy * (cdf + x * pdf) : dy * cdf + dy * (x * pdf);
}

static float gelu_tanh(property_problem *p, int form, float x, float dy, float unused) {
    (void)unused, (void)p;
    const float beta = 0.79788456f, k = 0.044715f, square = x * x;
    const float t = tanhf(beta * (x + k * (square * x)));
    const float inner = beta * (1.0f + 3.0f * k * square);
    const float right = 0.5f * x * (1.0f - t * t) * inner;
    return form % 2 ? dy * (0.5f * (1.0f + t) + right) : dy * 0.5f * (1.0f + t) + dy * right;
}

static float softplus(property_problem *p, int form, float x, float dy, float unused) {
    (void)unused;
    if (x > 20.0f) return dy;
    const float z = good_exp(p, x);
    return form % 2 ? dy * sigmoid_of(p, form, x) : good_divide(p, dy * z, z + 1.0f);
}

static float elu(property_problem *p, int form, float x, float dy, float unused) {
    (void)unused;
    if (x > 0) return dy;
    return form % 2 ? dy * good_exp(p, x) : dy * (expm1f(x) + 1.0f);
}

static float relu(property_problem *p, int form, float x, float dy, float unused) {
    (void)unused, (void)p;
    return form % 2 ? (x <= 0 ? 0.0f : dy) : dy * (x > 0 || isnan(x) ? 1.0f : 0.0f);
}

static float square_root(property_problem *p, int form, float x, float dy, float unused) {
    (void)unused;
    if (form % 2) return good_divide(p, dy, 2.0f * good_sqrt(p, x));
    return 0.5f * dy * good_rsqrt(p, x);
}

static float quotient(property_problem *p, int form, float x, float dy, float w) {
    if (form % 2) return -dy * good_divide(p, good_divide(p, x, w), w);
    return good_divide(p, -(dy * x), w * w);
}

/* ---- products and scans ---- */

/* dA = dC B': x [m, k] the upstream, w [n, k]. */
static void matmul(property_problem *p, int form, double *results) {
    float row[LONGEST], column[LONGEST];
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            for (int64_t k = 0; k < p->k; k++) {
                row[k] = (float)p->inputs[1].values[i * p->k + k];
                column[k] = (float)p->inputs[2].values[j * p->k + k];
            }
            results[i * p->n + j] = sum_of_products(p, row, column, p->k, form);
        }
}

static void matmul_inputs(property_problem *p) {
    p->k = 1 + p->n % 7;
    property_fill_any(p, property_add(p, "x", 2, p->m, p->n));
    property_fill(p, property_add(p, "w", 2, p->m, p->k), p->pattern);
    property_fill_any(p, property_add(p, "b", 2, p->n, p->k));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void cumsum(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t row = 0; row < p->m; row++) {
        float total = 0;
        for (int64_t i = p->n; i-- > 0;) results[row * p->n + i] = total += good_at(p, 1, row, i);
    }
}

static void mean_square(property_problem *p, int form, double *results) {
    const float dy = (float)p->inputs[2].values[0], count = (float)p->count;
    for (int64_t i = 0; i < p->count; i++) {
        const float d = (float)p->inputs[0].values[i] - (float)p->inputs[1].values[i];
        results[i] = form % 2 ? good_divide(p, 2.0f * d * dy, count) : d * (dy * (2.0f / count));
    }
}

static void loss_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->m, p->n));
    property_fill_any(p, property_add(p, "b", 1, 1, 0));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void conv1d(property_problem *p, int form, double *results) {
    float terms[2 * 3];
    for (int64_t c = 0; c < 2; c++)
        for (int64_t i = 0; i < p->n; i++) {
            int64_t used = 0;
            for (int64_t o = 0; o < 2; o++)
                for (int64_t k = 0; k < 3; k++) {
                    const int64_t at = i + 1 - k;
                    if (at < 0 || at >= p->n) continue;
                    terms[used++] = (float)p->inputs[1].values[o * p->n + at] *
                                    (float)p->inputs[2].values[(o * 2 + c) * 3 + k];
                }
            results[c * p->n + i] = good_sum(p, terms, used, form);
        }
}

static void conv1d_inputs(property_problem *p) {
    if (p->n < 2) p->n = 2;
    property_fill_any(p, property_add(p, "x", 2, 2, p->n));
    property_fill(p, property_add(p, "w", 2, 2, p->n), p->pattern);
    property_fill_any(p, property_add_shaped(p, "b", p->type, 3, (const int64_t[]){2, 2, 3}));
    property_expect(p, 2, (const int64_t[]){2, p->n});
}

#define ROW(name, expression, forms, shadow)                                                                 \
    { name " backward", expression, 2, PROPERTY_POINTWISE, forms, shadow, NULL, NULL, 0 }
#define OWN(name, expression, forms, shadow, prepare)                                                        \
    { name " backward", expression, 0, PROPERTY_OWN, forms, shadow, NULL, prepare, 0 }
#define SCALAR(name, expression, inputs, forms, scalar)                                                      \
    { name " backward", expression, inputs, PROPERTY_POINTWISE, forms, NULL, scalar, NULL, 0 }

static const property_operator rows[] = {
    ROW("softmax", "vjp(softmax(x, axis=-1), x, w)", 210, softmax),
    ROW("log_softmax", "vjp(log_softmax(x, axis=-1), x, w)", 120, log_softmax),
    ROW("logsumexp", "vjp(logsumexp(x, axis=-1), x, w[:, 0])", 40, logsumexp),
    OWN("cross_entropy", "vjp(cross_entropy(x, i), x, w[0])", 40, cross_entropy, cross_entropy_inputs),
    OWN("layer_norm", "vjp(layer_norm(x, b), x, w)", 120, layer_norm, norm_inputs),
    OWN("layer_norm weight", "vjp(layer_norm(x, b), b, w)", 40, layer_norm_weight, weight_inputs),
    OWN("rms_norm", "vjp(rms_norm(x, b), x, w)", 80, rms_norm, norm_inputs),
    ROW("l2_normalize", "vjp(l2_normalize(x), x, w)", 80, l2_normalize),
    SCALAR("sigmoid", "vjp(sigmoid(x), x, w)", 2, 6, sigmoid),
    SCALAR("tanh", "vjp(tanh(x), x, w)", 2, 2, tanh_backward),
    SCALAR("silu", "vjp(silu(x), x, w)", 2, 24, silu),
    SCALAR("gelu", "vjp(gelu(x), x, w)", 2, 2, gelu),
    SCALAR("gelu_tanh", "vjp(gelu(x, \"tanh\"), x, w)", 2, 2, gelu_tanh),
    SCALAR("softplus", "vjp(softplus(x), x, w)", 2, 6, softplus),
    SCALAR("elu", "vjp(elu(x), x, w)", 2, 2, elu),
    SCALAR("relu", "vjp(relu(x), x, w)", 2, 2, relu),
    SCALAR("sqrt", "vjp(sqrt(x), x, w)", 2, 2, square_root),
    SCALAR("quotient", "vjp(x / b, b, w)", 3, 2, quotient),
    OWN("matmul", "vjp(matmul(x, b), x, w)", 40, matmul, matmul_inputs),
    ROW("cumsum", "vjp(cumsum(x, axis=-1), x, w)", 1, cumsum),
    OWN("mse_loss", "vjp(mse_loss(x, w), x, b[0])", 2, mean_square, loss_inputs),
    OWN("conv1d", "vjp(conv1d(x, b, padding=1), x, w)", 40, conv1d, conv1d_inputs),
};
const property_family property_gradient = {"gradient", rows, sizeof rows / sizeof *rows};
