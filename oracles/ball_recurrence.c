/* Linear recurrences along an axis of time: what any form of them may return. */
#include "ball_recurrence.h"

#include <string.h>

enum {
    CHUNK = CUPEL_RECURRENCE_CHUNK, /* the longest chunk of the chunked delta rule, */
    POWERS = 64,                    /* and of one whose triangle is inverted by powers */
    NARROWED = 8                    /* operands of products on a hop, and before and behind all hops */
};

static double grain_of(double x) {
    int exponent;
    if (x == 0) return INFINITY;
    if (!isfinite(x)) return 0; /* nothing is exact beside it */
    double m = fabs(frexp(x, &exponent));
    uint64_t bits = (uint64_t)ldexp(m, 53);
    return ldexp(1, exponent - 53 + __builtin_ctzll(bits));
}

static double least_product(double grain) {
    return grain < INFINITY ? grain : 1;
}

/* ---- LINEAR_SCAN ---- */

cupel_line cupel_line_start(int flags) {
    return (cupel_line){.flags = flags,
                        .growth = 1,
                        .run = 1,
                        .largest_b = 1,
                        .grain = INFINITY,
                        .low = 1,
                        .low_run = 1,
                        .trough = 1,
                        .trough_run = 1,
                        .exact = !(flags & (CUPEL_SCAN_LOGS | CUPEL_SCAN_MAXIMUM)),
                        .classes = CUPEL_CLASS_FINITE};
}

/* Multiples of one power of two, small enough, in range: every form is exact. A first a is not used. */
void cupel_line_still_exact(const cupel_working *w, cupel_line *s, double a, double ra, double b, double rb) {
    const double own = grain_of(b), smallest = w->flush ? w->normal : w->smallest;
    const bool first = s->step == 1;
    const double step = first ? 1 : grain_of(a), majorant = first ? 0 : fabs(a) * s->majorant;
    s->exact = (first || ra == 0) && rb == 0;
    s->low_run = least_product(step) * fmin(1, s->low_run);
    s->low = fmin(s->low, s->low_run);
    s->grain = fmin(isinf(step) || isinf(s->grain) ? INFINITY : step * s->grain, own);
    const bool fits = isinf(s->grain) || (s->grain >= smallest && s->low >= smallest &&
                                          majorant + fabs(b) <= ldexp(s->grain, w->precision));
    s->exact = s->exact && fits;
}

/* Is the sum of the two a double? (Knuth's two-sum) */
static bool adds_exactly(double x, double y) {
    const double sum = x + y, y_part = sum - x, x_part = sum - y_part;
    return (x - x_part) + (y - y_part) == 0;
}

static double product_radius(const cupel_working *w, double a, double ra, double h, double rh) {
    if (fabs(a) == 1 && ra == 0) return rh;
    const double product = a * h, moved = (fabs(a) + ra) * rh + ra * fabs(h);
    const bool kept = product == 0 || !w->flush || fabs(product) >= w->normal;
    if (moved == 0 && kept && fma(a, h, -product) == 0 && cupel_working_holds(w, product)) return 0;
    return moved + w->unit * (fabs(product) + moved) + (w->flush ? w->normal : w->eta);
}

/* a * h + b in this order, fused or not. */
static double step_radius(const cupel_working *w, const cupel_line *s, const cupel_ball *a,
                          const cupel_ball *b, double value) {
    const double moved = product_radius(w, a->value, a->radius, s->value, s->error) + b->radius;
    if (moved == 0 && adds_exactly(a->value * s->value, b->value) && cupel_working_holds(w, value)) return 0;
    return moved + w->unit * (fabs(value) + moved);
}

