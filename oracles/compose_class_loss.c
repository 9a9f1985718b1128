/* Losses over probabilities, classes and distances. */
#include <string.h>

#include "function_table.h"

/* ---- probabilities ---- */

/* (t - 1) max(log(1 - x), -100) - t max(log(x), -100); the textbook's log(1 - x) is as good as PyTorch's
 * log1p(-x) */
int cupel_compose_bce(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0), target = cupel_call_real(b, call, 1), least = number_(b, -100.0);
    int log_absent = maximum_(b, log_(b, sub_(b, number_(b, 1.0), x)), least),
        log_present = maximum_(b, log_(b, x), least);
    int absent = mul_(b, sub_(b, target, number_(b, 1.0)), log_absent);
    int loss = sub_(b, absent, mul_(b, target, log_present));
    cupel_emit_composite(b, (cupel_composite){.node = loss,
                                              .form = CUPEL_FORM_BCE,
                                              .args = {x, target, log_absent, log_present}});
    return cupel_compose_reduced(b, call, 2, loss);
}

/* log(1 + exp(x)) - x t, without overflow. Kernels write it as max(x, 0) - x t + log1p(exp(-|x|)), or as
 * (1 - t) x + max(-x, 0) + log1p(exp(-|x|)), and their terms differ in size: here stand x, -x t, max(-x, 0)
 * and the logarithm as one sum in any order, and |x| comes and goes. An infinite x is NaN or an infinity, by
 * the form, and is not judged. */
int cupel_compose_bce_with_logits(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0), target = cupel_call_real(b, call, 1);
    int one = number_(b, 1.0), size = abs_(b, x), product = mul_(b, x, target);
    int soft = sub_(b, add_(b, log1p_(b, exp_(b, neg_(b, size))), one), one); /* or log(1 + exp) */
    if (product < 0) return -1;
    int sum = cupel_emit_reduce(b, CUPEL_OP_SUM, cupel_emit_unsqueeze(b, x, 0), 1u, false); /* of one term */
    sum = add_(b, add_(b, sub_(b, sum, product), maximum_(b, neg_(b, x), number_(b, 0.0))), soft);
    int loss =
        cupel_emit_exclude(b, sub_(b, add_(b, sum, size), size), cupel_emit_unary(b, CUPEL_OP_ISINF, x));
    composite_(b, CUPEL_FORM_BCE_WITH_LOGITS, loss, x, target, -1);
    return cupel_compose_reduced(b, call, 2, loss);
}

/* t (log t - x), 0 log 0 being 0; of a logarithmic target exp(t) (t - x). "batchmean" divides by the first
 * extent. */
int cupel_compose_kl_div(cupel_builder *b, const cupel_call *call) {
    static const char *const choices[] = {"mean", "sum", "none", "batchmean", NULL};
    int x = cupel_call_real(b, call, 0), target = cupel_call_real(b, call, 1), loss;
    if (cupel_call_flag(b, call, 3, false)) {
        loss = mul_(b, exp_(b, target), sub_(b, target, x));
    } else {
        int zero = number_(b, 0.0), empty = cupel_emit_binary(b, CUPEL_OP_EQ, target, zero);
        int entropy = where_(b, empty, zero, mul_(b, target, log_(b, target)));
        /* kernels leave such terms out, or multiply 0 by an infinity */
        int left_out = and_(b, empty, not_(b, cupel_emit_unary(b, CUPEL_OP_ISFINITE, x)));
        loss = cupel_emit_exclude(b, sub_(b, entropy, mul_(b, target, x)), left_out);
    }
    if (loss < 0 || cupel_call_choice(b, call, 2, choices) != 3)
        return cupel_compose_reduced(b, call, 2, loss);
    int rank = b->nodes[loss].rank;
    int64_t batch = rank ? b->nodes[loss].shape[0] : 1;
    int sum = cupel_emit_reduce(b, CUPEL_OP_SUM, loss, (1u << rank) - 1, false);
    return div_(b, sum, number_(b, (double)batch));
}

/* ---- classes ---- */

/* The class axis of x: the second, or the only one. */
static int class_axis(const cupel_builder *b, int x) {
    return b->nodes[x].rank > 1 ? 1 : 0;
}

static bool targets_fit(const cupel_builder *b, int x, int target, int axis) {
    const cupel_node *p = &b->nodes[x], *q = &b->nodes[target];
    if (p->rank == 0 || q->rank != p->rank - 1) return false;
    for (int i = 0; i < q->rank; i++)
        if (q->shape[i] != p->shape[i < axis ? i : i + 1]) return false;
    return true;
}

/* The reduction of losses of which those under ignored (BOOL) do not count. */
static int reduce_counted(cupel_builder *b, const cupel_call *call, int loss, int ignored) {
    static const char *const choices[] = {"mean", "sum", "none", NULL};
    if (loss < 0 || ignored < 0) return -1;
    if (cupel_call_choice(b, call, 2, choices) != 0) return cupel_compose_reduced(b, call, 2, loss);
    unsigned all = (1u << b->nodes[loss].rank) - 1;
    int counted = cupel_emit_reduce(b, CUPEL_OP_SUM, not_(b, ignored), all, false);
    b->statistic++; /* a mean, whose sum need not be exact */
    int sum = cupel_emit_reduce(b, CUPEL_OP_SUM, loss, all, false);
    b->statistic--;
    return div_(b, sum, cupel_emit_as(b, CUPEL_VALUE_REAL, counted));
}

