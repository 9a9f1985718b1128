/* Dot products of a matrix product as tensor cores form them, of whose behaviour ball.h (CUPEL_MATRIX_CUTS)
 * tells the source. */
#include <limits.h>

#include "shadow_impl.h"

enum {
    INSTRUCTION = 4 /* terms */,
    FRACTION = 23 /* bits behind the leading one: Volta has no guard bits */
};

/* The exponent by which a unit aligns a factor: at least that of the smallest normal number of its type. */
static int alignment(double factor, int least) {
    const int e = ilogb(factor);
    return e > least ? e : least;
}

/* The accumulator and the products a[i] * b[i], aligned to the largest exponent among them and cut there. */
static double instruction(double accumulator, const double *a, const double *b, int64_t n, int least) {
    int top = accumulator != 0 ? alignment(accumulator, -126) : INT_MIN;
    for (int64_t i = 0; i < n; i++) {
        if (a[i] == 0 || b[i] == 0) continue;
        const int e = alignment(a[i], least) + alignment(b[i], least);
        if (e > top) top = e;
    }
    if (top == INT_MIN) return accumulator;
    const double last = ldexp(1, top - FRACTION);
    double sum = trunc(accumulator / last);
    for (int64_t i = 0; i < n; i++) sum += trunc(a[i] * b[i] / last);
    return cupel_shadow_truncated(CUPEL_F32, sum * last);
}

static bool are_finite(const double *a, const double *b, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(a[i]) || !isfinite(b[i])) return false;
    return true;
}

static double on_tensor_cores(const cupel_shadow *s, double sum, const double *a, const double *b,
                              int64_t n) {
    const int least = ilogb(s->w.matrix_normal);
    for (int64_t i = 0; i < n && isfinite(sum); i += INSTRUCTION)
        sum = instruction(sum, a + i, b + i, n - i < INSTRUCTION ? n - i : INSTRUCTION, least);
    return sum;
}

/* Under noise every term is off by what aligning it alone may cut. */
static double cuts(cupel_shadow *s, const double *a, const double *b, int64_t n) {
    double off = 0;
    for (int64_t i = 0; i < n; i++)
        off += cupel_shadow_anywhere(s, 2 * s->w.unit * cupel_ball_aligned(&s->w, fabs(a[i])) *
                                            cupel_ball_aligned(&s->w, fabs(b[i])));
    return off;
}

/* Does the plan take account of tensor cores here, as a model of them or as noise? */
static bool counts(const cupel_shadow *s, const double *a, const double *b, int64_t n) {
    const bool planned = (s->plan.tensor_cores || s->plan.noise) && s->plan.fault == CUPEL_SHADOW_NO_FAULT;
    return planned && s->w.matrix_normal > 0 && are_finite(a, b, n);
}

double cupel_shadow_dot(cupel_shadow *s, const double *a, const double *b, int64_t n) {
    if (!counts(s, a, b, n)) return cupel_shadow_sum(s, a, b, n);
    if (!s->plan.noise) return on_tensor_cores(s, 0, a, b, n);
    const double sum = cupel_shadow_sum(s, a, b, n);
    return cupel_shadow_round(s, sum + cuts(s, a, b, n));
}

double cupel_shadow_dot_onto(cupel_shadow *s, double start, const double *a, const double *b, int64_t n) {
    if (!s->plan.noise && counts(s, a, b, n)) return on_tensor_cores(s, start, a, b, n);
    for (int64_t k = 0; k < n; k++) start = cupel_shadow_step(s, start, a[k], &b[k]);
    return start;
}