static void line_classes(const cupel_working *w, const cupel_trait *t, cupel_line *s, const cupel_ball *a,
                         const cupel_ball *b) {
    const uint8_t infinite = CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF;
    if (!s->reason) s->reason = b->reason;
    const double least = isfinite(a->value) ? fmax(fabs(a->value) - a->radius, 0) : 1;
    if (s->step > 0) s->trough_run = least * fmin(1, s->trough_run);
    s->trough = fmin(s->trough, s->trough_run);
    const double size_a = isfinite(a->value) ? fabs(a->value) + a->radius : 1;
    const double size_b = isfinite(b->value) ? fabs(b->value) + b->radius : 0;
    s->finite = (s->step > 0 ? size_a * s->finite : 0) + size_b;
    s->finite_top = fmax(s->finite_top, fmax(s->finite, s->growth));
    if (s->step == 0) { /* some kernels multiply the first a by the zero state, others skip it */
        s->classes = b->classes & CUPEL_CLASS_MASK;
        if (!s->reason && (a->reason || (a->classes & CUPEL_CLASS_MASK) != CUPEL_CLASS_FINITE))
            s->reason = CUPEL_REASON_CONVENTION;
        return;
    }
    if (!s->reason) s->reason = a->reason;
    const double low = s->value - s->error, high = s->value + s->error;
    const cupel_reach before = {isfinite(low) ? low : -INFINITY, isfinite(high) ? high : INFINITY,
                                s->classes};
    const cupel_reach product = {-INFINITY, INFINITY,
                                 cupel_classes_binary(CUPEL_OP_MUL, cupel_ball_reach(a), before)};
    const uint8_t old = s->classes;
    s->classes = cupel_classes_binary(CUPEL_OP_ADD, product, cupel_ball_reach(b));
    if (w->sequential || (s->classes & CUPEL_CLASS_MASK) == CUPEL_CLASS_NAN) return;
    /* an infinite factor may meet any part of the sum first, and an infinite term a product that underflowed
     * or overflowed */
    if (a->classes & infinite) s->classes |= infinite | CUPEL_CLASS_NAN;
    const bool in_range = s->trough >= w->normal && s->finite_top * t->overflow < w->largest;
    if (((old | b->classes) & infinite) && !in_range) s->classes |= CUPEL_CLASS_NAN;
}

/* Overflow of a product of |a|, or of it with the terms. */
static double line_top(const cupel_working *w, const cupel_line *s) {
    return w->sequential ? fabs(s->value) + s->error : fmax(s->top, s->growth);
}

cupel_ball cupel_line_next(const cupel_working *w, const cupel_trait *t, cupel_line *s, const cupel_ball *a_,
                           const cupel_ball *b_, const cupel_ball *log, double value) {
    const cupel_ball a = cupel_ball_operand(w, a_), b = cupel_ball_operand(w, b_);
    line_classes(w, t, s, &a, &b);
    /* differences of infinite sums are NaN, also where b is infinite and its radius tells nothing */
    if (log && !w->sequential && isinf(log->value) && !s->reason) s->reason = CUPEL_REASON_UNBOUNDED;
    double radius = 0;
    if (w->sequential) {
        radius = s->step == 0 ? b.radius : step_radius(w, s, &a, &b, value);
        s->step++;
        if (s->flags & CUPEL_SCAN_MAXIMUM) { /* which of both forms the steps take stays open */
            s->logs +=
                log && isfinite(log->value) ? fabs(log->value) + log->radius + log1p((double)s->step) : 0;
            radius += cupel_decay_error(w, s->flags, s->step, s->logs) * (fabs(value) + radius);
        }
        s->value = value, s->error = radius;
        s->majorant = fabs(value) + radius;
    } else {
        double logs =
            log && (isfinite(log->value) || s->flags & CUPEL_SCAN_LOGS) ? fabs(log->value) + log->radius : 0;
        if (s->flags & CUPEL_SCAN_MAXIMUM) logs += log1p((double)s->step);
        cupel_line_advance(w, s, a.value, a.radius, b.value, b.radius, isnan(logs) ? INFINITY : logs);
        radius = cupel_line_radius(w, s);
        s->value = value;
    }
    cupel_ball r = cupel_ball_plain(value, isnan(radius) ? INFINITY : radius, s->classes, s->reason);
    r.sum = true;
    r.products = true;
    r.terms = (double)s->step;
    r.magnitude = isfinite(value) ? fmax(s->majorant, fabs(value)) + r.radius : 0;
    r.spread = r.radius;
    r.grain = s->exact && !w->sequential && radius == 0 ? s->grain : 0;
    r.least = r.depth = 0;
    r.peak = fmax(1, fmax(line_top(w, s), s->growth));
    r.trough = 0;
    r.carry = r.peak * r.terms;
    r = cupel_ball_close(w, t, r, line_top(w, s));
    s->reason = r.reason;
    if (w->sequential) s->error = r.radius; /* what the next step reads */
    return r;
}

