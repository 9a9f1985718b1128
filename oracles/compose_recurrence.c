/* The linear recurrences of the language, as CONTRACT.md defines them: a state S of [K, V] over time, and
 * what q reads from it. The scale stands at q, from where every kernel's place for it differs by one
 * rounding. */
#include <string.h>

#include "function_table.h"

/* What all share: q, k of [.., L, K], v of [.., L, V], batch axes broadcast together. */
typedef struct recurrence {
    int q, k, v;
    int rank;                                             /* of q */
    int64_t vector[CUPEL_RANK_MAX], step[CUPEL_RANK_MAX]; /* the shapes [.., L, K] and [.., L] */
    int64_t columns;
} recurrence;

static int argument(cupel_builder *b, const cupel_call *call, int i) {
    return cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, i));
}

static int refuse(cupel_builder *b, const cupel_call *call, int i, const char *expected, int node) {
    return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[i].place, "expected %s in %s, found the shape %s",
                           expected, call->info->signature,
                           cupel_emit_shape_text(b, b->nodes[node].rank, b->nodes[node].shape));
}

/* Argument i of the given shape, broadcasting its batch axes; `what` for messages. */
static int of_shape(cupel_builder *b, const cupel_call *call, int i, int rank, const int64_t *shape, int own,
                    const char *what) {
    int node = argument(b, call, i);
    if (node < 0) return -1;
    const cupel_node *n = &b->nodes[node];
    const int64_t *last = shape + rank - own;
    if (n->rank < own || n->rank > rank ||
        memcmp(n->shape + n->rank - own, last, (size_t)own * sizeof *last) != 0)
        return refuse(b, call, i, what, node);
    return cupel_emit_broadcast(b, node, rank, shape);
}

/* Reads q, k and v at the given places. */
static bool read_vectors(cupel_builder *b, const cupel_call *call, int at_q, int at_k, int at_v,
                         recurrence *r) {
    const int q = argument(b, call, at_q), v = argument(b, call, at_v);
    if (q < 0 || v < 0) return false;
    const cupel_node *n = &b->nodes[q], *values = &b->nodes[v];
    int batch;
    if (n->rank < 2 || n->rank >= CUPEL_RANK_MAX) {
        refuse(b, call, at_q, "[.., L, K]", q);
        return false;
    }
    if (values->rank < 2 || values->rank >= CUPEL_RANK_MAX ||
        values->shape[values->rank - 2] != n->shape[n->rank - 2] ||
        !cupel_emit_common(n->rank - 2, n->shape, values->rank - 2, values->shape, &batch, r->vector)) {
        refuse(b, call, at_v, "[.., L, V] with the same L", v);
        return false;
    }
    r->rank = batch + 2;
    r->columns = values->shape[values->rank - 1];
    r->vector[batch] = n->shape[n->rank - 2];
    r->vector[batch + 1] = n->shape[n->rank - 1];
    memcpy(r->step, r->vector, sizeof r->step);
    r->q = of_shape(b, call, at_q, r->rank, r->vector, 2, "[.., L, K]");
    r->k = of_shape(b, call, at_k, r->rank, r->vector, 2, "[.., L, K]");
    int64_t shape[CUPEL_RANK_MAX];
    memcpy(shape, r->vector, sizeof shape);
    shape[r->rank - 1] = r->columns;
    r->v = of_shape(b, call, at_v, r->rank, shape, 2, "[.., L, V]");
    return b->code == CUPEL_OK;
}

/* A number a step, [.., L], beside every element of the vectors. */
static int per_step(cupel_builder *b, const cupel_call *call, int i, const recurrence *r) {
    int node = of_shape(b, call, i, r->rank - 1, r->step, 1, "[.., L]");
    return cupel_emit_broadcast(b, cupel_emit_unsqueeze(b, node, r->rank - 1), r->rank, r->vector);
}

/* x y' at every step: [.., L, K, V]. */
static int outer(cupel_builder *b, const recurrence *r, int x, int y) {
    if (b->code != CUPEL_OK || x < 0 || y < 0) return -1;
    return mul_(b, cupel_emit_unsqueeze(b, x, r->rank), cupel_emit_unsqueeze(b, y, r->rank - 1));
}

