/* Norms over channels: batch, instance and group norm. They differ in the axes of their statistics. */
#include "function_table.h"

typedef struct norm {
    int x, mean, variance; /* shapes that broadcast */
    int weight, bias, eps; /* weight and bias -1 where there are none */
    unsigned axes;         /* that they are computed over; 0: running ones */
} norm;

/* y again, with the rounding of a kernel that adds s on the way and takes it off: y + s - s. */
static int beside(cupel_builder *b, int y, int s) {
    int rounded = where_(b, cupel_emit_unary(b, CUPEL_OP_ISFINITE, s), sub_(b, add_(b, y, s), s), y);
    return composite_(b, CUPEL_FORM_IDENTITY, rounded, y, -1, -1);
}

/* (x - mean) / sqrt(variance + eps) weight + bias, or with mean and bias folded into one number:
 * x a + (bias - mean a), a = weight / sqrt(variance + eps), as inference and PyTorch's group norm compute it.
 * There x a and mean a round by themselves, may be flushed, and may overflow. An infinite a gives an infinity
 * in one form and NaN in the other, and is not judged. */
static int normalised(cupel_builder *b, const norm *n) {
    int inverse = rsqrt_(b, add_(b, n->variance, n->eps));
    int scale = n->weight < 0 ? inverse : mul_(b, inverse, n->weight);
    int y = mul_(b, sub_(b, n->x, n->mean), inverse);
    if (n->axes) row_composite_(b, CUPEL_FORM_NORMALISED, y, n->axes, n->x, inverse, -1);
    if (n->weight >= 0) y = mul_(b, y, n->weight);
    int moved = mul_(b, n->x, scale), shift = mul_(b, n->mean, scale);
    y = beside(b, beside(b, y, shift), moved);
    if (n->bias >= 0) y = add_(b, beside(b, y, n->bias), n->bias);
    int in_range =
        and_(b, cupel_emit_unary(b, CUPEL_OP_ISFINITE, moved), cupel_emit_unary(b, CUPEL_OP_ISFINITE, shift));
    return cupel_emit_exclude(b, where_(b, in_range, y, y), cupel_emit_unary(b, CUPEL_OP_ISINF, scale));
}

/* x of [N, C, ..]. */
static bool read_x(cupel_builder *b, const cupel_call *call, int *x) {
    *x = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, 0));
    if (*x < 0) return false;
    if (b->nodes[*x].rank >= 2) return true;
    cupel_emit_fail(b, CUPEL_CONTRACT, call->args[0].place,
                    "expected a tensor of shape [N, C, ..] in %s, found %s", call->info->signature,
                    cupel_emit_shape_text(b, b->nodes[*x].rank, b->nodes[*x].shape));
    return false;
}

/* An argument of one value a channel, or a number, in a shape that broadcasts to [N, C, ..]; -1 when left
 * out. */
static int per_channel(cupel_builder *b, const cupel_call *call, int i, int x) {
    if (b->code != CUPEL_OK || !cupel_call_has(call, i)) return -1;
    int node = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, i));
    if (node < 0 || b->nodes[node].rank == 0) return node;
    int64_t channels = b->nodes[x].shape[1], shape[CUPEL_RANK_MAX] = {channels};
    for (int d = 1; d < CUPEL_RANK_MAX; d++) shape[d] = 1;
    if (b->nodes[node].rank != 1 || b->nodes[node].shape[0] != channels)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[i].place,
                               "expected one number for each of %lld channels in %s, found the shape %s",
                               (long long)channels, call->info->signature,
                               cupel_emit_shape_text(b, b->nodes[node].rank, b->nodes[node].shape));
    return cupel_emit_reshape(b, node, b->nodes[x].rank - 1, shape);
}

static int epsilon(cupel_builder *b, const cupel_call *call, int i) {
    return cupel_call_has(call, i) ? cupel_call_node(b, call, i) : cupel_emit_literal(b, "1e-5");
}

/* Statistics of x over these axes, or the running ones. */
static bool take_statistics(cupel_builder *b, const cupel_call *call, bool computed, unsigned axes, norm *n) {
    n->axes = computed ? axes : 0;
    if (computed) {
        n->mean = cupel_compose_mean_of(b, n->x, axes, true);
        n->variance = cupel_compose_variance_of(b, n->x, axes, 0, true);
        return b->code == CUPEL_OK;
    }
    if (!cupel_call_has(call, 1) || !cupel_call_has(call, 2)) {
        cupel_emit_fail(b, CUPEL_CONTRACT, call->place,
                        "expected running_mean and running_var, as the batch's own are not asked for, in %s",
                        call->info->signature);
        return false;
    }
    n->mean = per_channel(b, call, 1, n->x);
    n->variance = per_channel(b, call, 2, n->x);
    return b->code == CUPEL_OK;
}

/* (x, running_mean, running_var, weight, bias, flag, momentum, eps): the running statistics' update is
 * another output of a kernel, which its contract writes out. */
static int running_norm(cupel_builder *b, const cupel_call *call, bool computed, unsigned kept_axes) {
    norm n;
    if (!read_x(b, call, &n.x)) return -1;
    unsigned axes = ((1u << b->nodes[n.x].rank) - 1) & ~kept_axes;
    if (!take_statistics(b, call, computed, axes, &n)) return -1;
    n.weight = per_channel(b, call, 3, n.x);
    n.bias = per_channel(b, call, 4, n.x);
    n.eps = epsilon(b, call, 7);
    return b->code == CUPEL_OK ? normalised(b, &n) : -1;
}

int cupel_compose_batch_norm(cupel_builder *b, const cupel_call *call) {
    return running_norm(b, call, cupel_call_flag(b, call, 5, false), 2u);
}

int cupel_compose_instance_norm(cupel_builder *b, const cupel_call *call) {
    return running_norm(b, call, cupel_call_flag(b, call, 5, true), 3u);
}

/* Channels in groups: x as [N, G, C / G, rest], statistics over the last two axes. */
int cupel_compose_group_norm(cupel_builder *b, const cupel_call *call) {
    int x;
    if (!read_x(b, call, &x)) return -1;
    const cupel_node *from = &b->nodes[x];
    int64_t groups = cupel_call_integer(b, call, 1, 1), channels = from->shape[1], rest = 1;
    if (b->code != CUPEL_OK) return -1;
    if (groups < 1 || channels % groups != 0)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place,
                               "expected a number of groups that divides the %lld channels, found %lld",
                               (long long)channels, (long long)groups);
    for (int i = 2; i < from->rank; i++) rest *= from->shape[i];
    const int rank = from->rank;
    const int64_t split[] = {from->shape[0], groups, channels / groups, rest};
    const int64_t column[] = {groups, channels / groups, 1};
    int64_t shape[CUPEL_RANK_MAX];
    for (int i = 0; i < rank; i++) shape[i] = from->shape[i];
    norm n = {.weight = per_channel(b, call, 2, x), .bias = per_channel(b, call, 3, x)};
    n.x = cupel_emit_reshape(b, x, 4, split);
    if (n.weight >= 0 && b->nodes[n.weight].rank > 0) n.weight = cupel_emit_reshape(b, n.weight, 3, column);
    if (n.bias >= 0 && b->nodes[n.bias].rank > 0) n.bias = cupel_emit_reshape(b, n.bias, 3, column);
    n.eps = epsilon(b, call, 4);
    if (b->code != CUPEL_OK || !take_statistics(b, call, true, 4u | 8u, &n)) return -1;
    return cupel_emit_reshape(b, normalised(b, &n), rank, shape);
}
