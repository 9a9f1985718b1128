/* Inclusive scans. Every element of a row needs those before it, so a row is computed at once and remembered.
 */
#include "ball_recurrence.h"
#include "exact.h"

/* What the running sum has met: in any order, and step by step. */
typedef struct sums {
    cupel_ball_tally tally;
    cupel_line line;
} sums;

/* out = before combined with the next element; the first element stands for itself. */
static void combine(const cupel_exact_session *s, int node, sums *sums, cupel_exact_value *out,
                    const cupel_exact_value *before, const cupel_exact_value *a) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_trait *t = &s->traits[node];
    bool exact;
    cupel_exact_start(s, out);
    switch (n->op) {
    case CUPEL_OP_CUMSUM: {
        cupel_exact_add(out, before, a);
        const double value = cupel_exact_nearest(out, &exact);
        if (s->w.sequential && n->kind == CUPEL_VALUE_REAL) { /* a recurrence whose decays are 1 */
            const cupel_ball one = cupel_ball_one();
            out->ball = cupel_line_next(&s->w, t, &sums->line, &one, &a->ball, NULL, value);
            break;
        }
        cupel_ball_tally_add(&s->w, &sums->tally, &a->ball);
        out->ball = cupel_ball_tally_end(&s->w, t, n->kind, &sums->tally, value, exact);
        break;
    }
    case CUPEL_OP_CUMPROD: {
        cupel_exact_multiply(out, before, a);
        const double value = cupel_exact_nearest(out, &exact);
        const cupel_ball product = s->w.sequential ? cupel_ball_unchained(&before->ball) : before->ball;
        out->ball = cupel_ball_prod_step(&s->w, t, n->kind, &product, &a->ball, value, exact);
        break;
    }
    default: {
        const bool largest = n->op == CUPEL_OP_CUMMAX;
        if (cupel_exact_is_nan(a) || cupel_exact_is_nan(before)) {
            mpfr_set_nan(out->lo);
            mpfr_set_nan(out->hi);
        } else if (largest) {
            mpfr_max(out->lo, before->lo, a->lo, MPFR_RNDD);
            mpfr_max(out->hi, before->hi, a->hi, MPFR_RNDU);
        } else {
            mpfr_min(out->lo, before->lo, a->lo, MPFR_RNDD);
            mpfr_min(out->hi, before->hi, a->hi, MPFR_RNDU);
        }
        const double value = cupel_exact_nearest(out, &exact);
        out->ball = cupel_ball_extremum(&s->w, largest ? CUPEL_OP_AMAX : CUPEL_OP_AMIN, &before->ball,
                                        &a->ball, value);
        break;
    }
    }
    out->open |= before->open || a->open;
    out->unsound |= before->unsound || a->unsound;
}

void cupel_exact_scan(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    const int64_t length = n->shape[n->rank - 1], row = index / length * length;
    const bool copies_first = n->op != CUPEL_OP_CUMSUM; /* a sum's first element counts as its first term */
    sums sums = {cupel_ball_tally_start(), cupel_line_start(0)};
    cupel_exact_value *scratch = cupel_exact_borrow(s);
    cupel_exact_value *state = cupel_exact_borrow(s);
    cupel_exact_value *next = cupel_exact_borrow(s);
    cupel_exact_start(s, state);
    cupel_exact_set_integer(state, 0);
    for (int64_t i = row; i < row + length && s->code == CUPEL_OK; i++) {
        const cupel_exact_value *a = cupel_exact_get(s, n->args[0], i, scratch);
        if (i == row && copies_first) {
            cupel_exact_copy(next, a);
            next->precision = s->precision;
            next->ball.sum = false;
        } else {
            combine(s, node, &sums, next, state, a);
        }
        cupel_exact_copy(state, next);
        if (i == index) {
            cupel_exact_copy(out, next);
            continue;
        }
        if (s->memory.count >= CUPEL_EXACT_ENTRIES) continue; /* computed again when it is asked for */
        bool fresh;
        cupel_exact_value *kept = cupel_exact_remember(s, node, i, &fresh);
        if (kept) cupel_exact_copy(kept, next);
    }
    cupel_exact_return(s);
    cupel_exact_return(s);
    cupel_exact_return(s);
}
