/* Reductions over the last axis, and matrix products. */
#include <math.h>
#include <stdlib.h>

#include "exact.h"

static int64_t last_extent(const cupel_exact_session *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    return n->shape[n->rank - 1];
}

static void inherit(cupel_exact_value *out, const cupel_exact_value *a) {
    out->open |= a->open;
    out->unsound |= a->unsound;
}

static void sum(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    const int64_t length = last_extent(s, n->args[0]);
    cupel_ball_tally tally = cupel_ball_tally_start();
    cupel_exact_value *scratch = cupel_exact_borrow(s);
    cupel_exact_start(s, out);
    mpfr_set_zero(out->lo, 1);
    mpfr_set_zero(out->hi, 1);
    for (int64_t i = 0; i < length && s->code == CUPEL_OK; i++) {
        const cupel_exact_value *a = cupel_exact_get(s, n->args[0], index * length + i, scratch);
        mpfr_add(out->lo, out->lo, a->lo, MPFR_RNDD);
        mpfr_add(out->hi, out->hi, a->hi, MPFR_RNDU);
        inherit(out, a);
        cupel_ball_tally_add(&s->w, &tally, &a->ball);
    }
    cupel_exact_tidy(out, true);
    bool exact;
    const double value = cupel_exact_nearest(out, &exact);
    out->ball = cupel_ball_tally_end(&s->w, &s->traits[node], n->kind, &tally, value, exact);
    cupel_exact_return(s);
}

/* PROD: a running product whose last two states alternate between two places. */
static void prod(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    const int64_t length = last_extent(s, n->args[0]);
    cupel_exact_value *scratch = cupel_exact_borrow(s);
    cupel_exact_value *before = cupel_exact_borrow(s);
    cupel_exact_start(s, out);
    cupel_exact_set_integer(out, 1);
    out->ball = cupel_ball_one();
    for (int64_t i = 0; i < length && s->code == CUPEL_OK; i++) {
        const cupel_exact_value *a = cupel_exact_get(s, n->args[0], index * length + i, scratch);
        if (i == 0) { /* one times the first is no rounding */
            cupel_exact_copy(out, a);
            out->ball.sum = false;
            continue;
        }
        cupel_exact_copy(before, out);
        cupel_exact_start(s, out);
        cupel_exact_multiply(out, before, a);
        bool exact;
        const double value = cupel_exact_nearest(out, &exact);
        out->ball =
            cupel_ball_prod_step(&s->w, &s->traits[node], n->kind, &before->ball, &a->ball, value, exact);
        inherit(out, before);
        inherit(out, a);
    }
    out->precision = s->precision;
    cupel_exact_return(s);
    cupel_exact_return(s);
}

/* NaN wins. Where enclosures overlap, so does their hull: no decision is needed. */
static void extremum(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    const int64_t length = last_extent(s, n->args[0]);
    const bool largest = n->op == CUPEL_OP_AMAX;
    cupel_exact_value *scratch = cupel_exact_borrow(s);
    cupel_exact_copy(out, cupel_exact_get(s, n->args[0], index * length, scratch));
    out->precision = s->precision;
    for (int64_t i = 1; i < length && s->code == CUPEL_OK; i++) {
        const cupel_exact_value *a = cupel_exact_get(s, n->args[0], index * length + i, scratch);
        const mpfr_prec_t wanted = mpfr_get_prec(a->lo), held = mpfr_get_prec(out->lo);
        if (wanted > held) {
            mpfr_prec_round(out->lo, wanted, MPFR_RNDD);
            mpfr_prec_round(out->hi, wanted, MPFR_RNDU);
        }
        if (cupel_exact_is_nan(a) || cupel_exact_is_nan(out)) {
            mpfr_set_nan(out->lo);
            mpfr_set_nan(out->hi);
        } else if (largest) {
            mpfr_max(out->lo, out->lo, a->lo, MPFR_RNDD);
            mpfr_max(out->hi, out->hi, a->hi, MPFR_RNDU);
        } else {
            mpfr_min(out->lo, out->lo, a->lo, MPFR_RNDD);
            mpfr_min(out->hi, out->hi, a->hi, MPFR_RNDU);
        }
        bool exact;
        const double value = cupel_exact_nearest(out, &exact);
        out->ball = cupel_ball_extremum(&s->w, n->op, &out->ball, &a->ball, value);
        inherit(out, a);
    }
    cupel_exact_return(s);
}

