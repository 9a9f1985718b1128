/* Correct kernels, written directly in single precision, in many forms. */
#include <math.h>
#include <string.h>

#include "property.h"

enum { LONGEST = 128 };

static void row_of(const property_input *in, int64_t row, int64_t n, float *out) {
    for (int64_t i = 0; i < n; i++) out[i] = (float)in->values[row * n + i];
}

static float row_max(const float *x, int64_t n) {
    float best = x[0];
    for (int64_t i = 1; i < n; i++)
        best = isnan(x[i]) || x[i] > best ? x[i] : best; /* NaN stays: nothing compares above it */
    for (int64_t i = 0; i < n; i++)
        if (isnan(x[i])) return x[i];
    return best;
}

/* exp(x - m): directly, or with log2(e) folded into both sides, by fma or not. */
static float shifted_exp(float x, float m, int form, int approximate, cupel_random *random) {
    const float log2e = 1.44269504f;
    if (form == 0 || !isfinite(x) || !isfinite(m)) return property_exp(x - m, approximate, random);
    if (form == 1) return exp2f(fmaf(x, log2e, -(m * log2e)));
    return exp2f(x * log2e - m * log2e);
}

/* Running maximum with rescaling, element by element; returns the sum, the maximum in *top. A maximum of -inf
 * (nothing but -inf so far) is no reference to rescale to. */
static float online(const float *x, int64_t n, float *top, int approximate, cupel_random *random) {
    float m = -INFINITY, s = 0;
    for (int64_t i = 0; i < n; i++) {
        const float next = isnan(x[i]) || x[i] > m ? x[i] : m, reference = isinf(next) && next < 0 ? 0 : next;
        const float rescale =
            i == 0 || (isinf(m) && m < 0) ? 0 : property_exp(m - reference, approximate, random);
        s = s * rescale + property_exp(x[i] - reference, approximate, random);
        m = next;
    }
    *top = m;
    return s;
}

static void softmax_row(property_problem *p, const float *x, int form, float *e, float *sum, float *top) {
    const int approximate = p->rules.fast_math ? form % 3 : 0;
    float m = row_max(x, p->n);
    if (form % 5 == 4 && isfinite(m)) {
        *sum = online(x, p->n, &m, approximate, &p->random);
        for (int64_t i = 0; i < p->n; i++) e[i] = property_exp(x[i] - m, approximate, &p->random);
    } else {
        for (int64_t i = 0; i < p->n; i++) e[i] = shifted_exp(x[i], m, form % 4, approximate, &p->random);
        *sum = property_sum(e, p->n, form, &p->random);
    }
    *top = m;
}

static void softmax(property_problem *p, int form, double *results) {
    float x[LONGEST], e[LONGEST], sum, top;
    for (int64_t row = 0; row < p->m; row++) {
        row_of(&p->inputs[0], row, p->n, x);
        softmax_row(p, x, form, e, &sum, &top);
        for (int64_t i = 0; i < p->n; i++)
            results[row * p->n + i] =
                property_divide(e[i], sum, p->rules.fast_math ? form % 3 : form % 2, &p->random);
    }
}

static void log_softmax(property_problem *p, int form, double *results) {
    float x[LONGEST], e[LONGEST], sum, top;
    for (int64_t row = 0; row < p->m; row++) {
        row_of(&p->inputs[0], row, p->n, x);
        softmax_row(p, x, form, e, &sum, &top);
        for (int64_t i = 0; i < p->n; i++) results[row * p->n + i] = (x[i] - top) - logf(sum);
    }
}

/* (x - mean) * rstd with the statistics by two passes, Welford, or Chan's merge of halves. */
typedef struct statistics {
    float mean, m2;
    int64_t n;
} statistics;

static statistics welford(property_problem *p, const float *x, int64_t n, int division) {
    statistics s = {0};
    for (int64_t i = 0; i < n; i++) {
        s.n++;
        const float delta = x[i] - s.mean;
        s.mean += property_divide(delta, (float)s.n, division, &p->random);
        s.m2 += delta * (x[i] - s.mean);
    }
    return s;
}

static statistics chan(property_problem *p, const float *x, int64_t n, int division) {
    if (n <= 2) return welford(p, x, n, division);
    const statistics a = chan(p, x, n / 2, division), b = chan(p, x + n / 2, n - n / 2, division);
    const float delta = b.mean - a.mean, total = (float)(a.n + b.n);
    statistics s = {.n = a.n + b.n};
    s.mean = a.mean + property_divide(delta * (float)b.n, total, division, &p->random);
    s.m2 =
        a.m2 + b.m2 + property_divide(delta * delta * (float)a.n * (float)b.n, total, division, &p->random);
    return s;
}