/* ---- STATE_SCAN ---- */

cupel_state cupel_state_start(int flags, int64_t k, int64_t v, double *doubles, uint8_t *bytes) {
    const size_t n = (size_t)(k * v);
    memset(doubles, 0, cupel_state_doubles(k, v) * sizeof *doubles);
    memset(bytes, CUPEL_CLASS_FINITE, n);
    memset(bytes + n, CUPEL_REASON_JUDGED, n);
    return (cupel_state){.flags = flags,
                         .k = k,
                         .v = v,
                         .value = doubles,
                         .majorant = doubles + n,
                         .error = doubles + 2 * n,
                         .dot = doubles + 3 * n,
                         .read = doubles + 3 * n + 3 * (size_t)v,
                         .logs = doubles + 3 * n + 7 * (size_t)v,
                         .block = doubles + 3 * n + 7 * (size_t)v + (size_t)k,
                         .window = doubles + 3 * n + 7 * (size_t)v + 3 * (size_t)k,
                         .split_lost = doubles + 3 * n + 7 * (size_t)v + 4 * (size_t)k,
                         .split_below = doubles + 3 * n + 7 * (size_t)v + 5 * (size_t)k,
                         .classes = bytes,
                         .reasons = bytes + n,
                         .growth = 1,
                         .run = 1,
                         .x_peak = 1,
                         .factor_peak = 1,
                         .grain = INFINITY,
                         .low = 1,
                         .low_run = 1,
                         .trough = 1,
                         .narrow_range = 1,
                         .exact = !(flags & CUPEL_SCAN_LOGS)};
}

void cupel_state_narrow(const cupel_working *w, cupel_state *s, cupel_dtype type) {
    if (!(s->flags & CUPEL_SCAN_NARROW) || w->sequential) return;
    s->narrow = 2 * cupel_format_unit(type);
    s->narrow_lost = cupel_format_smallest(type);
    s->narrow_range = fmax(1, w->largest / cupel_format_largest(type));
    s->exact = false;
}

/* Of a factor of channel i: peak is the product of max(1, |.|) of what it is made of, since any part of it
 * may be what is scaled. Nothing loses more than itself. */
static double split_loss(const cupel_state *s, int64_t i, double factor, double peak) {
    const double size = fabs(factor);
    return size < s->split_below[i] * peak ? fmin(s->split_lost[i] * peak, size) : 0;
}

/* dot = r' S, of values, majorants and errors. */
static void take_dots(cupel_state *s, const cupel_state_step *in) {
    const int64_t k = s->k, v = s->v;
    double *restrict d = s->dot, *restrict dm = s->dot + v, *restrict de = s->dot + 2 * v;
    memset(s->dot, 0, (size_t)(3 * v) * sizeof(double));
    for (int64_t i = 0; i < k; i++) {
        const double r = in->r[i], rr = in->rr[i] + split_loss(s, i, r, in->r_peak), size = fabs(r) + rr,
                     plain = fabs(r);
        const double *restrict value = s->value + i * v, *restrict majorant = s->majorant + i * v,
                               *restrict error = s->error + i * v;
        for (int64_t j = 0; j < v; j++) {
            d[j] += r * value[j];
            dm[j] += plain * majorant[j];
            de[j] += size * error[j] + rr * majorant[j];
        }
    }
}