static int scaled_query(cupel_builder *b, const cupel_call *call, int i, const recurrence *r) {
    return cupel_call_has(call, i) ? mul_(b, r->q, cupel_call_node(b, call, i)) : r->q;
}

/* S = diag(a) S + beta k (v - (a S)' k)'; a, logs and beta are -1 where there are none. */
static int scan(cupel_builder *b, const recurrence *r, int q, int logs, int beta) {
    int decay = logs < 0 ? cupel_emit_broadcast(b, number_(b, 1.0), r->rank, r->vector) : exp_(b, logs);
    int weighted = beta < 0 ? r->k : mul_(b, beta, r->k);
    const cupel_state_operands operands = {
        .a = decay,
        .p = beta < 0 ? -1 : weighted,
        .r = beta < 0   ? -1
             : logs < 0 ? r->k
                        : mul_(b, decay, r->k),
        .x = outer(b, r, weighted, r->v),
        .logs = logs,
        .q = q,
    };
    if (b->code != CUPEL_OK || q < 0) return -1;
    return cupel_emit_state_scan(b, &operands);
}

int cupel_compose_linear_attention(cupel_builder *b, const cupel_call *call) {
    recurrence r;
    if (!read_vectors(b, call, 0, 1, 2, &r)) return -1;
    return scan(b, &r, scaled_query(b, call, 3, &r), -1, -1);
}

int cupel_compose_gated_linear_attention(cupel_builder *b, const cupel_call *call) {
    recurrence r;
    if (!read_vectors(b, call, 0, 1, 2, &r)) return -1;
    int g = of_shape(b, call, 3, r.rank, r.vector, 2, "[.., L, K]");
    return g < 0 ? -1 : scan(b, &r, scaled_query(b, call, 4, &r), g, -1);
}

int cupel_compose_delta_rule(cupel_builder *b, const cupel_call *call) {
    recurrence r;
    if (!read_vectors(b, call, 0, 1, 2, &r)) return -1;
    int beta = per_step(b, call, 3, &r);
    return beta < 0 ? -1 : scan(b, &r, scaled_query(b, call, 4, &r), -1, beta);
}

int cupel_compose_gated_delta_rule(cupel_builder *b, const cupel_call *call) {
    recurrence r;
    if (!read_vectors(b, call, 0, 1, 2, &r)) return -1;
    int g = per_step(b, call, 3, &r), beta = per_step(b, call, 4, &r);
    return g < 0 || beta < 0 ? -1 : scan(b, &r, scaled_query(b, call, 5, &r), g, beta);
}

int cupel_compose_kda(cupel_builder *b, const cupel_call *call) {
    recurrence r;
    if (!read_vectors(b, call, 0, 1, 2, &r)) return -1;
    int g = of_shape(b, call, 3, r.rank, r.vector, 2, "[.., L, K]"), beta = per_step(b, call, 4, &r);
    return g < 0 || beta < 0 ? -1 : scan(b, &r, scaled_query(b, call, 5, &r), g, beta);
}

/* h = exp(A dt_t) h + dt_t B_t x_t', y_t = h' C_t; A is a number for each batch. */
int cupel_compose_ssd(cupel_builder *b, const cupel_call *call) {
    recurrence r;
    if (!read_vectors(b, call, 4, 3, 0, &r)) return -1;
    int dt = per_step(b, call, 1, &r);
    int rate = of_shape(b, call, 2, r.rank - 2, r.vector, 0, "[..], the batch axes of x");
    if (dt < 0 || rate < 0) return -1;
    rate = cupel_emit_unsqueeze(b, cupel_emit_unsqueeze(b, rate, r.rank - 2), r.rank - 1);
    int logs = mul_(b, cupel_emit_broadcast(b, rate, r.rank, r.vector), dt);
    const cupel_state_operands operands = {.a = exp_(b, logs),
                                           .p = -1,
                                           .r = -1,
                                           .x = outer(b, &r, mul_(b, dt, r.k), r.v),
                                           .logs = logs,
                                           .q = r.q};
    if (b->code != CUPEL_OK || logs < 0) return -1;
    return cupel_emit_state_scan(b, &operands);
}
