/* What a conforming kernel may return for LINEAR_SCAN and STATE_SCAN: the single statement of the rule, for
 * both evaluators. docs/oracle.md, "Recurrences", derives it.
 *
 * Every legal form expands to the same monomials: products of a_t or p_t r_t' along a path of steps, times an
 * x_s. M, the majorant, is the sum of their magnitudes; E is M with every factor at its largest and rounded
 * as often as any form rounds it, less M. So |kernel - value| <= E, whatever the order. */
#ifndef CUPEL_BALL_RECURRENCE_H
#define CUPEL_BALL_RECURRENCE_H

#include "ball.h"

enum { CUPEL_RECURRENCE_CHUNK = 128 }; /* steps of the longest chunk */

/* (1 + u)^n - 1, or a little more. */
static inline double cupel_growth_of_roundings(double n, double u) {
    const double x = n * u * (1 + 0x1p-20);
    return x < 1 ? x * (1 + x) : expm1(x);
}

/* ---- LINEAR_SCAN: one row, step by step ---- */

typedef struct cupel_line {
    int flags;
    int64_t step; /* steps done */
    double value, majorant, error;
    double growth, run; /* the largest product of |a| over any stretch of steps, and over those that end here;
                           at least 1 */
    double top;         /* the largest majorant so far */
    double largest_b;   /* at least 1 */
    double grain, low, low_run; /* a power of two that all terms are multiples of; the least product of the
                                   grains of a over any stretch */
    double logs;                /* sum of |log a| + radius, or what replaces it */
    bool exact;                 /* every form computes every element so far exactly */
    /* by the rules only: the least product of |a| over any stretch; the majorant of the finite terms */
    double trough, trough_run, finite, finite_top;
    uint8_t classes, reason;
} cupel_line;

cupel_line cupel_line_start(int flags);

/* Takes a step; logs: |g| + radius, or |running maximum|, else 0. The row's exactness is looked at only while
 * it lasts. */
void cupel_line_still_exact(const cupel_working *w, cupel_line *s, double a, double ra, double b, double rb);

static inline void cupel_line_advance(const cupel_working *w, cupel_line *s, double a, double ra, double b,
                                      double rb, double logs) {
    const double size = fabs(a) + ra, size_b = fabs(b) + rb, eta = w->unit * (1 + 0x1p-20);
    const bool first = s->step++ == 0;
    if (s->exact) cupel_line_still_exact(w, s, a, ra, b, rb);
    s->logs += logs;
    s->run = size * s->run > 1 ? size * s->run : 1;
    s->growth = s->run > s->growth ? s->run : s->growth;
    s->largest_b = size_b > s->largest_b ? size_b : s->largest_b;
    if (first) {
        s->value = b, s->majorant = fabs(b), s->error = rb;
    } else {
        s->error = size * (1 + eta) * s->error + (ra + eta * size) * s->majorant + rb;
        s->majorant = fabs(a) * s->majorant + fabs(b);
        s->value = a * s->value + b;
    }
    const double all = s->majorant + s->error;
    s->top = all > s->top ? all : s->top;
}

/* The relative error of a decay that is taken from sums of logarithms. */
double cupel_decay_error(const cupel_working *w, int flags, int64_t steps, double logs);

static inline double cupel_line_radius(const cupel_working *w, const cupel_line *s) {
    if (s->exact || (s->step == 1 && !(s->flags & CUPEL_SCAN_LOGS))) return s->error;
    const double t = (double)s->step - 1, n = t + 1, u = w->unit;
    double final = cupel_growth_of_roundings(t, u);
    if (s->flags & (CUPEL_SCAN_LOGS | CUPEL_SCAN_MAXIMUM))
        final += (1 + final) * cupel_decay_error(w, s->flags, s->step, s->logs);
    const double lost = (w->flush ? w->normal : w->eta) * 16 * n * n * s->growth * s->growth * s->largest_b;
    return ((1 + final) * s->error + final * s->majorant + lost) * (1 + 0x1p-30);
}

/* By the rules: any operands, any order or step by step (cupel_working.sequential). value is the exact h_t,
 * nearest double; log is absent without logarithms. */
cupel_ball cupel_line_next(const cupel_working *w, const cupel_trait *t, cupel_line *s, const cupel_ball *a,
                           const cupel_ball *b, const cupel_ball *log, double value);

/* ---- STATE_SCAN: K x V states, step by step ---- */

