/* Reductions. Sums of integers are 64-bit; mean, var, std and norm turn integers into reals. */
#include <math.h>

#include "function_table.h"

int64_t cupel_compose_extent(const cupel_builder *b, int x, unsigned axes) {
    int64_t extent = 1;
    for (int i = 0; i < b->nodes[x].rank; i++)
        if (axes >> i & 1) extent *= b->nodes[x].shape[i];
    return extent;
}

/* Reads (x, axis, keepdim) where axis stands at 1 and keepdim at the given place. */
typedef struct reduction {
    int x;
    unsigned axes;
    bool keep;
} reduction;

static bool read_reduction(cupel_builder *b, const cupel_call *call, int axis_at, int keep_at,
                           reduction *out) {
    out->x = cupel_call_node(b, call, 0);
    if (out->x < 0) return false;
    out->axes = cupel_call_axes(b, call, axis_at, b->nodes[out->x].rank);
    out->keep = cupel_call_flag(b, call, keep_at, false);
    return b->code == CUPEL_OK;
}

#define PLAIN_REDUCTION(name, OP)                                                                            \
    int cupel_compose_##name(cupel_builder *b, const cupel_call *call) {                                     \
        reduction r;                                                                                         \
        if (!read_reduction(b, call, 1, 2, &r)) return -1;                                                   \
        return cupel_emit_reduce(b, CUPEL_OP_##OP, r.x, r.axes, r.keep);                                     \
    }
PLAIN_REDUCTION(sum, SUM)
PLAIN_REDUCTION(prod, PROD)
PLAIN_REDUCTION(amax, AMAX)
PLAIN_REDUCTION(amin, AMIN)

static int arg_reduction(cupel_builder *b, const cupel_call *call, cupel_op op) {
    reduction r;
    if (call->args[1].form == CUPEL_OPERAND_LIST)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place,
                               "expected one axis or none, found a list");
    if (!read_reduction(b, call, 1, 2, &r)) return -1;
    return cupel_emit_reduce(b, op, r.x, r.axes, r.keep);
}

int cupel_compose_argmax(cupel_builder *b, const cupel_call *call) {
    return arg_reduction(b, call, CUPEL_OP_ARGMAX);
}

int cupel_compose_argmin(cupel_builder *b, const cupel_call *call) {
    return arg_reduction(b, call, CUPEL_OP_ARGMIN);
}

/* A constant in the shape that reducing x leaves: what a reduction over nothing is. */
static int constant_reduced(cupel_builder *b, int x, unsigned axes, bool keep, int constant) {
    int rank = 0;
    int64_t shape[CUPEL_RANK_MAX];
    for (int i = 0; i < b->nodes[x].rank; i++) {
        bool gone = axes >> i & 1;
        if (!gone || keep) shape[rank++] = gone ? 1 : b->nodes[x].shape[i];
    }
    return cupel_emit_broadcast(b, constant, rank, shape);
}

static int truth_reduction(cupel_builder *b, const cupel_call *call, bool all) {
    reduction r;
    if (!read_reduction(b, call, 1, 2, &r)) return -1;
    int truth = cupel_emit_as(b, CUPEL_VALUE_BOOL, r.x);
    if (truth < 0) return -1;
    if (cupel_compose_extent(b, truth, r.axes) == 0)
        return constant_reduced(b, truth, r.axes, r.keep, cupel_emit_truth(b, all));
    return cupel_emit_reduce(b, all ? CUPEL_OP_AMIN : CUPEL_OP_AMAX, truth, r.axes, r.keep);
}

int cupel_compose_all(cupel_builder *b, const cupel_call *call) {
    return truth_reduction(b, call, true);
}
int cupel_compose_any(cupel_builder *b, const cupel_call *call) {
    return truth_reduction(b, call, false);
}

/* ---- mean and variance ---- */

int cupel_compose_mean_of(cupel_builder *b, int x, unsigned axes, bool keep) {
    x = cupel_emit_as(b, CUPEL_VALUE_REAL, x);
    if (x < 0) return -1;
    b->statistic++;
    int sum = cupel_emit_reduce(b, CUPEL_OP_SUM, x, axes, keep);
    b->statistic--;
    return div_(b, sum, number_(b, (double)cupel_compose_extent(b, x, axes)));
}

