/* Losses between two tensors of one shape. */
#include "function_table.h"

int cupel_compose_reduced(cupel_builder *b, const cupel_call *call, int at, int loss) {
    static const char *const choices[] = {"mean", "sum", "none", NULL};
    if (loss < 0) return -1;
    unsigned all = (1u << b->nodes[loss].rank) - 1;
    switch (cupel_call_choice(b, call, at, choices)) {
    case 0: return cupel_compose_mean_of(b, loss, all, false);
    case 1: return cupel_emit_reduce(b, CUPEL_OP_SUM, loss, all, false);
    default: return loss;
    }
}

static int difference(cupel_builder *b, const cupel_call *call) {
    int x = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, 0));
    return sub_(b, x, cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, 1)));
}

static int positive_or_one(cupel_builder *b, const cupel_call *call, int i) {
    return cupel_call_has(call, i) ? cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, i))
                                   : number_(b, 1.0);
}

/* max(0, 1 - x t), t being -1 or 1 */
int cupel_compose_hinge_loss(cupel_builder *b, const cupel_call *call) {
    int x = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, 0));
    int target = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, 1));
    int margin = sub_(b, number_(b, 1.0), mul_(b, x, target));
    return cupel_compose_reduced(b, call, 2, maximum_(b, margin, number_(b, 0.0)));
}

int cupel_compose_mse_loss(cupel_builder *b, const cupel_call *call) {
    int d = difference(b, call);
    return cupel_compose_reduced(b, call, 2, mul_(b, d, d));
}

int cupel_compose_l1_loss(cupel_builder *b, const cupel_call *call) {
    return cupel_compose_reduced(b, call, 2, abs_(b, difference(b, call)));
}

/* |d| < beta: d^2 / 2 beta; else |d| - beta / 2 */
int cupel_compose_smooth_l1_loss(cupel_builder *b, const cupel_call *call) {
    int size = abs_(b, difference(b, call)), beta = positive_or_one(b, call, 3), half = number_(b, 0.5);
    int near = div_(b, mul_(b, mul_(b, half, size), size), beta);
    int far = sub_(b, size, mul_(b, half, beta));
    return cupel_compose_reduced(b, call, 2, where_(b, less_(b, size, beta), near, far));
}

/* |d| <= delta: d^2 / 2; else delta (|d| - delta / 2) */
int cupel_compose_huber_loss(cupel_builder *b, const cupel_call *call) {
    int size = abs_(b, difference(b, call)), delta = positive_or_one(b, call, 3), half = number_(b, 0.5);
    int near = mul_(b, mul_(b, half, size), size);
    int far = mul_(b, delta, sub_(b, size, mul_(b, half, delta)));
    return cupel_compose_reduced(b, call, 2, where_(b, less_equal_(b, size, delta), near, far));
}
