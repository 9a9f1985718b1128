/* Inclusive scans along an axis. */
#include <math.h>
#include <string.h>

#include "function_table.h"

static int scan(cupel_builder *b, const cupel_call *call, cupel_op op) {
    int x = cupel_call_node(b, call, 0);
    if (x < 0) return -1;
    int axis = cupel_call_axis(b, call, 1, b->nodes[x].rank, -1);
    return cupel_emit_scan(b, op, x, axis);
}

int cupel_compose_cumsum(cupel_builder *b, const cupel_call *call) {
    return scan(b, call, CUPEL_OP_CUMSUM);
}
int cupel_compose_cumprod(cupel_builder *b, const cupel_call *call) {
    return scan(b, call, CUPEL_OP_CUMPROD);
}
int cupel_compose_cummax(cupel_builder *b, const cupel_call *call) {
    return scan(b, call, CUPEL_OP_CUMMAX);
}
int cupel_compose_cummin(cupel_builder *b, const cupel_call *call) {
    return scan(b, call, CUPEL_OP_CUMMIN);
}

/* The logarithms beside decays that are exponentials: the same elements of the argument of EXP; -1 when they
 * are not. A kernel may then take differences of their sums. */
int cupel_compose_logs_of(cupel_builder *b, int decay) {
    if (b->code != CUPEL_OK || decay < 0) return -1;
    cupel_node n = b->nodes[decay];
    if (n.op == CUPEL_OP_EXP) return n.args[0];
    if (n.op != CUPEL_OP_VIEW && n.op != CUPEL_OP_RESHAPE) return -1;
    int inner = cupel_compose_logs_of(b, n.args[0]);
    return inner < 0 ? -1 : cupel_emit_add(b, n, 1, &inner);
}

/* An axis exchanged with the last, and turned around. */
static int turn(cupel_builder *b, int x, int axis, bool reverse) {
    int moved = cupel_emit_exchange(b, x, axis);
    return reverse && moved >= 0 ? cupel_emit_flip(b, moved, b->nodes[moved].rank - 1) : moved;
}

/* reverse: h_t = a_t h_{t+1} + b_t. */
int cupel_compose_linear_scan(cupel_builder *b, const cupel_call *call) {
    int a = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, 0));
    int x = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, 1));
    if (a < 0 || x < 0) return -1;
    int rank;
    int64_t shape[CUPEL_RANK_MAX];
    if (!cupel_emit_common(b->nodes[a].rank, b->nodes[a].shape, b->nodes[x].rank, b->nodes[x].shape, &rank,
                           shape))
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->place,
                               "expected decays and terms that broadcast together, found %s and %s",
                               cupel_emit_shape_text(b, b->nodes[a].rank, b->nodes[a].shape),
                               cupel_emit_shape_text(b, b->nodes[x].rank, b->nodes[x].shape));
    int axis = cupel_call_axis(b, call, 2, rank, -1);
    bool reverse = cupel_call_flag(b, call, 3, false);
    x = cupel_emit_broadcast(b, x, rank, shape);
    if (b->code != CUPEL_OK || rank == 0) return x; /* a number is its own only step */
    a = turn(b, cupel_emit_broadcast(b, a, rank, shape), axis, reverse);
    x = turn(b, x, axis, reverse);
    int logs = cupel_compose_logs_of(b, a);
    int scan = cupel_emit_linear_scan(b, a, x, logs, logs < 0 ? 0 : CUPEL_SCAN_LOGS);
    if (scan < 0) return -1;
    if (reverse && b->nodes[scan].count > 0)
        scan = cupel_emit_slice(b, scan, rank - 1, b->nodes[scan].shape[rank - 1] - 1,
                                b->nodes[scan].shape[rank - 1], -1);
    return cupel_emit_exchange(b, scan, axis);
}

/* The node one step earlier along the last axis; a constant stands before the first. */
static int earlier(cupel_builder *b, int x, int constant) {
    const int last = b->nodes[x].rank - 1;
    int64_t first[CUPEL_RANK_MAX];
    memcpy(first, b->nodes[x].shape, sizeof first);
    const int64_t length = first[last];
    first[last] = 1;
    int parts[2] = {cupel_emit_broadcast(b, constant, last + 1, first),
                    cupel_emit_slice(b, x, last, 0, length - 1, 1)};
    return length == 1 ? parts[0] : cupel_emit_concat(b, 2, parts, last);
}

/* A running maximum m with rescaling: s_t = s_{t-1} exp(m_{t-1} - m_t) + exp(x_t - m_t), y_t = m_t + log s_t.
 * An infinite maximum is no reference: before the first finite element all is 0, and from +inf on the sum
 * stays infinite. */
int cupel_compose_logcumsumexp(cupel_builder *b, const cupel_call *call) {
    int x = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, 0));
    if (x < 0) return -1;
    int axis = cupel_call_axis(b, call, 1, b->nodes[x].rank, -1);
    if (b->code != CUPEL_OK || b->nodes[x].count == 0) return x;
    if (b->nodes[x].rank == 0) return x;
    x = cupel_emit_exchange(b, x, axis);
    if (x < 0) return -1;
    int top = cupel_emit_scan(b, CUPEL_OP_CUMMAX, x, b->nodes[x].rank - 1);
    if (top < 0) return -1;
    int infinity = number_(b, INFINITY), infinite = cupel_emit_unary(b, CUPEL_OP_ISINF, top);
    int guarded = where_(b, infinite, number_(b, 0.0), top);
    int before = earlier(b, top, number_(b, -INFINITY));
    if (before < 0) return -1;
    int nothing = cupel_emit_binary(b, CUPEL_OP_EQ, before, number_(b, -INFINITY));
    int full = cupel_emit_binary(b, CUPEL_OP_EQ, top, infinity);
    int rescale = exp_(b, where_(b, or_(b, nothing, full), number_(b, 0.0), sub_(b, before, top)));
    int sum = cupel_emit_linear_scan(b, where_(b, nothing, number_(b, 0.0), rescale),
                                     exp_(b, sub_(b, x, guarded)), guarded, CUPEL_SCAN_MAXIMUM);
    int result = cupel_emit_composite(b, (cupel_composite){.node = add_(b, log_(b, sum), guarded),
                                                           .form = CUPEL_FORM_LOGCUMSUMEXP,
                                                           .args = {x}});
    return cupel_emit_exchange(b, result, axis);
}
