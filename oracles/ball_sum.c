/* Sums in any order, products of many factors, argmax. */
#include "ball.h"

cupel_ball_tally cupel_ball_tally_start(void) {
    return (cupel_ball_tally){.grain = INFINITY,
                              .least = INFINITY,
                              .floor = INFINITY,
                              .depth = INFINITY,
                              .outside = INFINITY,
                              .classes = cupel_sum_classes_start()};
}

/* A term that is a number on every legal way, or beside other classes. */
typedef struct finite_term {
    double value, radius, extent, carry, depth, grain, least, floor;
    double outside; /* 1 where there are no factors */
} finite_term;

static inline void add_finite(const cupel_working *w, cupel_ball_tally *tally, const finite_term *term) {
    const double size = fabs(term->value) + term->radius;
    tally->carry += term->carry;
    tally->peak += term->extent;
    tally->magnitude += size;
    tally->spread += term->radius;
    tally->rescale += w->unit * fabs(term->value) + term->radius;
    tally->grain = fmin(tally->grain, term->grain);
    tally->least =
        fmin(tally->least, term->radius == 0 ? term->least : fmax(fabs(term->value) - term->radius, 0));
    const double low = fmax(term->value - term->radius, term->floor);
    tally->floor = fmin(tally->floor, low >= 0 ? 0 : term->floor);
    if (term->value == 0 && term->radius == 0) return; /* which lacks no factor */
    tally->depth = fmin(tally->depth, term->depth);
    tally->outside = fmin(tally->outside, term->outside);
}

void cupel_ball_tally_add(const cupel_working *w, cupel_ball_tally *tally, const cupel_ball *term_) {
    const cupel_ball term = cupel_ball_operand(w, term_);
    tally->terms++;
    cupel_sum_classes_add(&tally->classes, term.classes);
    if (!tally->reason) tally->reason = term.reason;
    tally->products |= cupel_ball_is_product(&term);
    if (!isfinite(term.value)) {
        tally->carry += cupel_ball_carry(&term);
        if (term.classes & CUPEL_CLASS_FINITE) tally->spread = INFINITY;
        if (cupel_ball_is_product(&term)) tally->depth = fmin(tally->depth, cupel_ball_depth(&term));
        return;
    }
    add_finite(w, tally,
               &(finite_term){.value = term.value,
                              .radius = term.radius,
                              .extent = cupel_ball_extent(&term),
                              .carry = cupel_ball_carry(&term),
                              .depth = cupel_ball_depth(&term),
                              .grain = term.grain,
                              .least = term.least,
                              .floor = term.floor,
                              .outside = cupel_ball_is_product(&term) ? term.peak : 1});
}

static bool is_exact_zero(const cupel_factor *a) {
    return a->value == 0 && a->radius == 0;
}

static double trough_of(const cupel_factor *a) {
    return is_exact_zero(a) ? 1 : fmin(1, fmax(fabs(a->value) - a->radius, 0));
}

/* As cupel_ball_multiply and cupel_ball_close have it for such factors, without what only others need. */
bool cupel_ball_tally_factors(const cupel_working *w, cupel_ball_tally *tally, const cupel_factor *a,
                              const cupel_factor *b) {
    const double product = a->value * b->value, size = fabs(product);
    const double size_a = fabs(a->value) + a->radius, size_b = fabs(b->value) + b->radius;
    const double peak = fmax(1, size_a) * fmax(1, size_b), grain = a->grain * b->grain;
    const bool settled = a->radius == 0 && b->radius == 0;
    if (w->flush || !isfinite(product) || !isfinite(peak) || (settled && !(grain > 0))) return false;
    const bool exact = fma(a->value, b->value, -product) == 0;
    const bool zero = is_exact_zero(a) || is_exact_zero(b);
    const double trough = trough_of(a) * trough_of(b);
    const double moved = zero ? 0 : a->radius * size_b + fabs(a->value) * b->radius;
    double radius = 0;
    if (moved > 0 || !(zero || (exact && cupel_working_holds(w, product)))) {
        radius = moved + w->unit * (size + moved) + (trough >= w->normal ? 0 : w->eta);
        radius = cupel_ball_inflated(radius, product);
        if (!isfinite(radius)) return false;
    }
    tally->terms++;
    tally->products = true;
    add_finite(w, tally,
               &(finite_term){.value = product,
                              .radius = radius,
                              .extent = peak,
                              .carry = peak,
                              .depth = trough,
                              .grain = settled && exact ? grain
                                       : zero           ? INFINITY
                                                        : 0,
                              .least = product == 0 && moved == 0 ? INFINITY : fmax(size - moved, 0),
                              .floor = a->floor >= 0 && b->floor >= 0 ? 0 : -INFINITY,
                              .outside = peak});
    if (w->matrix_normal > 0) tally->aligned += cupel_ball_aligned(w, size_a) * cupel_ball_aligned(w, size_b);
    return true;
}

