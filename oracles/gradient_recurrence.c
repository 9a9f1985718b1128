/* Linear recurrences along an axis of time: their adjoints run backwards, a reverse scan of the transposed
 * steps. */
#include <string.h>

#include "gradient_rules.h"

/* The elements one step earlier along an axis that is not empty; `first` stands before the first. */
static int earlier(cupel_builder *b, int x, int axis, double first) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    int64_t shape[CUPEL_RANK_MAX];
    memcpy(shape, b->nodes[x].shape, sizeof shape);
    const int64_t n = shape[axis];
    shape[axis] = 1;
    int parts[2] = {cupel_emit_broadcast(b, number_(b, first), b->nodes[x].rank, shape), -1};
    if (n == 1) return parts[0];
    parts[1] = cupel_emit_slice(b, x, axis, 0, n - 1, 1);
    return cupel_emit_concat(b, 2, parts, axis);
}

/* What a step of the reverse scan meets: the operand of the step behind it. */
static int behind(cupel_builder *b, int x, int axis, double last) {
    return x < 0 ? -1 : earlier(b, cupel_emit_flip(b, x, axis), axis, last);
}

/* h_t = a_t h_{t-1} + b_t: G_t = dh_t + a_{t+1} G_{t+1}, da_t = G_t h_{t-1}, db = G. */
static void linear_scan(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const cupel_node n = b->nodes[node];
    const int axis = n.rank - 1, a = n.args[0], x = n.args[1];
    const int logs = n.step & CUPEL_SCAN_LOGS ? behind(b, n.args[2], axis, 0) : -1;
    int scan = cupel_emit_linear_scan(b, behind(b, a, axis, 1), cupel_emit_flip(b, dy, axis), logs,
                                      logs < 0 ? 0 : CUPEL_SCAN_LOGS);
    int adjoint = cupel_emit_flip(b, scan, axis);
    if (cupel_sweep_wants(s, x)) cupel_sweep_give(s, x, adjoint);
    if (cupel_sweep_wants(s, a)) cupel_sweep_give(s, a, mul_(b, adjoint, earlier(b, node, axis, 0)));
}

/* sum over v of m[.., k, v] y[.., v]. */
static int over_columns(cupel_builder *b, int m, int y) {
    if (b->code != CUPEL_OK || m < 0 || y < 0) return -1;
    int product = cupel_emit_matmul(b, m, cupel_emit_unsqueeze(b, y, b->nodes[y].rank));
    if (product < 0) return -1;
    return cupel_emit_reshape(b, product, b->nodes[product].rank - 1, b->nodes[product].shape);
}

/* sum over k of x[.., k] m[.., k, v]. */
static int over_rows(cupel_builder *b, int x, int m) {
    if (b->code != CUPEL_OK || m < 0 || x < 0) return -1;
    const int rank = b->nodes[m].rank;
    int order[CUPEL_RANK_MAX];
    for (int i = 0; i < rank; i++) order[i] = i;
    order[rank - 1] = rank - 2;
    order[rank - 2] = rank - 1;
    return over_columns(b, cupel_emit_permute(b, m, order), x);
}

/* The arguments by name, -1 where absent. */
static cupel_state_operands operands_of(const cupel_node *n) {
    cupel_state_operands o = {.p = -1, .r = -1, .logs = -1, .q = -1};
    int next = 0;
    o.a = n->args[next++];
    if (n->step & CUPEL_SCAN_RANK_ONE) o.p = n->args[next++], o.r = n->args[next++];
    o.x = n->args[next++];
    if (n->step & CUPEL_SCAN_LOGS) o.logs = n->args[next++];
    if (n->step & CUPEL_SCAN_READ) o.q = n->args[next];
    return o;
}

/* S_t = A_t S_{t-1} + x_t with A = diag(a) - p r': G_t = dS_t + A_{t+1}' G_{t+1}, where A' exchanges p and r.
 */