static statistics statistics_of(property_problem *p, const float *x, int form) {
    const int division = p->rules.fast_math ? form % 3 : form % 2;
    if (form % 4 == 1) return welford(p, x, p->n, division);
    if (form % 4 == 2) return chan(p, x, p->n, division);
    float d[LONGEST];
    statistics s = {.n = p->n};
    s.mean = property_divide(property_sum(x, p->n, form, &p->random), (float)p->n, division, &p->random);
    for (int64_t i = 0; i < p->n; i++) d[i] = (x[i] - s.mean) * (x[i] - s.mean);
    s.m2 = property_sum(d, p->n, form + 1, &p->random);
    return s;
}

static void layer_norm(property_problem *p, int form, double *results) {
    float x[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        row_of(&p->inputs[0], row, p->n, x);
        const statistics s = statistics_of(p, x, form);
        const float rstd =
            property_rsqrt(s.m2 / (float)p->n + 1e-5f, p->rules.fast_math ? form % 2 : 0, &p->random);
        for (int64_t i = 0; i < p->n; i++) {
            const float w = (float)p->inputs[1].values[i], b = (float)p->inputs[2].values[i];
            const float y = (x[i] - s.mean) * rstd;
            results[row * p->n + i] = form % 3 == 0   ? fmaf(y, w, b)
                                      : form % 3 == 1 ? y * w + b
                                                      : (x[i] - s.mean) * (rstd * w) + b;
        }
    }
}

static void variance(property_problem *p, int form, double *results) {
    float x[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        row_of(&p->inputs[0], row, p->n, x);
        const statistics s = statistics_of(p, x, form);
        results[row] = property_divide(s.m2, (float)p->n, form % 2, &p->random);
    }
}

static void rms_norm(property_problem *p, int form, double *results) {
    float x[LONGEST], d[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        row_of(&p->inputs[0], row, p->n, x);
        for (int64_t i = 0; i < p->n; i++) d[i] = x[i] * x[i];
        const float mean =
            property_divide(property_sum(d, p->n, form, &p->random), (float)p->n, form % 2, &p->random);
        const float scale = property_rsqrt(mean + 1e-5f, p->rules.fast_math ? form % 2 : 0, &p->random);
        for (int64_t i = 0; i < p->n; i++) {
            const float w = (float)p->inputs[1].values[i];
            const float root = sqrtf(mean + 1e-5f);
            results[row * p->n + i] = form % 3 == 0   ? x[i] * scale * w
                                      : form % 3 == 1 ? x[i] * (scale * w)
                                                      : x[i] / root * w;
        }
    }
}

static void matmul(property_problem *p, int form, double *results) {
    const property_input *x = &p->inputs[0], *w = &p->inputs[1];
    const bool bias = p->input_count > 2;
    for (int64_t i = 0; i < p->m; i++) {
        for (int64_t j = 0; j < p->k; j++) {
            float terms[LONGEST], start = bias ? (float)p->inputs[2].values[j] : 0, acc = 0;
            for (int64_t l = 0; l < p->n; l++)
                terms[l] = (float)x->values[i * p->n + l] * (float)w->values[l * p->k + j];
            if (form % 4 == 0) {
                acc = property_sum(terms, p->n, form, &p->random) + start;
            } else if (form % 4 == 1) { /* starts from the bias, fused */
                acc = start;
                for (int64_t l = 0; l < p->n; l++)
                    acc = fmaf((float)x->values[i * p->n + l], (float)w->values[l * p->k + j], acc);
            } else if (form % 4 == 2) { /* split K in two */
                acc = property_sum(terms, p->n / 2, form, &p->random) +
                      property_sum(terms + p->n / 2, p->n - p->n / 2, form, &p->random);
                acc += start;
            } else {
                acc = start;
                for (int64_t l = 0; l < p->n; l++) acc += terms[l];
            }
            results[i * p->k + j] = acc;
        }
    }
}

static void sum(property_problem *p, int form, double *results) {
    float x[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        row_of(&p->inputs[0], row, p->n, x);
        results[row] = property_sum(x, p->n, form, &p->random);
    }
}