/* -x[target], and 0 where the target is ignore_index. */
static int pick_classes(cupel_builder *b, const cupel_call *call, int x, int target) {
    if (b->code != CUPEL_OK || x < 0 || target < 0) return -1;
    int axis = class_axis(b, x);
    if (b->nodes[target].kind == CUPEL_VALUE_REAL || !targets_fit(b, x, target, axis))
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place,
                               "expected integer targets of the shape of x without its class axis (%d)",
                               axis);
    target = cupel_emit_as(b, CUPEL_VALUE_INT, target);
    int skipped = cupel_emit_integer(b, cupel_call_integer(b, call, 3, -100));
    int ignored = cupel_emit_binary(b, CUPEL_OP_EQ, target, skipped);
    int index = where_(b, ignored, cupel_emit_integer(b, 0), target);
    int picked = cupel_compose_gather_of(b, x, axis, cupel_emit_unsqueeze(b, index, axis));
    if (picked < 0) return -1;
    cupel_window w = cupel_window_of(b, picked);
    cupel_window_remove(&w, axis);
    int loss = where_(b, ignored, number_(b, 0.0), neg_(b, cupel_window_finish(b, &w)));
    return reduce_counted(b, call, loss, ignored);
}

int cupel_compose_nll_loss(cupel_builder *b, const cupel_call *call) {
    return pick_classes(b, call, cupel_call_real(b, call, 0), cupel_call_node(b, call, 1));
}

/* Targets are classes (integers), or probabilities of the shape of x. */
int cupel_compose_cross_entropy(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0), target = cupel_call_node(b, call, 1);
    if (x < 0 || target < 0) return -1;
    if (b->nodes[x].rank == 0)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[0].place,
                               "expected a tensor of at least one axis");
    int axis = class_axis(b, x), logarithm = cupel_compose_log_softmax_of(b, x, axis);
    if (b->nodes[target].kind != CUPEL_VALUE_REAL) return pick_classes(b, call, logarithm, target);
    const cupel_node *p = &b->nodes[x], *q = &b->nodes[target];
    if (p->rank != q->rank || memcmp(p->shape, q->shape, (size_t)p->rank * sizeof *p->shape) != 0)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place,
                               "expected classes (integers) or probabilities of the shape of x");
    int loss = neg_(b, cupel_emit_reduce(b, CUPEL_OP_SUM, mul_(b, logarithm, target), 1u << axis, false));
    return cupel_compose_reduced(b, call, 2, loss);
}

/* ---- distances ---- */

/* sum(x y) / (max(|x|, eps) max(|y|, eps)) */
int cupel_compose_cosine_similarity(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_real(b, call, 0), y = cupel_call_real(b, call, 1), product = mul_(b, x, y);
    if (product < 0) return -1;
    int rank = b->nodes[product].rank;
    x = cupel_emit_broadcast(b, x, rank, b->nodes[product].shape);
    y = cupel_emit_broadcast(b, y, rank, b->nodes[product].shape);
    int axis = cupel_call_axis(b, call, 2, rank, 1);
    unsigned axes = rank ? 1u << axis : 0;
    int eps = cupel_call_has(call, 3) ? cupel_call_real(b, call, 3) : cupel_emit_literal(b, "1e-8");
    const cupel_operand two = {.form = CUPEL_OPERAND_ABSENT};
    int size_x = maximum_(b, cupel_compose_norm_of(b, x, &two, axes, false), eps);
    int size_y = maximum_(b, cupel_compose_norm_of(b, y, &two, axes, false), eps);
    return div_(b, cupel_emit_reduce(b, CUPEL_OP_SUM, product, axes, false), mul_(b, size_x, size_y));
}

/* |x - y + eps| over the last axis, as torch.nn.functional.pairwise_distance */
static int distance(cupel_builder *b, int x, int y, int eps) {
    int difference = add_(b, sub_(b, x, y), eps);
    if (difference < 0) return -1;
    if (b->nodes[difference].rank == 0) return abs_(b, difference);
    const cupel_operand two = {.form = CUPEL_OPERAND_ABSENT};
    return cupel_compose_norm_of(b, difference, &two, 1u << (b->nodes[difference].rank - 1), false);
}

int cupel_compose_triplet_margin_loss(cupel_builder *b, const cupel_call *call) {
    int anchor = cupel_call_real(b, call, 0), positive = cupel_call_real(b, call, 1),
        negative = cupel_call_real(b, call, 2);
    int margin = cupel_call_has(call, 3) ? cupel_call_real(b, call, 3) : number_(b, 1.0);
    int eps = cupel_call_has(call, 4) ? cupel_call_real(b, call, 4) : cupel_emit_literal(b, "1e-6");
    int near = distance(b, anchor, positive, eps), far = distance(b, anchor, negative, eps);
    int open = sub_(b, add_(b, margin, near), far), zero = number_(b, 0.0);
    int loss = composite_(b, CUPEL_FORM_CLAMP_MIN, maximum_(b, open, zero), open, zero, -1);
    return cupel_compose_reduced(b, call, 5, loss);
}