/* One row of S = a S - p dot + x; eta_a and eta_p: relative roundings of a step by a decay and by a dot. */
static void advance_row(cupel_state *s, const cupel_state_step *in, int64_t i, double eta_a, double eta_p) {
    const int64_t v = s->v;
    const double a = in->a[i], ra = in->ra[i], size = fabs(a) + ra, plain = fabs(a);
    const double grown = size * (1 + eta_a), moved = ra + eta_a * size;
    double *restrict value = s->value + i * v, *restrict majorant = s->majorant + i * v,
                     *restrict error = s->error + i * v;
    const double *restrict x = in->x + i * v, *restrict rx = in->rx + i * v;
    if (!in->p) {
        for (int64_t j = 0; j < v; j++) {
            value[j] = a * value[j] + x[j];
            error[j] = grown * error[j] + moved * majorant[j] + rx[j];
            majorant[j] = plain * majorant[j] + fabs(x[j]);
        }
        return;
    }
    const double p = in->p[i], rp = in->rp[i] + split_loss(s, i, p, in->p_peak), size_p = fabs(p) + rp,
                 plain_p = fabs(p);
    const double grown_p = size_p * (1 + eta_p), moved_p = rp + eta_p * size_p;
    const double *restrict d = s->dot, *restrict dm = s->dot + v, *restrict de = s->dot + 2 * v;
    for (int64_t j = 0; j < v; j++) {
        value[j] = a * value[j] - p * d[j] + x[j];
        error[j] = grown * error[j] + moved * majorant[j] + rx[j] + grown_p * de[j] + moved_p * dm[j];
        majorant[j] = plain * majorant[j] + fabs(x[j]) + plain_p * dm[j];
    }
}

/* Step by step: errors of what is really there. Every product, and the sum of three, once; the delta form
 * beta (v - S'k) rounds a little more often. */
static void advance_row_in_order(const cupel_working *w, cupel_state *s, const cupel_state_step *in,
                                 int64_t i) {
    const int64_t v = s->v, k = s->k;
    const double u = w->unit * (1 + 0x1p-20), lost = (w->flush ? w->normal : w->eta) * (double)(k + 8);
    const double a = in->a[i], ra = in->ra[i], p = in->p ? in->p[i] : 0, rp = in->p ? in->rp[i] : 0;
    const double *d = s->dot, *dm = s->dot + v, *de = s->dot + 2 * v;
    for (int64_t j = 0; j < v; j++) {
        const int64_t at = i * v + j;
        const double x = in->x[at], rx = in->rx[at], size = fabs(s->value[at]);
        const double dot_error = in->p ? de[j] + ((double)k + 1) * u * (dm[j] + de[j]) : 0;
        const double decayed = (fabs(a) + ra) * s->error[at] + ra * size;
        const double hopped = in->p ? (fabs(p) + rp) * dot_error + rp * fabs(d[j]) : 0;
        const double terms = fabs(a) * size + (in->p ? fabs(p * d[j]) : 0) + fabs(x) + decayed + hopped + rx;
        s->terms = fmax(s->terms, fmax(terms, in->p ? fabs(p) * dm[j] : 0));
        const double next = a * s->value[at] - (in->p ? p * d[j] : 0) + x;
        s->error[at] = decayed + hopped + rx + (in->p ? 4 : 2) * u * terms;
        if (s->step > 0 || rx > 0)
            s->error[at] += lost * (1 + fabs(a) + ra) * s->factor_peak * s->factor_peak;
        s->value[at] = next;
        s->majorant[at] = fabs(next);
    }
}