static int adjoint_of(cupel_builder *b, const cupel_state_operands *o, int axis, int dy) {
    int upstream = dy; /* of S: q dy' where it is read */
    if (o->q >= 0)
        upstream = mul_(b, cupel_emit_unsqueeze(b, o->q, axis + 2), cupel_emit_unsqueeze(b, dy, axis + 1));
    const cupel_state_operands reverse = {.a = behind(b, o->a, axis, 1),
                                          .p = behind(b, o->r, axis, 0),
                                          .r = behind(b, o->p, axis, 0),
                                          .x = cupel_emit_flip(b, upstream, axis),
                                          .logs = behind(b, o->logs, axis, 0),
                                          .q = -1};
    return cupel_emit_flip(b, cupel_emit_state_scan(b, &reverse), axis);
}

static void state_scan(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const cupel_node n = b->nodes[node];
    const cupel_state_operands o = operands_of(&n);
    const int axis = b->nodes[o.a].rank - 2;
    cupel_state_operands unread = o;
    unread.q = -1;
    int states = o.q < 0 ? node : cupel_emit_state_scan(b, &unread);
    if (o.q >= 0 && cupel_sweep_wants(s, o.q)) cupel_sweep_give(s, o.q, over_columns(b, states, dy));
    const bool rank_one = o.p >= 0 && (cupel_sweep_wants(s, o.p) || cupel_sweep_wants(s, o.r));
    if (!cupel_sweep_wants(s, o.a) && !cupel_sweep_wants(s, o.x) && !rank_one) return;
    int adjoint = adjoint_of(b, &o, axis, dy), before = earlier(b, states, axis, 0);
    if (cupel_sweep_wants(s, o.x)) cupel_sweep_give(s, o.x, adjoint);
    if (b->code != CUPEL_OK || before < 0) return;
    if (cupel_sweep_wants(s, o.a)) {
        int sum = cupel_emit_reduce(b, CUPEL_OP_SUM, mul_(b, adjoint, before), 1u << (axis + 2), false);
        cupel_sweep_give(s, o.a, sum);
    }
    if (!rank_one) return;
    if (cupel_sweep_wants(s, o.p))
        cupel_sweep_give(s, o.p, neg_(b, over_columns(b, adjoint, over_rows(b, o.r, before))));
    if (cupel_sweep_wants(s, o.r))
        cupel_sweep_give(s, o.r, neg_(b, over_columns(b, before, over_rows(b, o.p, adjoint))));
}

/* y_t = log sum_{s<=t} exp(x_s): dx_s = exp(x_s - y_s) R_s, R_s = dy_s + exp(y_s - y_{s+1}) R_{s+1}, both
 * factors at most 1. Rows with a y that is not finite have no derivative that forms agree on. */
int cupel_gradient_logcumsumexp(cupel_builder *b, const cupel_composite *c, int dy) {
    const int y = c->node, x = c->args[0], axis = b->nodes[y].rank - 1;
    int steps = exp_(b, sub_(b, earlier(b, y, axis, 0), y));
    int scan = cupel_emit_linear_scan(b, behind(b, steps, axis, 1), cupel_emit_flip(b, dy, axis), -1, 0);
    int share = mul_(b, exp_(b, sub_(b, x, y)), cupel_emit_flip(b, scan, axis));
    int open = not_(b, cupel_emit_unary(b, CUPEL_OP_ISFINITE, y));
    return cupel_emit_exclude(b, share, cupel_emit_reduce(b, CUPEL_OP_AMAX, open, 1u << axis, true));
}

void cupel_gradient_recurrence(cupel_sweep *s, int node, int dy) {
    const cupel_node n = s->b->nodes[node];
    if (n.count == 0) return;
    if (n.step & CUPEL_SCAN_MAXIMUM)
        cupel_sweep_refuse(s, node);
    else if (n.op == CUPEL_OP_LINEAR_SCAN)
        linear_scan(s, node, dy);
    else
        state_scan(s, node, dy);
}
