/* What a kernel's author would make of a node and its surroundings: the one place where means, variances,
 * subtracted maxima and multiply-adds are recognised. */
#include "shadow_impl.h"

/* The AMAX that `top` is, behind views and behind where(isinf(maximum), 0, maximum); -1: none. */
static int maximum_of(const cupel_graph *graph, int top) {
    top = cupel_graph_behind_views(graph, top);
    if (graph->nodes[top].op == CUPEL_OP_WHERE) {
        const int then = cupel_graph_behind_views(graph, graph->nodes[top].args[1]);
        const int otherwise = cupel_graph_behind_views(graph, graph->nodes[top].args[2]);
        top = graph->nodes[then].op == CUPEL_OP_AMAX ? then : otherwise;
    }
    return graph->nodes[top].op == CUPEL_OP_AMAX ? top : -1;
}

/* Do the VIEWs and RESHAPEs between stop and node move elements as those between `other_stop` and `other` do?
 * Then a row of the one is a row of the other. */
static bool same_moves(const cupel_graph *graph, int node, int stop, int other, int other_stop) {
    for (; node != stop && other != other_stop;
         node = graph->nodes[node].args[0], other = graph->nodes[other].args[0]) {
        const cupel_node *a = &graph->nodes[node], *b = &graph->nodes[other];
        if ((a->op != CUPEL_OP_VIEW && a->op != CUPEL_OP_RESHAPE) || a->op != b->op || a->rank != b->rank ||
            a->offset != b->offset)
            return false;
        for (int d = 0; d < a->rank; d++)
            if (a->shape[d] != b->shape[d] || (a->op == CUPEL_OP_VIEW && a->stride[d] != b->stride[d]))
                return false;
    }
    return node == stop && other == other_stop;
}

/* The AMAX of a in a - amax(a), guarded or not; -1: it is no such difference. */
static int own_maximum(const cupel_graph *graph, int node) {
    const cupel_node *n = &graph->nodes[node];
    if (n->op != CUPEL_OP_SUB || n->kind != CUPEL_VALUE_REAL) return -1;
    const int top = maximum_of(graph, n->args[1]);
    if (top < 0) return -1;
    return cupel_graph_behind_views(graph, graph->nodes[top].args[0]) ==
                   cupel_graph_behind_views(graph, n->args[0])
               ? top
               : -1;
}

bool cupel_shadow_is_below_maximum(const cupel_graph *graph, int node) {
    return own_maximum(graph, node) >= 0;
}

void cupel_shadow_maxima(const cupel_graph *graph, bool *maxima) {
    for (int i = 0; i < graph->node_count; i++) {
        const int top = own_maximum(graph, i);
        if (top >= 0) maxima[top] = true;
    }
}

static bool is_real_product(const cupel_node *n) {
    return n->op == CUPEL_OP_MUL && n->kind == CUPEL_VALUE_REAL;
}

/* a * b joined by + or -: the product whose rounding a multiply-add leaves out. */
static cupel_shadow_pattern joined(const cupel_graph *graph, const cupel_node *n) {
    for (int k = 0; k < 2; k++)
        if (is_real_product(&graph->nodes[n->args[k]]))
            return (cupel_shadow_pattern){.idea = CUPEL_IDEA_FUSED_SUM, .inner = n->args[k]};
    return (cupel_shadow_pattern){0};
}

/* The same literal, 1 or the 8 of a sigmoid. */
static bool same_constant(const cupel_graph *graph, int node, int other) {
    const cupel_node *n = &graph->nodes[cupel_graph_behind_views(graph, node)],
                     *m = &graph->nodes[cupel_graph_behind_views(graph, other)];
    return n == m && n->op == CUPEL_OP_CONSTANT && n->kind == CUPEL_VALUE_REAL && n->number >= 1 &&
           !n->digits;
}

/* (x + c) - c states an error relative to c; kernels compute x. */
static cupel_shadow_pattern difference(const cupel_graph *graph, const cupel_node *n) {
    const cupel_node *sum = &graph->nodes[n->args[0]];
    if (sum->op == CUPEL_OP_ADD && same_constant(graph, n->args[1], sum->args[1]))
        return (cupel_shadow_pattern){.idea = CUPEL_IDEA_SAME, .inner = sum->args[0]};
    return joined(graph, n);
}

/* The SUM of a statistic that a DIV divides by a number; -1: none. */
static int divided_sum(const cupel_graph *graph, const cupel_node *n) {
    if (n->op != CUPEL_OP_DIV) return -1;
    const int sum = cupel_graph_behind_views(graph, n->args[0]);
    const cupel_node *divisor = &graph->nodes[cupel_graph_behind_views(graph, n->args[1])];
    if (graph->nodes[sum].op != CUPEL_OP_SUM || !graph->nodes[sum].in_statistic) return -1;
    return divisor->op == CUPEL_OP_CONSTANT ? sum : -1;
}