/* Two passes: the sum of squared differences from the mean. With n <= correction the divisor is 0, as in
 * PyTorch. */
int cupel_compose_variance_of(cupel_builder *b, int x, unsigned axes, int64_t correction, bool keep) {
    x = cupel_emit_as(b, CUPEL_VALUE_REAL, x);
    int difference = sub_(b, x, cupel_compose_mean_of(b, x, axes, true));
    if (difference < 0) return -1;
    b->statistic++;
    int sum = cupel_emit_reduce(b, CUPEL_OP_SUM, mul_(b, difference, difference), axes, keep);
    b->statistic--;
    const int64_t degrees = cupel_compose_extent(b, x, axes) - correction;
    const double divisor = degrees > 0 ? (double)degrees : 0.0;
    return cupel_emit_composite(b, (cupel_composite){.node = div_(b, sum, number_(b, divisor)),
                                                     .form = CUPEL_FORM_VARIANCE,
                                                     .args = {x, -1, -1, -1},
                                                     .axes = axes,
                                                     .number = divisor});
}

int cupel_compose_mean(cupel_builder *b, const cupel_call *call) {
    reduction r;
    if (!read_reduction(b, call, 1, 2, &r)) return -1;
    return cupel_compose_mean_of(b, r.x, r.axes, r.keep);
}

int cupel_compose_var(cupel_builder *b, const cupel_call *call) {
    reduction r;
    if (!read_reduction(b, call, 1, 3, &r)) return -1;
    int64_t correction = cupel_call_integer(b, call, 2, 1);
    if (correction < 0 || correction > INT32_MAX)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[2].place,
                               "expected a correction of at least 0, found %lld", (long long)correction);
    return cupel_compose_variance_of(b, r.x, r.axes, correction, r.keep);
}

int cupel_compose_std(cupel_builder *b, const cupel_call *call) {
    int variance = cupel_compose_var(b, call);
    return composite_(b, CUPEL_FORM_ROOT, sqrt_(b, variance), variance, -1, -1);
}

/* ---- norms ---- */

static int count_nonzero(cupel_builder *b, int x, unsigned axes, bool keep) {
    int nonzero = cupel_emit_binary(b, CUPEL_OP_NE, x, number_(b, 0.0));
    return cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_emit_reduce(b, CUPEL_OP_SUM, nonzero, axes, keep));
}

int cupel_compose_norm_of(cupel_builder *b, int x, const cupel_operand *p, unsigned axes, bool keep) {
    double order = p->form == CUPEL_OPERAND_ABSENT ? 2.0
                   : p->form == CUPEL_OPERAND_REAL ? p->number
                                                   : (double)p->integer;
    if (p->form == CUPEL_OPERAND_NODE || p->form >= CUPEL_OPERAND_LIST)
        return cupel_emit_fail(b, CUPEL_CONTRACT, p->place, "expected a number as the order of a norm");
    x = cupel_emit_as(b, CUPEL_VALUE_REAL, x);
    if (x < 0) return -1;
    if (order == 0.0) return count_nonzero(b, x, axes, keep);
    if (isinf(order))
        return cupel_emit_reduce(b, order > 0 ? CUPEL_OP_AMAX : CUPEL_OP_AMIN, abs_(b, x), axes, keep);
    int power = order == 1.0   ? abs_(b, x)
                : order == 2.0 ? mul_(b, x, x)
                               : cupel_emit_binary(b, CUPEL_OP_POW, abs_(b, x), cupel_operand_node(b, p));
    b->statistic++;
    int sum = cupel_emit_reduce(b, CUPEL_OP_SUM, power, axes, keep);
    b->statistic--;
    if (order == 1.0) return sum;
    int norm = order == 2.0 ? sqrt_(b, sum)
                            : cupel_emit_binary(b, CUPEL_OP_POW, sum,
                                                div_(b, number_(b, 1.0), cupel_operand_node(b, p)));
    return cupel_emit_composite(
        b,
        (cupel_composite){
            .node = norm, .form = CUPEL_FORM_NORM, .args = {x, -1, -1, -1}, .axes = axes, .number = order});
}

int cupel_compose_norm(cupel_builder *b, const cupel_call *call) {
    reduction r;
    if (!read_reduction(b, call, 2, 3, &r)) return -1;
    return cupel_compose_norm_of(b, r.x, &call->args[1], r.axes, r.keep);
}
