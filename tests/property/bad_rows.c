/* Softmax and norms over rows with a fault. */
#include "bad_kernels.h"

enum { LONGEST = PROPERTY_LONGEST };

typedef void row_kernel(const property_problem *p, const float *x, double *y);

#define FAULT(name)                                                                                          \
    static void name##_of(const property_problem *p, const float *x, double *y);                             \
    static void name(property_problem *p, int form, double *results) {                                       \
        float x[LONGEST];                                                                                    \
        (void)form;                                                                                          \
        for (int64_t row = 0; row < p->m; row++) {                                                           \
            good_row(p, 0, row, x);                                                                          \
            name##_of(p, x, results + row * p->n);                                                           \
        }                                                                                                    \
    }                                                                                                        \
    static void name##_of(const property_problem *p, const float *x, double *y)

FAULT(plain_softmax) {
    float s = 0;
    for (int64_t i = 0; i < p->n; i++) s += expf(x[i]);
    for (int64_t i = 0; i < p->n; i++) y[i] = expf(x[i]) / s;
}
FAULT(padded_softmax) { /* lanes beyond the row count exp(0 - m) */
    const float m = fmaxf(good_max(x, p->n), 0);
    float s = (float)((p->n + 31) / 32 * 32 - p->n) * expf(-m);
    for (int64_t i = 0; i < p->n; i++) s += expf(x[i] - m);
    for (int64_t i = 0; i < p->n; i++) y[i] = expf(x[i] - m) / s;
}
FAULT(log_of_softmax) {
    const float m = good_max(x, p->n);
    float s = 0;
    for (int64_t i = 0; i < p->n; i++) s += expf(x[i] - m);
    for (int64_t i = 0; i < p->n; i++) y[i] = logf(expf(x[i] - m) / s);
}
/* x - (m + log s) is no fault of these: it is off by the rounding of m + log s, as a kernel is that folds
 * log2(e) into both sides of x - m. */

typedef struct moments {
    double mean, variance, square;
} moments;

static moments moments_of(const float *x, int64_t n) {
    moments m = {0};
    for (int64_t i = 0; i < n; i++) m.mean += x[i] / (double)n, m.square += (double)x[i] * x[i] / (double)n;
    for (int64_t i = 0; i < n; i++) m.variance += (x[i] - m.mean) * (x[i] - m.mean) / (double)n;
    return m;
}

FAULT(one_pass_norm) {
    float s = 0, q = 0;
    for (int64_t i = 0; i < p->n; i++) s += x[i], q += x[i] * x[i];
    const float mean = s / (float)p->n, variance = fmaxf(q / (float)p->n - mean * mean, 0);
    for (int64_t i = 0; i < p->n; i++)
        y[i] = (x[i] - mean) / sqrtf(variance + 1e-5f) * good_at(p, 1, 0, i) + good_at(p, 2, 0, i);
}
FAULT(outer_epsilon) {
    const moments m = moments_of(x, p->n);
    for (int64_t i = 0; i < p->n; i++)
        y[i] = (x[i] - m.mean) / (sqrt(m.variance) + 1e-5) * good_at(p, 1, 0, i) + good_at(p, 2, 0, i);
}
FAULT(unbiased_norm) {
    const moments m = moments_of(x, p->n);
    for (int64_t i = 0; i < p->n; i++)
        y[i] = (x[i] - m.mean) / sqrt(m.variance * (double)p->n / (double)(p->n - 1) + 1e-5) *
                   good_at(p, 1, 0, i) +
               good_at(p, 2, 0, i);
}
FAULT(centred_rms) {
    const moments m = moments_of(x, p->n);
    for (int64_t i = 0; i < p->n; i++) y[i] = x[i] / sqrt(m.variance + 1e-5) * good_at(p, 1, 0, i);
}
FAULT(rms_outer_epsilon) {
    const moments m = moments_of(x, p->n);
    for (int64_t i = 0; i < p->n; i++) y[i] = x[i] / (sqrt(m.square) + 1e-5) * good_at(p, 1, 0, i);
}
FAULT(added_epsilon) {
    const moments m = moments_of(x, p->n);
    for (int64_t i = 0; i < p->n; i++) y[i] = x[i] / sqrt(m.square * (double)p->n + 1e-5);
}

#define ROW(fault, expression, inputs, shadow)                                                               \
    {fault, expression, inputs, PROPERTY_ROWS, 1, shadow, NULL, NULL, 0},
/* clang-format off */
static const property_operator rows[] = {
    ROW("no maximum", "softmax(x, axis=-1)", 1, plain_softmax)
    ROW("padded with zeros", "softmax(x, axis=-1)", 1, padded_softmax)
    ROW("log(softmax(x))", "log_softmax(x, axis=-1)", 1, log_of_softmax)
    ROW("one pass", "layer_norm(x, w, b, 1e-5)", 3, one_pass_norm)
    ROW("epsilon outside the root", "layer_norm(x, w, b, 1e-5)", 3, outer_epsilon)
    ROW("divided by n - 1", "layer_norm(x, w, b, 1e-5)", 3, unbiased_norm)
    ROW("centred", "rms_norm(x, w, 1e-5)", 2, centred_rms)
    ROW("epsilon outside the root", "rms_norm(x, w, 1e-5)", 2, rms_outer_epsilon)
    ROW("epsilon inside the root", "l2_normalize(x)", 1, added_epsilon)
};
/* clang-format on */
const property_family bad_rows = {"rows", rows, sizeof rows / sizeof *rows};