static void mean(property_problem *p, int form, double *results) {
    float x[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        row_of(&p->inputs[0], row, p->n, x);
        if (form == 24) {
            results[row] = welford(p, x, p->n, 0).mean;
            continue;
        }
        const float inverse = 1.0f / (float)p->n;
        if (form % 3 == 2)
            for (int64_t i = 0; i < p->n; i++) x[i] *= inverse;
        const float s = property_sum(x, p->n, form, &p->random);
        results[row] = form % 3 == 0 ? s / (float)p->n : form % 3 == 1 ? s * inverse : s;
    }
}

static void scaled_sum(property_problem *p, int form, double *results) {
    float x[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        row_of(&p->inputs[0], row, p->n, x);
        if (form % 2)
            for (int64_t i = 0; i < p->n; i++) x[i] *= 0.3f;
        const float s = property_sum(x, p->n, form, &p->random);
        results[row] = form % 2 ? s : s * 0.3f;
    }
}

static void cumsum(property_problem *p, int form, double *results) {
    float x[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        row_of(&p->inputs[0], row, p->n, x);
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

static void largest(property_problem *p, int form, double *results) {
    float x[LONGEST];
    (void)form;
    for (int64_t row = 0; row < p->m; row++) {
        row_of(&p->inputs[0], row, p->n, x);
        results[row] = row_max(x, p->n);
    }
}

static void logsumexp(property_problem *p, int form, double *results) {
    float x[LONGEST], e[LONGEST];
    for (int64_t row = 0; row < p->m; row++) {
        row_of(&p->inputs[0], row, p->n, x);
        float m = row_max(x, p->n);
        if (isinf(m)) m = 0;
        for (int64_t i = 0; i < p->n; i++)
            e[i] = property_exp(x[i] - m, p->rules.fast_math ? form % 3 : 0, &p->random);
        results[row] = logf(property_sum(e, p->n, form, &p->random)) + m;
    }
}

/* Pointwise kernels, by the operator's name. */
static float sigmoid(float x, int form, property_problem *p) {
    const int approximate = p->rules.fast_math ? form % 3 : 0;
    if (form == 5) return 0.5f + 0.5f * tanhf(0.5f * x);
    return property_divide(1.0f, 1.0f + property_exp(-x, approximate, &p->random), approximate, &p->random);
}

static float pointwise_of(property_problem *p, const char *e, int form, float x, float w, float b) {
    const int approximate = p->rules.fast_math ? form % 3 : 0;
    if (!strcmp(e, "exp(x)")) return property_exp(x, approximate, &p->random);
    if (!strcmp(e, "log(x)")) return approximate ? log2f(x) * 0.693147181f : logf(x);
    if (!strcmp(e, "sqrt(x)")) return approximate ? property_nudge(sqrtf(x), 1, &p->random) : sqrtf(x);
    if (!strcmp(e, "rsqrt(x)")) return property_rsqrt(x, approximate, &p->random);
    if (!strcmp(e, "sin(x)")) return sinf(x);
    if (!strcmp(e, "tanh(x)"))
        return approximate && fabsf(x) < 40
                   ? 1.0f - 2.0f / (property_exp(2.0f * x, approximate, &p->random) + 1.0f)
                   : tanhf(x);
    if (!strcmp(e, "erf(x)")) return erff(x);
    if (!strcmp(e, "log1p(x)")) return log1pf(x);
    if (!strcmp(e, "expm1(x)")) return expm1f(x);
    if (!strcmp(e, "cosh(x)")) return coshf(x);
    if (!strcmp(e, "atan(x)")) return atanf(x);
    if (!strcmp(e, "sigmoid(x)")) return sigmoid(x, form, p);
    if (!strcmp(e, "softplus(x)"))
        return x > 20     ? x
               : form % 2 ? logf(1.0f + property_exp(x, approximate, &p->random))
                          : log1pf(expf(x));
    if (!strcmp(e, "elu(x)")) return x > 0 ? x : form % 2 ? expf(x) - 1.0f : expm1f(x);
    if (!strcmp(e, "logsigmoid(x)"))
        return fminf(x, 0.0f) - (form % 2 ? logf(1.0f + expf(-fabsf(x))) : log1pf(expf(-fabsf(x))));
    if (!strcmp(e, "silu(x)"))
        return form % 2 ? x * sigmoid(x, form, p)
                        : property_divide(x, 1.0f + property_exp(-x, approximate, &p->random), approximate,
                                          &p->random);
    if (!strcmp(e, "gelu(x)")) {
        const float cdf = 0.5f * (1.0f + erff(x * 0.70710678f));
        return form % 2 ? x * cdf : 0.5f * x * (1.0f + erff(x / 1.41421356f));
    }
    if (!strcmp(e, "relu(x)")) return isnan(x) ? x : x > 0 ? x : 0;
    if (!strcmp(e, "x * w + b")) return form % 2 ? fmaf(x, w, b) : x * w + b;
    if (!strcmp(e, "x * w * b")) return form % 3 == 0 ? x * w * b : form % 3 == 1 ? x * (w * b) : (x * b) * w;
    if (!strcmp(e, "x * w / b"))
        return form % 3 == 0 ? x * w / b : form % 3 == 1 ? x * (w / b) : x * w * (1.0f / b);
    if (!strcmp(e, "x / w")) return property_divide(x, w, approximate, &p->random);
    if (!strcmp(e, "x - w")) return x - w;
    if (!strcmp(e, "maximum(x, w)")) return isnan(x) || isnan(w) ? NAN : x > w ? x : w;
    if (!strcmp(e, "where(x > w, x, b)")) return x > w ? x : b;
    if (!strcmp(e, "abs(x)")) return fabsf(x);
    return NAN;
}

static void pointwise(property_problem *p, int form, double *results) {
    for (int64_t i = 0; i < p->count; i++) {
        const float x = (float)p->inputs[0].values[i];
        const float w = p->input_count > 1 ? (float)p->inputs[1].values[i] : 0;
        const float b = p->input_count > 2 ? (float)p->inputs[2].values[i] : 0;
        results[i] = pointwise_of(p, p->expression, form, x, w, b);
    }
}

const property_operator property_operators[] = {
    {"softmax", "softmax(x, axis=-1)", 1, 1, 40, softmax},
    {"log_softmax", "log_softmax(x, axis=-1)", 1, 1, 40, log_softmax},
    {"logsumexp", "logsumexp(x, axis=-1)", 1, 2, 8, logsumexp},
    {"layer_norm", "layer_norm(x, w, b, 1e-5)", 3, 1, 24, layer_norm},
    {"rms_norm", "rms_norm(x, w, 1e-5)", 2, 1, 24, rms_norm},
    {"var", "var(x, axis=-1, correction=0)", 1, 2, 24, variance},
    {"matmul", "matmul(x, w)", 2, 3, 32, matmul},
    {"matmul+bias", "matmul(x, w) + b", 3, 3, 32, matmul},
    {"sum", "sum(x, axis=-1)", 1, 2, 8, sum},
    {"mean", "mean(x, axis=-1)", 1, 2, 25, mean},
    {"sum*0.3", "sum(x, axis=-1) * 0.3", 1, 2, 16, scaled_sum},
    {"amax", "amax(x, axis=-1)", 1, 2, 1, largest},
    {"cumsum", "cumsum(x, axis=-1)", 1, 1, 3, cumsum},
#define POINTWISE(expression, inputs) {expression, expression, inputs, 0, 6, pointwise},
    POINTWISE("exp(x)", 1) POINTWISE("log(x)", 1) POINTWISE("sqrt(x)", 1) POINTWISE("rsqrt(x)", 1)
        POINTWISE("sin(x)", 1) POINTWISE("tanh(x)", 1) POINTWISE("erf(x)", 1) POINTWISE("log1p(x)", 1)
            POINTWISE("expm1(x)", 1) POINTWISE("cosh(x)", 1) POINTWISE("atan(x)", 1)
                POINTWISE("sigmoid(x)", 1) POINTWISE("silu(x)", 1) POINTWISE("gelu(x)", 1)
                    POINTWISE("softplus(x)", 1) POINTWISE("elu(x)", 1) POINTWISE("logsigmoid(x)", 1)
                        POINTWISE("relu(x)", 1) POINTWISE("x * w + b", 3) POINTWISE("x * w * b", 3)
                            POINTWISE("x * w / b", 3) POINTWISE("x / w", 2) POINTWISE("x - w", 2)
                                POINTWISE("maximum(x, w)", 2) POINTWISE("where(x > w, x, b)", 3)
                                    POINTWISE("abs(x)", 1)
#undef POINTWISE
};
const int property_operator_count = sizeof property_operators / sizeof *property_operators;
