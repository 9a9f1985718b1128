/* Adding at positions. Every element is a sum of its old value and of what is added to it, in any order. */
#include <stdlib.h>

#include "bounded.h"

/* The reason that an index of this row leaves it open, and whether all terms are plain numbers. */
static uint8_t row_reason(const cupel_tensor *index, int64_t begin, int64_t count, int64_t extent) {
    for (int64_t i = begin; i < begin + count; i++) {
        const cupel_ball ball = cupel_tensor_load(index, i);
        const uint8_t reason = cupel_ball_index_reason(&ball, extent);
        if (reason) return reason;
    }
    return CUPEL_REASON_JUDGED;
}

static cupel_code open_row(cupel_bounded *b, cupel_tensor *t, int64_t begin, int64_t extent, uint8_t reason) {
    const cupel_ball open = cupel_ball_plain(0, 0, CUPEL_CLASS_FINITE, reason);
    for (int64_t i = begin; i < begin + extent; i++) CUPEL_TRY(cupel_tensor_store(b, t, i, &open));
    return CUPEL_OK;
}

/* A tally for each element of the row. */
static cupel_code add_row(cupel_bounded *b, int node, int64_t row, int64_t extent, int64_t count,
                          cupel_ball_tally *tallies) {
    cupel_tensor *t = &b->tensors[node];
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0), *index = cupel_bounded_arg(b, node, 1),
                       *source = cupel_bounded_arg(b, node, 2);
    const cupel_value_kind kind = b->graph->nodes[node].kind;
    double *value = t->value + row * extent;
    for (int64_t i = 0; i < extent; i++) {
        const cupel_ball old = cupel_tensor_load(x, row * extent + i);
        tallies[i] = cupel_ball_tally_start();
        cupel_ball_tally_add(&b->w, &tallies[i], &old);
        value[i] = old.value;
    }
    for (int64_t i = row * count; i < (row + 1) * count; i++) {
        const cupel_ball term = cupel_tensor_load(source, i);
        const int64_t at = (int64_t)index->value[i];
        cupel_ball_tally_add(&b->w, &tallies[at], &term);
        value[at] += term.value;
    }
    for (int64_t i = 0; i < extent; i++) {
        const cupel_ball sum =
            cupel_ball_tally_end(&b->w, &b->plans[node].trait, kind, &tallies[i], value[i], false);
        t->terms = fmax(t->terms, sum.terms);
        CUPEL_TRY(cupel_tensor_store(b, t, row * extent + i, &sum));
    }
    return CUPEL_OK;
}

cupel_code cupel_bounded_scatter(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node], *added = &b->graph->nodes[n->args[1]];
    cupel_tensor *t = &b->tensors[node];
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0), *index = cupel_bounded_arg(b, node, 1),
                       *source = cupel_bounded_arg(b, node, 2);
    const int64_t extent = n->shape[n->rank - 1], count = added->shape[added->rank - 1];
    if (t->count == 0) return CUPEL_OK;
    t->sum = b->plans[node].has_sum;
    t->products = t->sum && (x->roundings > 0 || x->products || source->roundings > 0 || source->products);
    if (n->kind == CUPEL_VALUE_REAL && x->floor >= 0 && source->floor >= 0) t->floor = 0;
    if (b->plans[node].wants_magnitude) CUPEL_TRY(cupel_tensor_need_magnitude(b, t));
    if (t->sum && b->plans[node].wants_chain) CUPEL_TRY(cupel_tensor_need_chain(b, t));
    cupel_ball_tally *tallies = malloc((size_t)extent * sizeof *tallies);
    if (!tallies)
        return cupel_fail(b->err, CUPEL_MEMORY, "no memory for a row of %lld elements", (long long)extent);
    cupel_code code = CUPEL_OK;
    for (int64_t row = 0; row < t->count / extent && code == CUPEL_OK; row++) {
        const uint8_t reason = row_reason(index, row * count, count, extent);
        code = reason ? open_row(b, t, row * extent, extent, reason)
                      : add_row(b, node, row, extent, count, tallies);
    }
    free(tallies);
    cupel_tensor_end_chain(t);
    return code;
}