void cupel_ball_tally_product(const cupel_working *w, cupel_ball_tally *tally, const cupel_ball *a,
                              const cupel_ball *b, double product, bool exact) {
    const cupel_trait plain = {.overflow = 0};
    cupel_ball term = cupel_ball_multiply(w, &plain, a, b, product, exact);
    /* an exact product may lie anywhere in the range of doubles; what counts is that its bits fit */
    const double grain = a->grain > 0 && b->grain > 0 ? a->grain * b->grain : 0;
    const bool fits = a->radius == 0 && b->radius == 0 && exact && grain > 0;
    if (fits) term.grain = grain;
    cupel_ball_tally_add(w, tally, &term);
    if (!isfinite(a->value) || !isfinite(b->value)) return;
    if (w->matrix_normal > 0)
        tally->aligned += cupel_ball_aligned(w, fabs(a->value) + a->radius) *
                          cupel_ball_aligned(w, fabs(b->value) + b->radius);
    /* a running maximum rescales what was narrowed, and narrows nothing again */
    const double narrowing = fabs(a->value) * b->loosened + a->loosened * (fabs(b->value) + b->loosened);
    if (narrowing < term.radius) tally->rescale -= narrowing * (1 - 0x1p-40);
}

/* What a flushed partial sum or term costs: nothing when neither can be a nonzero subnormal, else the
 * smallest normal for every operation, times the factors that are applied to the sum afterwards. Numbers of
 * magnitude >= least are multiples of its spacing, and so are their sums. A mean's terms may be n times
 * smaller. */
static double flushed(const cupel_working *w, const cupel_trait *t, const cupel_ball_tally *tally) {
    if (!w->flush || tally->terms < 2) return 0;
    const double divisor = t->in_statistic ? (double)tally->terms : 1, normal = divisor * w->normal;
    const double least = tally->products ? fmin(tally->least, tally->depth) : tally->least;
    if (least * 2 * w->unit >= normal) return 0;
    if (!t->in_statistic && !tally->products && tally->spread == 0 && tally->grain >= normal) return 0;
    const double outside = isfinite(tally->outside) ? tally->outside : 1;
    return (double)(tally->terms - 1) * normal * outside;
}

/* A mean's divisor may go inside the sum, where each of n quotients may underflow; seen from the sum, n times
 * as much, and times the other factors of its term. */
static double scaled_away(const cupel_working *w, const cupel_trait *t, const cupel_ball_tally *tally) {
    const double n = (double)tally->terms;
    if (!t->in_statistic || n < 2 || fmin(tally->least, tally->depth) >= n * w->normal) return 0;
    return n * tally->carry * (w->flush ? w->normal : w->eta);
}

