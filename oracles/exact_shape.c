/* Leaves, and moves of elements: the element itself is handed on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

static void constant(cupel_exact_session *s, const cupel_node *n, cupel_exact_value *out) {
    const bool exact = n->kind != CUPEL_VALUE_REAL || !n->digits;
    if (n->kind != CUPEL_VALUE_REAL) {
        cupel_exact_set_integer(out, n->integer);
    } else if (exact) {
        cupel_exact_set_double(out, n->number);
    } else {
        cupel_exact_start(s, out);
        const bool negative = n->digits[0] == '-';
        if (strcmp(n->digits + negative, "pi") == 0) {
            mpfr_const_pi(out->lo, MPFR_RNDD);
            mpfr_const_pi(out->hi, MPFR_RNDU);
            if (negative) {
                mpfr_swap(out->lo, out->hi);
                mpfr_neg(out->lo, out->lo, MPFR_RNDD);
                mpfr_neg(out->hi, out->hi, MPFR_RNDU);
            }
        } else {
            mpfr_strtofr(out->lo, n->digits, NULL, 10, MPFR_RNDD);
            mpfr_strtofr(out->hi, n->digits, NULL, 10, MPFR_RNDU);
        }
    }
    const double number = n->kind == CUPEL_VALUE_REAL ? n->number : (double)n->integer;
    out->ball = cupel_ball_leaf(&s->w, n->kind, number, exact);
    if (number == 0) { /* a zero that the contract writes has no sign that is judged */
        out->ball.direct = false;
        out->ball.classes &= CUPEL_CLASS_MASK;
    }
    if (!isfinite(number)) return;
    out->ball.floor = number - out->ball.radius; /* x + 1e-5 of a variance keeps its sign */
    out->ball.ceiling = number + out->ball.radius;
}

static void integer(cupel_exact_session *s, cupel_value_kind kind, int64_t x, cupel_exact_value *out) {
    cupel_exact_set_integer(out, x);
    out->ball = cupel_ball_leaf(&s->w, kind, (double)x, true);
}

void cupel_exact_leaf(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    out->open = out->unsound = false;
    out->precision = MPFR_PREC_MAX > INT32_MAX ? INT32_MAX : (int)MPFR_PREC_MAX;
    switch (n->op) {
    case CUPEL_OP_INPUT: {
        const char *element =
            (const char *)s->bindings->data[n->input] + (size_t)index * cupel_format_of(n->type)->size;
        if (n->kind != CUPEL_VALUE_REAL) {
            const int64_t x = cupel_decode_int(n->type, element);
            integer(s, n->kind, x, out);
            if (n->type == CUPEL_U64 && x < 0) {
                cupel_exact_set_unsigned(out, (uint64_t)x);
                out->ball = cupel_ball_leaf(&s->w, n->kind, (double)(uint64_t)x, true);
            }
        } else {
            const double x = cupel_decode(n->type, element);
            cupel_exact_set_double(out, x);
            out->ball = cupel_ball_leaf(&s->w, n->kind, x, true);
        }
        break;
    }
    case CUPEL_OP_IOTA: integer(s, n->kind, n->integer + index * n->step, out); break;
    case CUPEL_OP_PHILOX: integer(s, n->kind, cupel_philox_word(n->integer, index), out); break;
    case CUPEL_OP_KEEP:
        cupel_exact_set_integer(out, 0);
        out->ball = cupel_ball_plain(0, 0, CUPEL_KEEP, CUPEL_REASON_JUDGED);
        break;
    default: constant(s, n, out); break;
    }
}