/* Steps of which some operand is not finite, or not judged. Chunked forms meet the same operands in other
 * products (q'k before v), so that an infinity may be NaN there and the reverse: only that the element is not
 * finite is certain. */
static void advance_classes(cupel_state *s, const cupel_state_step *in) {
    const uint8_t finite = CUPEL_CLASS_FINITE,
                  open = CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF | CUPEL_CLASS_NAN;
    const bool first = s->step == 0;
    for (int64_t j = 0; j < s->v; j++) {
        uint8_t joint = finite, may = finite, reason = 0;
        for (int64_t i = 0; in->p && !first && i < s->k; i++) {
            const int64_t at = i * s->v + j;
            may |= s->classes[at];
            joint &= s->classes[at];
            if (!reason) reason = s->reasons[at];
            if (!in->odd) continue;
            may |= in->classes[i], joint &= in->classes[i];
            if (!reason) reason = in->reasons[i];
        }
        for (int64_t i = 0; i < s->k; i++) {
            const int64_t at = i * s->v + j;
            uint8_t all = joint & s->classes[at], some = may | s->classes[at];
            uint8_t why = s->reasons[at] ? s->reasons[at] : reason;
            if (in->odd) {
                all &= in->x_classes[at], some |= in->x_classes[at];
                if (!why) why = in->x_reasons[at];
                if (!first) {
                    all &= in->classes[i], some |= in->classes[i];
                    if (!why) why = in->reasons[i];
                } else if (!why && (in->classes[i] != finite || in->reasons[i])) {
                    why = CUPEL_REASON_CONVENTION; /* it multiplies the zero state, or nothing */
                }
            }
            const bool odd = (some & CUPEL_CLASS_MASK & ~finite) != 0;
            s->classes[at] = (uint8_t)((all & finite) | (odd ? open : 0));
            s->reasons[at] = why;
            s->odd |= odd || why;
        }
    }
}

static double least_grain(const double *x, int64_t n) {
    double grain = INFINITY;
    for (int64_t i = 0; i < n; i++) grain = fmin(grain, grain_of(x[i]));
    return grain;
}

static double largest_of(const double *x, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = x[i] > most ? x[i] : most;
    return most;
}

static bool any_of(const double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] > 0) return true;
    return false;
}

/* As cupel_line_still_exact; after the step. */
static void still_exact(const cupel_working *w, cupel_state *s, const cupel_state_step *in) {
    const int64_t k = s->k, n = s->k * s->v;
    const double smallest = w->flush ? w->normal : w->smallest;
    const bool first = s->step == 0;
    s->exact = !any_of(in->rx, n) && (first || !any_of(in->ra, k));
    if (in->p) s->exact = s->exact && (first || (!any_of(in->rp, k) && !any_of(in->rr, k)));
    if (!s->exact) return;
    double step = least_grain(in->a, k);
    if (in->p) step = fmin(step, least_grain(in->p, k) * least_grain(in->r, k));
    if (first) step = INFINITY;
    s->low_run = least_product(step) * fmin(1, s->low_run);
    s->low = fmin(s->low, s->low_run);
    s->grain = fmin(isinf(step) || isinf(s->grain) ? INFINITY : step * s->grain, least_grain(in->x, n));
    const double most = w->sequential ? s->terms : largest_of(s->majorant, n);
    s->exact = isinf(s->grain) || (s->grain >= smallest && s->low * s->trough >= smallest &&
                                   most <= ldexp(s->grain, w->precision));
}

static double norm_of(const double *x, const double *radius, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (fabs(x[i]) + radius[i]) * (fabs(x[i]) + radius[i]);
    return sqrt(sum);
}

/* The largest singular value of I - p k': it differs from I on the plane of p and k alone, where the product
 * of the two is |1 - p'k| and the sum of their squares 2 - 2 p'k + |p|^2 |k|^2. */
