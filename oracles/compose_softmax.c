/* Softmax and its relatives: the maximum is taken off first. A kernel that does not may overflow, and is
 * judged so. */
#include <math.h>

#include "function_table.h"

/* What both share: x - amax(x), along one axis. */
typedef struct shifted {
    int shifted;
    unsigned axes;
    bool empty; /* nothing to reduce, hence nothing to compute */
} shifted;

static bool shift(cupel_builder *b, int x, int axis, shifted *out) {
    if (x < 0 || b->code != CUPEL_OK) return false;
    out->axes = b->nodes[x].rank ? 1u << axis : 0;
    out->empty = b->nodes[x].count == 0;
    out->shifted = out->empty ? x : sub_(b, x, cupel_emit_reduce(b, CUPEL_OP_AMAX, x, out->axes, true));
    return out->shifted >= 0;
}

/* The arguments (x, axis) of both. */
static int read_arguments(cupel_builder *b, const cupel_call *call, int *axis) {
    int x = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, 0));
    if (x >= 0) *axis = cupel_call_axis(b, call, 1, b->nodes[x].rank, -1);
    return x;
}

int cupel_compose_softmax(cupel_builder *b, const cupel_call *call) {
    shifted s;
    int axis = 0, x = read_arguments(b, call, &axis);
    if (!shift(b, x, axis, &s)) return -1;
    if (s.empty) return s.shifted;
    int e = exp_(b, s.shifted);
    int y = div_(b, e, cupel_emit_reduce(b, CUPEL_OP_SUM, e, s.axes, true));
    return row_composite_(b, CUPEL_FORM_SOFTMAX, y, s.axes, x, -1, -1);
}

int cupel_compose_log_softmax_of(cupel_builder *b, int x, int axis) {
    shifted s;
    if (!shift(b, x, axis, &s)) return -1;
    if (s.empty) return s.shifted;
    int sum = cupel_emit_reduce(b, CUPEL_OP_SUM, exp_(b, s.shifted), s.axes, true);
    int y = sub_(b, s.shifted, log_(b, sum));
    return row_composite_(b, CUPEL_FORM_LOG_SOFTMAX, y, s.axes, x, -1, -1);
}

int cupel_compose_log_softmax(cupel_builder *b, const cupel_call *call) {
    int axis = 0, x = read_arguments(b, call, &axis);
    return cupel_compose_log_softmax_of(b, x, axis);
}

/* An infinite maximum is replaced by 0, so that a row of -inf gives -inf instead of NaN. */
int cupel_compose_logsumexp(cupel_builder *b, const cupel_call *call) {
    int x = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, 0));
    if (x < 0) return -1;
    unsigned axes = cupel_call_axes(b, call, 1, b->nodes[x].rank);
    bool keep = cupel_call_flag(b, call, 2, false);
    if (b->code != CUPEL_OK) return -1;
    if (cupel_compose_extent(b, x, axes) == 0) /* the sum over nothing is 0, its logarithm -inf */
        return log_(b, cupel_emit_reduce(b, CUPEL_OP_SUM, x, axes, keep));
    int top = cupel_emit_reduce(b, CUPEL_OP_AMAX, x, axes, true);
    int guarded = where_(b, cupel_emit_unary(b, CUPEL_OP_ISINF, top), number_(b, 0.0), top);
    int sum = cupel_emit_reduce(b, CUPEL_OP_SUM, exp_(b, sub_(b, x, guarded)), axes, true);
    int result = add_(b, log_(b, sum), guarded);
    row_composite_(b, CUPEL_FORM_LOGSUMEXP, result, axes, x, -1, -1);
    if (keep || result < 0) return result;
    cupel_window w = cupel_window_of(b, result);
    for (int i = w.rank; i-- > 0;)
        if (axes >> i & 1) cupel_window_remove(&w, i);
    return cupel_window_finish(b, &w);
}