static const cupel_exact_value *concat(cupel_exact_session *s, const cupel_node *n, int64_t index,
                                       cupel_exact_value *scratch) {
    int64_t inner = 1;
    for (int d = n->axis + 1; d < n->rank; d++) inner *= n->shape[d];
    const int64_t outer = index / inner / n->shape[n->axis], below = index % inner;
    int64_t at = index / inner % n->shape[n->axis];
    int part = 0;
    while (at >= s->graph->nodes[n->args[part]].shape[n->axis])
        at -= s->graph->nodes[n->args[part++]].shape[n->axis];
    const int64_t extent = s->graph->nodes[n->args[part]].shape[n->axis];
    return cupel_exact_get(s, n->args[part], (outer * extent + at) * inner + below, scratch);
}

static void coordinates(const cupel_node *n, int64_t index, int64_t *out) {
    for (int d = n->rank; d-- > 0;) {
        out[d] = index % n->shape[d];
        index /= n->shape[d];
    }
}

static const cupel_exact_value *view(cupel_exact_session *s, const cupel_node *n, int64_t index,
                                     cupel_exact_value *scratch) {
    int64_t at[CUPEL_RANK_MAX], source = n->offset;
    coordinates(n, index, at);
    for (int d = 0; d < n->rank; d++) source += at[d] * n->stride[d];
    return cupel_exact_get(s, n->args[0], source, scratch);
}

static const cupel_exact_value *pad(cupel_exact_session *s, const cupel_node *n, int64_t index,
                                    cupel_exact_value *scratch) {
    const cupel_node *from = &s->graph->nodes[n->args[0]];
    int64_t at[CUPEL_RANK_MAX], source = 0;
    coordinates(n, index, at);
    for (int d = 0; d < n->rank; d++) {
        at[d] -= n->before[d];
        if (at[d] < 0 || at[d] >= from->shape[d]) {
            scratch->open = scratch->unsound = false;
            cupel_exact_set_double(scratch, n->number);
            scratch->ball = cupel_ball_leaf(&s->w, n->kind, n->number, true);
            return scratch;
        }
        source = source * from->shape[d] + at[d];
    }
    return cupel_exact_get(s, n->args[0], source, scratch);
}

/* torch.gather: the index replaces the coordinate along axis. An index outside is the caller's error. */
static const cupel_exact_value *gather(cupel_exact_session *s, const cupel_node *n, int64_t index,
                                       cupel_exact_value *scratch) {
    const cupel_node *from = &s->graph->nodes[n->args[0]];
    const cupel_exact_value *chosen = cupel_exact_get(s, n->args[1], index, scratch);
    const double wanted = chosen->ball.value;
    const bool inside = wanted >= 0 && wanted < (double)from->shape[n->axis];
    uint8_t reason = chosen->ball.reason;
    if (!reason && !inside) reason = CUPEL_REASON_CONVENTION;
    if (!reason && chosen->ball.radius > 0) reason = CUPEL_REASON_UNBOUNDED;
    if (reason) {
        cupel_exact_set_integer(scratch, 0);
        scratch->open = scratch->unsound = false;
        scratch->ball = cupel_ball_plain(0, 0, CUPEL_CLASS_FINITE, reason);
        return scratch;
    }
    int64_t at[CUPEL_RANK_MAX], source = 0;
    coordinates(n, index, at);
    at[n->axis] = (int64_t)wanted;
    for (int d = 0; d < n->rank; d++) source = source * from->shape[d] + at[d];
    return cupel_exact_get(s, n->args[0], source, scratch);
}

const cupel_exact_value *cupel_exact_shape(cupel_exact_session *s, int node, int64_t index,
                                           cupel_exact_value *scratch) {
    const cupel_node *n = &s->graph->nodes[node];
    switch (n->op) {
    case CUPEL_OP_VIEW: return view(s, n, index, scratch);
    case CUPEL_OP_CONCAT: return concat(s, n, index, scratch);
    case CUPEL_OP_PAD: return pad(s, n, index, scratch);
    case CUPEL_OP_GATHER: return gather(s, n, index, scratch);
    default: return cupel_exact_get(s, n->args[0], index, scratch); /* RESHAPE */
    }
}