static double stretch_of(double pk, double pp, double kk) {
    const double sum = 2 - 2 * pk + pp * kk, product = 1 - pk;
    const double root = sqrt(fmax(0, sum * sum - 4 * product * product));
    return fmax(1, sqrt(fmax(0, (sum + root) / 2)));
}

/* How far one step can stretch a vector. diag(a) - p r' = (I - p k') diag(a) where r = a k: a delta rule
 * whose beta |k|^2 lies in 0..2 stretches nothing, though its terms by themselves would. */
static double step_norm(const cupel_state *s, const cupel_state_step *in) {
    double decay = 0, pk = 0, pp = 0, kk = 0;
    bool delta = true;
    for (int64_t i = 0; i < s->k; i++) decay = fmax(decay, fabs(in->a[i]) + in->ra[i]);
    if (!in->p) return decay;
    for (int64_t i = 0; i < s->k; i++) {
        const double k = in->r[i] == 0 ? 0 : in->r[i] / in->a[i];
        delta = delta && isfinite(k);
        pk += in->p[i] * k, pp += in->p[i] * in->p[i], kk += k * k;
    }
    const double p = norm_of(in->p, in->rp, s->k), r = norm_of(in->r, in->rr, s->k);
    const double moved = norm_of(in->rp, in->rp, s->k) * r + p * norm_of(in->rr, in->rr, s->k);
    const double apart = decay + p * r;
    if (!delta) return apart;
    return fmin(apart, decay * stretch_of(pk, pp, kk) * (1 + 0x1p-30) + moved);
}

static void grow(cupel_state *s, const cupel_state_step *in) {
    s->run = fmax(1, step_norm(s, in) * s->run);
    s->growth = fmax(s->growth, s->run);
    s->x_peak = fmax(s->x_peak, in->x_peak);
    s->trough = fmin(s->trough, in->x_trough);
    if (!in->p) return;
    s->factor_peak = fmax(s->factor_peak, fmax(in->p_peak, in->r_peak));
    s->trough = fmin(s->trough, in->trough);
    s->hop = fmax(s->hop, norm_of(in->p, in->rp, s->k) * norm_of(in->r, in->rr, s->k));
}

/* x, one of whose factors is scaled. */
static void lose_in_splits(cupel_state *s, const cupel_state_step *in) {
    for (int64_t i = 0; i < s->k; i++) {
        const double below = s->split_below[i] * in->x_peak, lost = s->split_lost[i] * in->x_peak;
        if (below == 0) continue;
        double *restrict error = s->error + i * s->v;
        const double *restrict x = in->x + i * s->v;
        for (int64_t j = 0; j < s->v; j++) {
            const double size = fabs(x[j]), least = lost < size ? lost : size;
            error[j] += size < below ? least : 0;
        }
    }
}

void cupel_state_advance(const cupel_working *w, cupel_state *s, const cupel_state_step *in) {
    const double t = (double)s->step, u = w->unit, k = (double)s->k;
    const double chunk = fmin(t, CHUNK);
    double decay = 0;
    if (in->odd || s->odd) advance_classes(s, in);
    for (int64_t i = 0; in->logs && i < s->k; i++) s->logs[i] += in->logs[i];
    if (in->logs) decay = cupel_decay_error(w, s->flags, s->step + 1, fmax(0, largest_of(s->logs, s->k)));
    for (int64_t i = 0; in->logs && i < s->k; i++)
        if (isnan(s->logs[i])) decay = INFINITY;
    grow(s, in);
    const double eta_a = cupel_growth_of_roundings(in->p ? 3 : 2, u);
    const double narrow = s->narrow > 0 ? cupel_growth_of_roundings(NARROWED, s->narrow) : 0;
    const double hop = cupel_growth_of_roundings(k + 2 * chunk + 8, u) + 2 * narrow,
                 eta_p = hop + (1 + hop) * decay;
    const double once = k + t + 8 + (in->p ? 8 * chunk : 0),
                 once_ = cupel_growth_of_roundings(once, u) + 2 * narrow;
    s->final = once_ + (1 + once_) * decay;
    const bool first = s->step == 0;
    if (in->p && !first) take_dots(s, in);
    cupel_state_step start = *in;
    if (first) start.p = NULL; /* the state is zero; a first decay is not used */
    for (int64_t i = 0; i < s->k; i++) {
        if (w->sequential) {
            advance_row_in_order(w, s, &start, i);
        } else if (first) {
            for (int64_t at = i * s->v; at < (i + 1) * s->v; at++) {
                s->value[at] = in->x[at];
                s->majorant[at] = fabs(in->x[at]);
                s->error[at] = in->rx[at];
            }
        } else {
            advance_row(s, in, i, eta_a, eta_p);
        }
    }
    lose_in_splits(s, in);
    if (s->exact) still_exact(w, s, in);
    s->top = fmax(s->top, largest_of(s->majorant, s->k * s->v));
    s->step++;
}