/* The SUM of a mean: what divides it is the number of its terms. */
static int averaged_sum(const cupel_graph *graph, const cupel_node *n) {
    const int sum = divided_sum(graph, n);
    if (sum < 0) return -1;
    const cupel_node *terms = &graph->nodes[graph->nodes[sum].args[0]];
    const cupel_node *divisor = &graph->nodes[cupel_graph_behind_views(graph, n->args[1])];
    return terms->rank > 0 && divisor->number == (double)terms->shape[terms->rank - 1] ? sum : -1;
}

/* Is it SUM((x - mean(x))^2)? *product, *x: the square, and x in its shape. */
static bool is_squares(const cupel_graph *graph, const cupel_node *sum, int *product, int *x) {
    if (sum->op != CUPEL_OP_SUM || !sum->in_statistic) return false;
    *product = cupel_graph_behind_views(graph, sum->args[0]);
    const cupel_node *square = &graph->nodes[*product];
    if (!is_real_product(square) || square->args[0] != square->args[1]) return false;
    const cupel_node *d = &graph->nodes[square->args[0]];
    if (d->op != CUPEL_OP_SUB) return false;
    const int mean = averaged_sum(graph, &graph->nodes[cupel_graph_behind_views(graph, d->args[1])]);
    if (mean < 0) return false;
    *x = d->args[0];
    return same_moves(graph, sum->args[0], *product, graph->nodes[mean].args[0], *x);
}

static cupel_shadow_pattern statistic(const cupel_graph *graph, const cupel_node *n) {
    const int sum = divided_sum(graph, n);
    int product, x;
    if (sum < 0) return (cupel_shadow_pattern){0};
    if (is_squares(graph, &graph->nodes[sum], &product, &x))
        return (cupel_shadow_pattern){.idea = CUPEL_IDEA_VARIANCE, .inner = sum, .source = x};
    if (averaged_sum(graph, n) < 0) return (cupel_shadow_pattern){0};
    return (cupel_shadow_pattern){.idea = CUPEL_IDEA_MEAN, .inner = sum, .source = graph->nodes[sum].args[0]};
}

static bool is_folded(const cupel_graph *graph, int node) {
    const cupel_node *n = &graph->nodes[node];
    return n->op == CUPEL_OP_EXP && own_maximum(graph, n->args[0]) >= 0;
}

static cupel_shadow_pattern total(const cupel_graph *graph, const cupel_node *n) {
    int product, x;
    if (is_squares(graph, n, &product, &x))
        return (cupel_shadow_pattern){.idea = CUPEL_IDEA_SQUARES, .inner = product, .source = x};
    const int term = cupel_graph_behind_views(graph, n->args[0]);
    if (is_real_product(&graph->nodes[term]))
        return (cupel_shadow_pattern){.idea = CUPEL_IDEA_FUSED_SUM, .inner = term};
    if (n->rescalable && is_folded(graph, term)) {
        const cupel_node *difference = &graph->nodes[graph->nodes[term].args[0]];
        const int top = own_maximum(graph, graph->nodes[term].args[0]), shifted = difference->args[0];
        if (same_moves(graph, n->args[0], term, graph->nodes[top].args[0], shifted))
            return (cupel_shadow_pattern){
                .idea = CUPEL_IDEA_RUNNING_MAXIMUM, .inner = term, .source = shifted};
    }
    return (cupel_shadow_pattern){0};
}

cupel_shadow_pattern cupel_shadow_pattern_of(const cupel_graph *graph, int node, const bool *maxima) {
    const cupel_node *n = &graph->nodes[node];
    if (n->kind != CUPEL_VALUE_REAL) return (cupel_shadow_pattern){0};
    switch (n->op) {
    case CUPEL_OP_ADD: return joined(graph, n);
    case CUPEL_OP_SUB: return difference(graph, n);
    case CUPEL_OP_DIV: return statistic(graph, n);
    case CUPEL_OP_SUM: return total(graph, n);
    case CUPEL_OP_EXP:
        if (is_folded(graph, node))
            return (cupel_shadow_pattern){.idea = CUPEL_IDEA_FOLDED, .inner = n->args[0]};
        return (cupel_shadow_pattern){0};
    case CUPEL_OP_AMAX:
        return (cupel_shadow_pattern){.idea = maxima && maxima[node] ? CUPEL_IDEA_MAXIMUM : CUPEL_IDEA_NONE};
    default: return (cupel_shadow_pattern){0};
    }
}
