/* Reductions and scans with a fault: correct but for it, in double precision. */
#include <float.h>

#include "bad_kernels.h"

typedef double reduce(const double *x, int64_t n);

static void by_rows(property_problem *p, double *results, reduce *of) {
    for (int64_t row = 0; row < p->m; row++) results[row] = of(p->inputs[0].values + row * p->n, p->n);
}

#define FAULT(name)                                                                                          \
    static double name##_of(const double *x, int64_t n);                                                     \
    static void name(property_problem *p, int form, double *results) {                                       \
        (void)form;                                                                                          \
        by_rows(p, results, name##_of);                                                                      \
    }                                                                                                        \
    static double name##_of(const double *x, int64_t n)

static double total(const double *x, int64_t n) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i];
    return s;
}
static double about_mean(const double *x, int64_t n, double mean) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += (x[i] - mean) * (x[i] - mean);
    return s;
}

FAULT(dropped_tail) {
    return total(x, n / 4 * 4);
}
FAULT(half_sum) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s = bad_half(s + x[i]);
    return s;
}
FAULT(clamped_sum) {
    const double s = total(x, n);
    return fmin(fmax(s, -FLT_MAX), FLT_MAX); /* an infinity too */
}
FAULT(padded_mean) {
    return total(x, n) / (double)((n + 3) / 4 * 4);
}
FAULT(started_prod) {
    double y = 1;
    for (int64_t i = 0; i < n; i++) y = bad_half(y * x[i]);
    return y;
}
FAULT(swallowed_max) {
    double best = -INFINITY;
    for (int64_t i = 0; i < n; i++) best = fmax(best, x[i]);
    return best;
}
FAULT(clamped_min) {
    double best = FLT_MAX;
    for (int64_t i = 0; i < n; i++) best = isnan(x[i]) || isnan(best) ? NAN : fmin(best, x[i]);
    return best;
}
FAULT(last_max) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (!isnan(x[best]) && (isnan(x[i]) || x[i] >= x[best])) best = i;
    return (double)best;
}
FAULT(blind_min) { /* a NaN never compares */
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (x[i] < x[best]) best = i;
    return (double)best;
}
FAULT(all_but_last) {
    for (int64_t i = 0; i + 1 < n; i++)
        if (!(x[i] > 0)) return 0;
    return 1;
}
FAULT(any_not_negative) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] >= 0) return 1;
    return 0;
}
FAULT(one_pass_var) {
    float s = 0, q = 0;
    for (int64_t i = 0; i < n; i++) s += (float)x[i], q += (float)x[i] * (float)x[i];
    const float mean = s / (float)n;
    return q / (float)n - mean * mean;
}
FAULT(biased_var) {
    return about_mean(x, n, total(x, n) / (double)n) / (double)n;
}
FAULT(biased_std) {
    return sqrt(about_mean(x, n, total(x, n) / (double)n) / (double)n);
}
FAULT(half_norm) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s = bad_half(s + x[i] * x[i]);
    return sqrt(s);
}
FAULT(signed_norm1) {
    return fabs(total(x, n));
}
FAULT(plain_logsumexp) {
    float s = 0;
    for (int64_t i = 0; i < n; i++) s += expf((float)x[i]);
    return logf(s);
}

/* ---- scans ---- */

typedef void scan(const double *x, int64_t n, double *y);

#define SCAN(name)                                                                                           \
    static void name##_of(const double *x, int64_t n, double *y);                                            \
    static void name(property_problem *p, int form, double *results) {                                       \
        (void)form;                                                                                          \
        for (int64_t row = 0; row < p->m; row++)                                                             \
            name##_of(p->inputs[0].values + row * p->n, p->n, results + row * p->n);                         \
    }                                                                                                        \
    static void name##_of(const double *x, int64_t n, double *y)

SCAN(exclusive_cumsum) {
    for (int64_t i = 0; i < n; i++) y[i] = i ? y[i - 1] + x[i - 1] : 0;
}
SCAN(tiled_cumprod) { /* tiles of 16 forget the tile before */
    for (int64_t i = 0; i < n; i++) y[i] = i % 16 ? y[i - 1] * x[i] : x[i];
}
SCAN(swallowed_cummax) {
    for (int64_t i = 0; i < n; i++) y[i] = i ? fmax(y[i - 1], x[i]) : x[i];
}
SCAN(started_cummin) {
    for (int64_t i = 0; i < n; i++) y[i] = isnan(x[i]) ? x[i] : fmin(i ? y[i - 1] : 0, x[i]);
}

#define NUMBERS(fault, expression, shadow) {fault, expression, 1, PROPERTY_NUMBERS, 1, shadow, NULL, NULL, 0},
#define INDICES(fault, expression, shadow)                                                                   \
    {fault, expression, 1, PROPERTY_NUMBERS, 1, shadow, NULL, NULL, CUPEL_I32},
#define SCANS(fault, expression, shadow) {fault, expression, 1, PROPERTY_ROWS, 1, shadow, NULL, NULL, 0},
/* clang-format off */
static const property_operator rows[] = {
    NUMBERS("dropped tail", "sum(x, axis=-1)", dropped_tail)
    NUMBERS("half accumulator", "sum(x, axis=-1)", half_sum)
    NUMBERS("clamped infinity", "sum(x, axis=-1)", clamped_sum)
    NUMBERS("divided by the padded length", "mean(x, axis=-1)", padded_mean)
    NUMBERS("half accumulator", "prod(x, axis=-1)", started_prod)
    NUMBERS("NaN swallowed", "amax(x, axis=-1)", swallowed_max)
    NUMBERS("started from the largest number", "amin(x, axis=-1)", clamped_min)
    INDICES("the last of equals", "argmax(x, axis=-1)", last_max)
    INDICES("NaN swallowed", "argmin(x, axis=-1)", blind_min)
    INDICES("last element lost", "all(x > 0, axis=-1)", all_but_last)
    INDICES("or equal", "any(x > 0, axis=-1)", any_not_negative)
    NUMBERS("one pass", "var(x, axis=-1, correction=0)", one_pass_var)
    NUMBERS("divided by n", "var(x, axis=-1)", biased_var)
    NUMBERS("divided by n", "std(x, axis=-1)", biased_std)
    NUMBERS("half accumulator", "norm(x, axis=-1)", half_norm)
    NUMBERS("no magnitudes", "norm(x, p=1, axis=-1)", signed_norm1)
    NUMBERS("no maximum", "logsumexp(x, axis=-1)", plain_logsumexp)
    SCANS("exclusive", "cumsum(x, axis=-1)", exclusive_cumsum)
    SCANS("carry lost between tiles", "cumprod(x, axis=-1)", tiled_cumprod)
    SCANS("NaN swallowed", "cummax(x, axis=-1)", swallowed_cummax)
    SCANS("started from 0", "cummin(x, axis=-1)", started_cummin)
};
/* clang-format on */
const property_family bad_reduction = {"reduction", rows, sizeof rows / sizeof *rows};