/* The largest intermediate of any form: products of factors on a path between two stretches of steps, of an x
 * that stands before or behind; and the powers of a chunk's triangle. */
static double peak_of(const cupel_state *s, double query) {
    const double ends = s->x_peak * query, path = s->growth * s->growth;
    const double powers = s->flags & CUPEL_SCAN_RANK_ONE ? pow(1 + s->hop, fmin((double)s->step, POWERS)) : 1;
    return (double)s->k * ends * path * s->factor_peak * s->factor_peak * powers;
}

/* Sums of the magnitudes of terms: of paths where they are few; with a rank-one term, of what its steps hold.
 */
static double top_of(const cupel_working *w, const cupel_state *s, double own, double peak) {
    if (w->sequential) return fmax(s->top, own);
    if (s->flags & CUPEL_SCAN_RANK_ONE) return (double)s->step * peak;
    return fmax(fmax(s->top, own), peak);
}

bool cupel_state_may_overflow(const cupel_working *w, const cupel_trait *t, const cupel_state *s) {
    if (w->sequential || !(s->flags & CUPEL_SCAN_RANK_ONE)) return false;
    return isinf(s->final) || !((double)s->step * peak_of(s, 1) * s->narrow_range * t->overflow < w->largest);
}

static cupel_ball finish(const cupel_working *w, const cupel_trait *t, const cupel_state *s, double value,
                         double radius, double magnitude, double top, uint8_t classes, uint8_t reason) {
    cupel_ball r = cupel_ball_plain(value, isnan(radius) ? INFINITY : radius, classes, reason);
    r.sum = r.products = true;
    r.terms = (double)(s->step + s->k);
    r.magnitude = isfinite(value) ? fmax(magnitude, fabs(value)) + r.radius : 0;
    r.spread = r.radius;
    r.grain = 0;
    r.least = r.depth = r.trough = 0;
    r.peak = fmax(1, top);
    r.carry = r.peak * r.terms;
    return cupel_ball_close(w, t, r, top * s->narrow_range);
}

/* Products that underflow: so many operations, each times the rest of its path. */
static double lost_of(const cupel_working *w, const cupel_state *s, double peak) {
    const double t = (double)s->step;
    return fmax(w->flush ? w->normal : w->eta, s->narrow_lost) * 4 * t * t * (double)(s->k + 4) * peak;
}

/* What every form adds to the error of its steps, for a sum of paths of this majorant. */
static double whole_radius(const cupel_working *w, const cupel_state *s, double majorant, double error,
                           double peak) {
    return ((1 + s->final) * error + s->final * majorant + lost_of(w, s, peak)) * (1 + 0x1p-30);
}

