/* Normalisations over the last axis. */
#include "function_table.h"

static bool last_axis(cupel_builder *b, const cupel_call *call, int *x, unsigned *axes) {
    *x = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, 0));
    if (*x < 0) return false;
    if (b->nodes[*x].rank == 0) {
        cupel_emit_fail(b, CUPEL_CONTRACT, call->place, "expected a tensor of at least one axis in %s",
                        call->info->signature);
        return false;
    }
    *axes = 1u << (b->nodes[*x].rank - 1);
    return true;
}

static int epsilon(cupel_builder *b, const cupel_call *call, int i, const char *literal) {
    return cupel_call_has(call, i) ? cupel_call_node(b, call, i) : cupel_emit_literal(b, literal);
}

int cupel_compose_layer_norm(cupel_builder *b, const cupel_call *call) {
    int x;
    unsigned axes;
    if (!last_axis(b, call, &x, &axes)) return -1;
    int difference = sub_(b, x, cupel_compose_mean_of(b, x, axes, true));
    int variance = cupel_compose_variance_of(b, x, axes, 0, true);
    int rstd = rsqrt_(b, add_(b, variance, epsilon(b, call, 3, "1e-5")));
    int y = mul_(b, difference, rstd);
    row_composite_(b, CUPEL_FORM_NORMALISED, y, axes, x, rstd, -1);
    if (cupel_call_has(call, 1)) y = mul_(b, y, cupel_call_node(b, call, 1));
    if (cupel_call_has(call, 2)) y = add_(b, y, cupel_call_node(b, call, 2));
    return y;
}

int cupel_compose_rms_norm(cupel_builder *b, const cupel_call *call) {
    int x;
    unsigned axes;
    if (!last_axis(b, call, &x, &axes)) return -1;
    int square = cupel_compose_mean_of(b, mul_(b, x, x), axes, true);
    int rrms = rsqrt_(b, add_(b, square, epsilon(b, call, 2, "1e-5")));
    int y = mul_(b, x, rrms);
    row_composite_(b, CUPEL_FORM_RMS_NORMALISED, y, axes, x, rrms, -1);
    if (cupel_call_has(call, 1)) y = mul_(b, y, cupel_call_node(b, call, 1));
    return y;
}

int cupel_compose_l2_normalize(cupel_builder *b, const cupel_call *call) {
    int x;
    unsigned axes;
    if (!last_axis(b, call, &x, &axes)) return -1;
    int rank = b->nodes[x].rank;
    if (cupel_call_axis(b, call, 2, rank, -1) != rank - 1)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[2].place,
                               "expected axis=-1, the only one l2_normalize takes");
    const cupel_operand two = {.form = CUPEL_OPERAND_ABSENT};
    int norm = cupel_compose_norm_of(b, x, &two, axes, true);
    int divisor = maximum_(b, norm, epsilon(b, call, 1, "1e-12"));
    return row_composite_(b, CUPEL_FORM_L2_NORMALISED, div_(b, x, divisor), axes, x, norm, divisor);
}
