/* WHERE, EXCLUDE, LOOSEN and CAST. */
#include <math.h>

#include "exact.h"

static void choose(cupel_exact_session *s, const cupel_node *n, int64_t index, cupel_exact_value *out) {
    const cupel_exact_value *v[3];
    for (int i = 0; i < 3; i++) v[i] = cupel_exact_get(s, n->args[i], index, cupel_exact_borrow(s));
    const cupel_exact_value *taken = mpfr_zero_p(v[0]->lo) ? v[2] : v[1];
    cupel_exact_copy(out, taken);
    bool exact;
    const double value = cupel_exact_nearest(taken, &exact);
    out->ball = cupel_ball_where(&v[0]->ball, &v[1]->ball, &v[2]->ball, value);
    /* kept or written, nobody can tell */
    const bool keeps = (v[1]->ball.classes | v[2]->ball.classes) & CUPEL_KEEP;
    if (keeps && v[0]->ball.radius > 0 && !out->ball.reason) out->ball.reason = CUPEL_REASON_UNBOUNDED;
    out->open = v[0]->open || taken->open;
    out->unsound =
        v[0]->unsound || taken->unsound || (v[0]->ball.radius > 0 && (v[1]->unsound || v[2]->unsound));
    out->precision = s->precision;
    for (int i = 0; i < 3; i++) cupel_exact_return(s);
}

/* Truncated; what does not fit is not judged, and any number will do. */
static void to_integer(cupel_dtype type, cupel_exact_value *out, const cupel_exact_value *a) {
    mpfr_rint_trunc(out->lo, a->lo, MPFR_RNDN);
    mpfr_rint_trunc(out->hi, a->hi, MPFR_RNDN);
    if (mpfr_zero_p(out->lo)) mpfr_set_zero(out->lo, 1); /* integers know no -0 */
    if (mpfr_zero_p(out->hi)) mpfr_set_zero(out->hi, 1);
    if (!mpfr_number_p(out->lo) || !mpfr_number_p(out->hi)) {
        bool exact;
        cupel_exact_set_double(out, cupel_round(type, cupel_exact_nearest(a, &exact)));
        if (mpfr_nan_p(out->lo)) cupel_exact_set_integer(out, 0);
    }
    if (!cupel_exact_is_point(out)) out->open = true;
}

/* A conversion to fp8 may saturate or not: the finite number stands for the value, cupel_ball_cast adds the
 * other outcome. Infinities are rounded as they are: they saturate as well. */
static double saturated(cupel_dtype type, mpfr_srcptr x) {
    const double r = cupel_exact_round(type, x);
    if (mpfr_nan_p(x) || isfinite(r)) return r;
    return cupel_saturate(type, mpfr_sgn(x) > 0 ? INFINITY : -INFINITY);
}

static void cast(cupel_exact_session *s, const cupel_node *n, int64_t index, cupel_exact_value *out) {
    cupel_exact_value *scratch = cupel_exact_borrow(s);
    const cupel_exact_value *a = cupel_exact_get(s, n->args[0], index, scratch);
    cupel_exact_start(s, out);
    if (n->kind == CUPEL_VALUE_REAL) {
        const double lo = saturated(n->type, a->lo), hi = saturated(n->type, a->hi);
        mpfr_set_d(out->lo, lo, MPFR_RNDD);
        mpfr_set_d(out->hi, hi, MPFR_RNDU);
        if (isnan(lo) != isnan(hi)) cupel_exact_tidy(out, false);
        if (!cupel_exact_is_point(out)) out->open = true;
    } else {
        to_integer(n->type, out, a);
    }
    bool exact;
    out->ball = cupel_ball_cast(&s->w, n->type, &a->ball, cupel_exact_nearest(out, &exact));
    out->unsound = a->unsound || (out->open && !(out->ball.radius > 0));
    out->open |= a->open;
    cupel_exact_return(s);
}

static void exclude(cupel_exact_session *s, const cupel_node *n, int64_t index, cupel_exact_value *out) {
    const cupel_exact_value *x = cupel_exact_get(s, n->args[0], index, cupel_exact_borrow(s));
    const cupel_exact_value *c = cupel_exact_get(s, n->args[1], index, cupel_exact_borrow(s));
    cupel_exact_copy(out, x);
    out->ball = cupel_ball_exclude(&x->ball, &c->ball);
    out->open |= c->open;
    out->unsound |= c->unsound;
    cupel_exact_return(s);
    cupel_exact_return(s);
}

static void between(cupel_exact_session *s, const cupel_node *n, int64_t index, cupel_exact_value *out) {
    const cupel_exact_value *v[3];
    for (int i = 0; i < 3; i++) v[i] = cupel_exact_get(s, n->args[i], index, cupel_exact_borrow(s));
    cupel_exact_copy(out, v[0]);
    out->ball = cupel_ball_between(&v[0]->ball, &v[1]->ball, &v[2]->ball);
    out->open |= v[2]->open;
    out->unsound |= v[1]->unsound || v[2]->unsound;
    for (int i = 0; i < 3; i++) cupel_exact_return(s);
}

static void loosen(cupel_exact_session *s, const cupel_node *n, int64_t index, cupel_exact_value *out) {
    const cupel_exact_value *x = cupel_exact_get(s, n->args[0], index, cupel_exact_borrow(s));
    cupel_exact_copy(out, x);
    out->ball = cupel_ball_loosen(&s->w, n->type, n->scaled, &x->ball);
    cupel_exact_return(s);
}

void cupel_exact_select(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    switch (n->op) {
    case CUPEL_OP_WHERE: choose(s, n, index, out); break;
    case CUPEL_OP_EXCLUDE: exclude(s, n, index, out); break;
    case CUPEL_OP_BETWEEN: between(s, n, index, out); break;
    case CUPEL_OP_LOOSEN: loosen(s, n, index, out); break;
    default: cast(s, n, index, out); break;
    }
}