cupel_ball cupel_state_element(const cupel_working *w, const cupel_trait *t, const cupel_state *s, int64_t i,
                               double value) {
    const double majorant = s->majorant[i], error = s->error[i], peak = peak_of(s, 1);
    double radius = error;
    if (!w->sequential && (s->step > 1 || s->flags & CUPEL_SCAN_LOGS))
        radius = whole_radius(w, s, majorant, error, peak);
    if (s->exact) radius = 0;
    return finish(w, t, s, value, radius, majorant, top_of(w, s, majorant + error, peak), s->classes[i],
                  s->reasons[i]);
}

void cupel_state_query(const cupel_working *w, cupel_state *s, const cupel_query *q) {
    const int64_t v = s->v;
    double *restrict value = s->read, *restrict majorant = s->read + v, *restrict error = s->read + 2 * v,
                     *restrict plain = s->read + 3 * v;
    memset(s->read, 0, (size_t)(4 * v) * sizeof(double));
    for (int64_t i = 0; i < s->k; i++) {
        const double a = q->q[i], ra = q->rq[i] + split_loss(s, i, a, q->peak), own = fabs(a),
                     size = own + ra;
        const double *restrict h = s->value + i * v, *restrict m = s->majorant + i * v,
                               *restrict e = s->error + i * v;
        for (int64_t j = 0; j < v; j++) {
            value[j] += a * h[j];
            majorant[j] += own * m[j];
            error[j] += size * e[j] + ra * m[j];
        }
        for (int64_t j = 0; w->sequential && j < v; j++) plain[j] += own * fabs(h[j]);
    }
    s->query_peak = peak_of(s, q->peak), s->query_own = fmax(1, q->peak);
    s->query_grain = s->exact && !any_of(q->rq, s->k) ? s->grain * least_grain(q->q, s->k) : 0;
    const double smallest = w->flush ? w->normal : w->smallest;
    if (!isinf(s->query_grain) && !(s->low * s->trough * q->trough >= smallest && s->query_grain >= smallest))
        s->query_grain = 0;
}

double cupel_state_read_radius(const cupel_working *w, const cupel_state *s, int64_t v) {
    const double majorant = s->read[s->v + v], error = s->read[2 * s->v + v], plain = s->read[3 * s->v + v];
    if (s->query_grain > 0 && (isinf(s->query_grain) || majorant <= ldexp(s->query_grain, w->precision)))
        return 0;
    if (!w->sequential) return whole_radius(w, s, majorant, error, s->query_peak);
    const double k = (double)s->k;
    /* once more, and more by as much, where the scale comes last */
    const double lost = (k + 1) * s->query_own * (w->flush ? w->normal : w->eta);
    return error + (k + 1) * w->unit * (plain + error) + lost;
}

double cupel_state_read_top(const cupel_working *w, const cupel_state *s, int64_t v) {
    return top_of(w, s, s->read[s->v + v] + s->read[2 * s->v + v], s->query_peak);
}

cupel_ball cupel_state_read(const cupel_working *w, const cupel_trait *t, const cupel_state *s,
                            const cupel_query *q, int64_t v, double value) {
    uint8_t all = CUPEL_CLASS_FINITE, some = 0, reason = 0;
    for (int64_t i = 0; i < s->k; i++) {
        const int64_t at = i * s->v + v;
        all &= s->classes[at], some |= s->classes[at];
        if (!reason) reason = s->reasons[at];
        if (q->classes) all &= q->classes[i], some |= q->classes[i];
        if (q->reasons && !reason) reason = q->reasons[i];
    }
    if (some & CUPEL_CLASS_MASK & ~CUPEL_CLASS_FINITE)
        all |= CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF | CUPEL_CLASS_NAN;
    return finish(w, t, s, value, cupel_state_read_radius(w, s, v), s->read[s->v + v],
                  cupel_state_read_top(w, s, v), all, reason);
}

cupel_ball cupel_scan_excluded(cupel_ball b) {
    if (b.reason == CUPEL_REASON_JUDGED) b.reason = CUPEL_REASON_EXCLUDED;
    return b;
}
