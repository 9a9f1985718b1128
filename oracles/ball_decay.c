/* Decays of recurrences as exp of sums of logarithms: what their forms lose. */
#include "ball_recurrence.h"

enum { SCALINGS = 2 }; /* of one factor by parts of its decay, on its way into a product */

/* exp(G_t - G_s), G the sums of logarithms from some earlier step on: both sums, their difference and scaling
 * by log2(e) in the exponent, and two functions where the quotient is taken instead. A running maximum: every
 * step may add in the logarithmic domain, max + log1p(exp(min - max)), whose functions and roundings make an
 * absolute error of the logarithm. */
double cupel_decay_error(const cupel_working *w, int flags, int64_t steps, double logs) {
    if (!(logs < INFINITY)) return INFINITY; /* the difference of infinite sums is NaN */
    const double n = (double)steps, u = w->unit;
    if (flags & CUPEL_SCAN_MAXIMUM) return steps < 2 ? 0 : cupel_growth_of_roundings(2 * logs + 24 * n, u);
    const cupel_budget *budget = cupel_budget_of(CUPEL_OP_EXP);
    const bool fast = w->fast && w->type != CUPEL_F64;
    const double ulps = fast ? budget->fast_ulps : fmax(budget->precise_ulps, budget->f64_ulps);
    const double slope = fast ? budget->fast_slope : 0;
    return cupel_growth_of_roundings((2 * n + 8) * logs + 4 * (ulps + slope * logs) + 2, u);
}

/* Any CUPEL_RECURRENCE_CHUNK steps lie in two neighbouring blocks of as many. */
void cupel_state_note_logs(cupel_state *s, const double *logs) {
    const int64_t k = s->k;
    double *now = s->block, *before = s->block + k;
    for (int64_t i = 0; i < k; i++) {
        if (s->noted % CUPEL_RECURRENCE_CHUNK == 0) before[i] = now[i], now[i] = 0;
        now[i] += logs[i];
        s->window[i] = fmax(s->window[i], before[i] + now[i]);
    }
    s->noted++;
}

/* What a factor may lose: nothing unless it lies below split_below times its peak. A scaling that leaves the
 * range of the type that holds the scaled factor is no form that works. */
void cupel_state_end_logs(const cupel_working *w, cupel_state *s) {
    if (w->sequential) return;
    const double lost = w->flush ? w->normal : w->eta;
    for (int64_t i = 0; i < s->k; i++) {
        const double scale = exp(s->window[i]), reach = fmin(scale, w->largest);
        if (!(s->window[i] > 0)) continue;
        s->split_lost[i] = SCALINGS * lost * reach;
        s->split_below[i] = w->normal * reach;
        if (s->narrow == 0) continue;
        const double narrow_reach = fmin(scale, w->largest / s->narrow_range);
        s->split_lost[i] = fmax(s->split_lost[i], SCALINGS * s->narrow_lost * narrow_reach);
        s->split_below[i] = fmax(s->split_below[i], s->narrow_lost / s->narrow * narrow_reach);
    }
}