static void position(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    const int64_t length = last_extent(s, n->args[0]);
    cupel_exact_value *scratch = cupel_exact_borrow(s);
    cupel_exact_start(s, out);
    cupel_ball *elements = calloc((size_t)length, sizeof *elements);
    if (!elements) s->code = CUPEL_MEMORY;
    for (int64_t i = 0; i < length && s->code == CUPEL_OK; i++) {
        const cupel_exact_value *a = cupel_exact_get(s, n->args[0], index * length + i, scratch);
        elements[i] = a->ball;
        inherit(out, a);
    }
    if (s->code == CUPEL_OK) out->ball = cupel_ball_arg(&s->w, n->op, elements, length);
    cupel_exact_set_integer(out, (int64_t)out->ball.value);
    free(elements);
    cupel_exact_return(s);
}

/* Integers that are known exactly differ where their nearest doubles do not. False: some are not. */
static bool position_of_integer(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    const int64_t length = last_extent(s, n->args[0]);
    const int sign = n->op == CUPEL_OP_ARGMIN ? -1 : 1;
    cupel_exact_value *best = cupel_exact_borrow(s), *scratch = cupel_exact_borrow(s);
    int64_t winner = 0;
    uint8_t reason = CUPEL_REASON_JUDGED;
    bool blurred = false;
    cupel_exact_start(s, out);
    for (int64_t i = 0; i < length && s->code == CUPEL_OK; i++) {
        const cupel_exact_value *a = cupel_exact_get(s, n->args[0], index * length + i, scratch);
        inherit(out, a);
        if (!reason) reason = a->ball.reason;
        blurred |= a->ball.radius > 0;
        if (i > 0 && sign * mpfr_cmp(a->lo, best->lo) <= 0) continue;
        winner = i;
        cupel_exact_copy(best, a);
    }
    out->ball = cupel_ball_plain((double)winner, 0, CUPEL_CLASS_FINITE, reason);
    cupel_exact_set_integer(out, winner);
    cupel_exact_return(s);
    cupel_exact_return(s);
    return !blurred;
}

void cupel_exact_reduce(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    switch (s->graph->nodes[node].op) {
    case CUPEL_OP_SUM: sum(s, node, index, out); break;
    case CUPEL_OP_PROD: prod(s, node, index, out); break;
    case CUPEL_OP_AMAX:
    case CUPEL_OP_AMIN: extremum(s, node, index, out); break;
    default:
        if (s->graph->nodes[s->graph->nodes[node].args[0]].kind == CUPEL_VALUE_REAL ||
            !position_of_integer(s, node, index, out))
            position(s, node, index, out);
        break;
    }
}

/* Element (.., m, n) of a matrix product: sum over k of a[.., m, k] * b[.., k, n]. */
void cupel_exact_product(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    const int64_t inner = last_extent(s, n->args[0]), columns = n->shape[n->rank - 1];
    const int64_t row = index / columns, column = index % columns, batch = row / n->shape[n->rank - 2];
    cupel_ball_tally tally = cupel_ball_tally_start();
    cupel_exact_value *scratch_a = cupel_exact_borrow(s);
    cupel_exact_value *scratch_b = cupel_exact_borrow(s);
    cupel_exact_value *term = cupel_exact_borrow(s);
    cupel_exact_start(s, out);
    mpfr_set_zero(out->lo, 1);
    mpfr_set_zero(out->hi, 1);
    for (int64_t k = 0; k < inner && s->code == CUPEL_OK; k++) {
        const cupel_exact_value *a = cupel_exact_get(s, n->args[0], row * inner + k, scratch_a);
        const cupel_exact_value *b =
            cupel_exact_get(s, n->args[1], (batch * inner + k) * columns + column, scratch_b);
        cupel_exact_start(s, term);
        cupel_exact_multiply(term, a, b);
        mpfr_add(out->lo, out->lo, term->lo, MPFR_RNDD);
        mpfr_add(out->hi, out->hi, term->hi, MPFR_RNDU);
        bool exact;
        const double value = cupel_exact_nearest(term, &exact);
        if (n->kind == CUPEL_VALUE_REAL) {
            cupel_ball_tally_product(&s->w, &tally, &a->ball, &b->ball, value, exact);
        } else {
            const cupel_ball product =
                cupel_ball_integer(&s->w, n->width, CUPEL_OP_MUL, &a->ball, &b->ball, value);
            cupel_ball_tally_add(&s->w, &tally, &product);
        }
        inherit(out, a);
        inherit(out, b);
        inherit(out, term);
    }
    cupel_exact_tidy(out, true);
    bool exact;
    const double value = cupel_exact_nearest(out, &exact);
    out->ball = cupel_ball_tally_end(&s->w, &s->traits[node], n->kind, &tally, value, exact);
    cupel_exact_return(s);
    cupel_exact_return(s);
    cupel_exact_return(s);
}
