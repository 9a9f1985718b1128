/* Adding at positions. */
#include "exact.h"

/* Adds a term to the sum in out. */
static void add_term(cupel_exact_session *s, cupel_ball_tally *tally, cupel_exact_value *out,
                     const cupel_exact_value *term) {
    mpfr_add(out->lo, out->lo, term->lo, MPFR_RNDD);
    mpfr_add(out->hi, out->hi, term->hi, MPFR_RNDU);
    out->open |= term->open;
    out->unsound |= term->unsound;
    cupel_ball_tally_add(&s->w, tally, &term->ball);
}

/* x[.., i] and every source element whose index is i; an index that is not known leaves the row open. */
void cupel_exact_scatter(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node], *added = &s->graph->nodes[n->args[1]];
    const int64_t extent = n->shape[n->rank - 1], count = added->shape[added->rank - 1];
    const int64_t row = index / extent, own = index % extent;
    cupel_ball_tally tally = cupel_ball_tally_start();
    cupel_exact_value *scratch = cupel_exact_borrow(s);
    uint8_t reason = CUPEL_REASON_JUDGED;
    cupel_exact_start(s, out);
    mpfr_set_zero(out->lo, 1);
    mpfr_set_zero(out->hi, 1);
    add_term(s, &tally, out, cupel_exact_get(s, n->args[0], index, scratch));
    for (int64_t i = row * count; i < (row + 1) * count && s->code == CUPEL_OK; i++) {
        const cupel_ball at = cupel_exact_get(s, n->args[1], i, scratch)->ball;
        if (!reason) reason = cupel_ball_index_reason(&at, extent);
        if (at.value != (double)own) continue;
        add_term(s, &tally, out, cupel_exact_get(s, n->args[2], i, scratch));
    }
    cupel_exact_tidy(out, true);
    bool exact;
    const double value = cupel_exact_nearest(out, &exact);
    out->ball = cupel_ball_tally_end(&s->w, &s->traits[node], n->kind, &tally, value, exact);
    if (reason) {
        cupel_exact_set_integer(out, 0);
        out->open = out->unsound = false;
        out->ball = cupel_ball_plain(0, 0, CUPEL_CLASS_FINITE, reason);
    }
    cupel_exact_return(s);
}