cupel_ball cupel_ball_tally_end(const cupel_working *w, const cupel_trait *t, cupel_value_kind kind,
                                const cupel_ball_tally *tally, double value, bool exact) {
    const double n = (double)tally->terms;
    cupel_ball r = cupel_ball_plain(value, 0, CUPEL_CLASS_FINITE, tally->reason);
    if (kind != CUPEL_VALUE_REAL) {
        r.radius = tally->spread;
        if (tally->magnitude > w->integers && !r.reason) r.reason = CUPEL_REASON_UNABLE;
        return r;
    }
    (void)exact;
    double spread = tally->spread;
    if (t->rescalable && n > 1) spread += (n - 1) * tally->rescale;
    const double finest = tally->grain > 0 ? ldexp(tally->grain, w->precision) : 0;
    const double cuts = tally->aligned > 0 ? CUPEL_MATRIX_CUTS * n : 0;
    const bool is_cut = cuts > 0 && (spread > 0 || !(tally->aligned <= finest));
    if (is_cut) spread += cuts * w->unit * fmax(tally->aligned - tally->magnitude, 0) + 2 * n * w->eta;
    const double magnitude = tally->magnitude + (spread - tally->spread);
    const double extent = fmax(magnitude, tally->peak);
    const bool overflow = !(extent * t->overflow < w->largest);
    r.classes = cupel_sum_classes_end(&tally->classes, overflow);
    /* Welford takes the difference of an infinite term and an infinite mean */
    if (t->in_statistic && (r.classes & (CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF)))
        r.classes |= CUPEL_CLASS_NAN;
    const bool exact_sum = !t->in_statistic && spread == 0 && tally->grain > 0 && magnitude <= finest;
    double roundings = (n > 1 ? n - 1 : 0) + (is_cut ? cuts : 0);
    if (t->in_statistic && n > 1)
        roundings += 3 + (2 + w->division) * (1 + log(n)); /* Welford's quotients and differences */
    /* magnitude and spread are themselves sums of doubles: n 2^-53 of either may be lacking */
    r.radius = exact_sum ? 0 : (spread + roundings * w->unit * magnitude) * (1 + n * 0x1p-52);
    r.radius += flushed(w, t, tally) + scaled_away(w, t, tally);
    r.sum = !t->in_statistic;
    r.magnitude = magnitude;
    r.spread = spread;
    r.terms = fmax(n, 1) + cuts;
    r.grain = spread == 0 ? tally->grain : 0;
    r.least = tally->least;
    if (tally->floor >= 0) r.floor = 0;
    /* the largest element has exp(0) = 1, give or take the function's own error */
    if (t->softmax_sum) r.floor = 1 - 16 * w->unit;
    r.products = r.sum && tally->products;
    r.carry = fmax(tally->carry, 1);
    r.depth = tally->depth;
    r.peak = fmax(1, r.sum ? extent : fabs(value) + r.radius);
    r.trough = fmin(1, fmax(fabs(value) - r.radius, 0));
    if (value == 0 && r.radius == 0) r.trough = 1;
    if (isinf(value)) r.trough = r.products ? fmin(1, tally->depth) : 1; /* what the infinity may meet */
    r = cupel_ball_close(w, t, r, extent);
    if (!isfinite(value) && r.sum) r.magnitude = magnitude; /* for the terms that join it */
    return r;
}

cupel_ball cupel_ball_one(void) {
    return cupel_ball_plain(1, 0, CUPEL_CLASS_FINITE, CUPEL_REASON_JUDGED);
}

cupel_ball cupel_ball_prod_step(const cupel_working *w, const cupel_trait *t, cupel_value_kind kind,
                                const cupel_ball *product, const cupel_ball *factor, double value,
                                bool exact) {
    if (kind != CUPEL_VALUE_REAL)
        return cupel_ball_integer(w, t->width, CUPEL_OP_MUL, product, factor, value);
    cupel_trait chain = *t;
    chain.square = false;
    cupel_ball r = cupel_ball_multiply(w, &chain, product, factor, value, exact);
    r.sum = false;
    r.classes &= CUPEL_CLASS_MASK; /* the sign of a zero among many factors is not judged */
    return r;
}

cupel_ball cupel_ball_arg(const cupel_working *w, cupel_op op, const cupel_ball *elements, int64_t count) {
    /* the index that wins with exact values: NaN first, else the first of the largest */
    const double sign = op == CUPEL_OP_ARGMIN ? -1 : 1;
    int64_t winner = 0;
    uint8_t reason = CUPEL_REASON_JUDGED;
    for (int64_t i = 0; i < count; i++) {
        if (!reason) reason = elements[i].reason;
        const double best = elements[winner].value, x = elements[i].value;
        if (!isnan(best) && (isnan(x) || sign * x > sign * best)) winner = i;
    }
    const cupel_ball best = cupel_ball_operand(w, &elements[winner]);
    double radius = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i == winner) continue;
        const cupel_ball e = cupel_ball_operand(w, &elements[i]);
        const bool settled = cupel_ball_is_settled(&e) && cupel_ball_is_settled(&best);
        const bool certain =
            isnan(best.value) && (best.classes & CUPEL_CLASS_MASK) == CUPEL_CLASS_NAN && i > winner;
        if (settled || certain) continue;
        const double theirs = sign > 0 ? cupel_ball_hi(&e) : -cupel_ball_lo(&e);
        const double ours = sign > 0 ? cupel_ball_lo(&best) : -cupel_ball_hi(&best);
        const bool may_win = (e.classes & ~CUPEL_CLASS_FINITE & CUPEL_CLASS_MASK) != 0 ||
                             !isfinite(best.value) ||
                             (best.classes & CUPEL_CLASS_MASK) != CUPEL_CLASS_FINITE || theirs >= ours;
        if (may_win) radius = fmax(radius, fabs((double)(i - winner)));
    }
    return cupel_ball_plain((double)winner, radius, CUPEL_CLASS_FINITE, reason);
}