/* One step's operands: [k], x of [k, v]. Radii are never NULL. Under flush they cover a zero in place of a
 * subnormal. */
typedef struct cupel_state_step {
    const double *a, *ra, *p, *rp, *r, *rr, *x, *rx;
    const double *logs;               /* |g| + radius, or NULL */
    double x_peak, x_trough;          /* the products of max(1, |factor|), min(1, |factor|), worst element */
    double p_peak, r_peak, trough;    /* the same of p and r; trough of both */
    bool odd;                         /* something is not finite or not judged: then these are given */
    const uint8_t *classes, *reasons; /* [k]: of a, p and r together */
    const uint8_t *x_classes, *x_reasons; /* [k, v] */
} cupel_state_step;

typedef struct cupel_state {
    int flags;
    int64_t k, v, step;
    double *value, *majorant, *error; /* [k, v] */
    double *dot;                      /* [3, v] */
    double *read;                     /* [4, v]: value, majorant, error, sum of |q S| */
    double *logs;                     /* [k] */
    double *block, *window; /* [2, k], [k]: sums of logarithms over blocks of steps, and their worst */
    double *split_lost, *split_below; /* [k]: see cupel_state_note_logs */
    int64_t noted;                    /* steps whose logarithms were noted */
    uint8_t *classes, *reasons;       /* [k, v] */
    double growth, run, x_peak, factor_peak, top;
    double hop; /* the largest |p| |r| */
    double grain, low, low_run, trough;
    double terms;                              /* in order: the largest sum of magnitudes within a step */
    double query_peak, query_own, query_grain; /* of a path with q, of q alone */
    double final;                              /* the roundings that every monomial meets once, relative */
    double narrow, narrow_lost, narrow_range;  /* `products`: of one operand, relative and absolute; how much
                                                  less its type's range is */
    bool exact, odd;
} cupel_state;

/* memory: cupel_state_doubles(k, v) doubles and 2 k v bytes, which live as long as the state. */
static inline size_t cupel_state_doubles(int64_t k, int64_t v) {
    return (size_t)(3 * k * v + 7 * v + 6 * k);
}
cupel_state cupel_state_start(int flags, int64_t k, int64_t v, double *doubles, uint8_t *bytes);
/* `products`: the operands of a chunk's matrix products (q, k, u, the triangle, the state that is read) may
 * be rounded or truncated to this type. */
void cupel_state_narrow(const cupel_working *w, cupel_state *s, cupel_dtype type);
/* Before the first step, of recurrences with logarithms: the |g| + radius of every step in turn, [k], then
 * the end. Kernels may scale the two factors of a chunk's product by exp(G_t - G_c) and exp(G_c - G_s), c any
 * step of the chunk: where such a product underflows, the other factor makes up for the decay and magnifies
 * what was lost. Without these calls only forms that scale by exp(G_t - G_s) are covered. */
void cupel_state_note_logs(cupel_state *s, const double *logs);
void cupel_state_end_logs(const cupel_working *w, cupel_state *s);
void cupel_state_advance(const cupel_working *w, cupel_state *s, const cupel_state_step *in);

/* Element (k, v) of the state. */
cupel_ball cupel_state_element(const cupel_working *w, const cupel_trait *t, const cupel_state *s, int64_t i,
                               double value);

/* S' q: take the query, then read columns. q's values and radii, worst peak and trough; classes and reasons,
 * NULL when plain. */
typedef struct cupel_query {
    const double *q, *rq;
    double peak, trough;
    const uint8_t *classes, *reasons;
} cupel_query;
void cupel_state_query(const cupel_working *w, cupel_state *s, const cupel_query *q);
cupel_ball cupel_state_read(const cupel_working *w, const cupel_trait *t, const cupel_state *s,
                            const cupel_query *q, int64_t v, double value);
/* Its parts, for elements where nothing special can happen: before the inflation of cupel_ball_close. */
double cupel_state_read_radius(const cupel_working *w, const cupel_state *s, int64_t v);
double cupel_state_read_top(const cupel_working *w, const cupel_state *s, int64_t v);

/* With a rank-one term: may some form's u_t = beta (v - S'k) be an infinity or NaN? Masked products of
 * earlier steps in the same chunk then are NaN too. */
bool cupel_state_may_overflow(const cupel_working *w, const cupel_trait *t, const cupel_state *s);

/* An element that some kernel computes from a product of a zero and an element of a later step: not judged
 * when that is not finite. */
cupel_ball cupel_scan_excluded(cupel_ball b);

#endif
