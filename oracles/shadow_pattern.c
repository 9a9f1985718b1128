/* What a kernel's author would make of a node and its surroundings: the one place where means, variances,
 * subtracted maxima and multiply-adds are recognised. */
#include "shadow_impl.h"

int cupel_shadow_behind(const cupel_graph *graph, int node) {
    while (graph->nodes[node].op == CUPEL_OP_VIEW || graph->nodes[node].op == CUPEL_OP_RESHAPE)
        node = graph->nodes[node].args[0];
    return node;
}

/* The AMAX that `top` is, behind views and behind where(isinf(maximum), 0, maximum); -1: none. */
static int maximum_of(const cupel_graph *graph, int top) {
    top = cupel_shadow_behind(graph, top);
    if (graph->nodes[top].op == CUPEL_OP_WHERE) {
        const int then = cupel_shadow_behind(graph, graph->nodes[top].args[1]);
        const int otherwise = cupel_shadow_behind(graph, graph->nodes[top].args[2]);
        top = graph->nodes[then].op == CUPEL_OP_AMAX ? then : otherwise;
    }
    return graph->nodes[top].op == CUPEL_OP_AMAX ? top : -1;
}

void cupel_shadow_maxima(const cupel_graph *graph, bool *maxima) {
    for (int i = 0; i < graph->node_count; i++) {
        const cupel_node *n = &graph->nodes[i];
        if (n->op != CUPEL_OP_SUB || !cupel_trait_of(graph, i).below_maximum) continue;
        const int top = maximum_of(graph, n->args[1]);
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

static bool is_one(const cupel_graph *graph, int node) {
    const cupel_node *n = &graph->nodes[cupel_shadow_behind(graph, node)];
    return n->op == CUPEL_OP_CONSTANT && n->kind == CUPEL_VALUE_REAL && n->number == 1 && !n->digits;
}

/* (x + 1) - 1 states an error relative to 1; kernels compute x. */
static cupel_shadow_pattern difference(const cupel_graph *graph, const cupel_node *n) {
    const cupel_node *sum = &graph->nodes[n->args[0]];
    if (sum->op == CUPEL_OP_ADD && is_one(graph, n->args[1]) && is_one(graph, sum->args[1]))
        return (cupel_shadow_pattern){.idea = CUPEL_IDEA_SAME, .inner = sum->args[0]};
    return joined(graph, n);
}

/* The SUM of a statistic that a DIV divides by its length; -1: none. */
static int divided_sum(const cupel_graph *graph, const cupel_node *n) {
    if (n->op != CUPEL_OP_DIV) return -1;
    const int sum = cupel_shadow_behind(graph, n->args[0]);
    const cupel_node *divisor = &graph->nodes[cupel_shadow_behind(graph, n->args[1])];
    if (graph->nodes[sum].op != CUPEL_OP_SUM || !graph->nodes[sum].in_statistic) return -1;
    return divisor->op == CUPEL_OP_CONSTANT ? sum : -1;
}

/* Is it SUM((x - mean(x))^2)? *product, *x: the square, and x in its shape. */
static bool is_squares(const cupel_graph *graph, const cupel_node *sum, int *product, int *x) {
    if (sum->op != CUPEL_OP_SUM || !sum->in_statistic) return false;
    *product = cupel_shadow_behind(graph, sum->args[0]);
    const cupel_node *square = &graph->nodes[*product];
    if (!is_real_product(square) || square->args[0] != square->args[1]) return false;
    const cupel_node *d = &graph->nodes[square->args[0]];
    if (d->op != CUPEL_OP_SUB) return false;
    const int mean = divided_sum(graph, &graph->nodes[cupel_shadow_behind(graph, d->args[1])]);
    if (mean < 0) return false;
    *x = d->args[0];
    return cupel_shadow_behind(graph, graph->nodes[mean].args[0]) == cupel_shadow_behind(graph, *x);
}

static cupel_shadow_pattern statistic(const cupel_graph *graph, const cupel_node *n) {
    const int sum = divided_sum(graph, n);
    int product, x;
    if (sum < 0) return (cupel_shadow_pattern){0};
    if (is_squares(graph, &graph->nodes[sum], &product, &x))
        return (cupel_shadow_pattern){.idea = CUPEL_IDEA_VARIANCE, .inner = sum, .source = x};
    return (cupel_shadow_pattern){.idea = CUPEL_IDEA_MEAN, .inner = sum, .source = graph->nodes[sum].args[0]};
}

static bool is_folded(const cupel_graph *graph, int node) {
    const cupel_node *n = &graph->nodes[node];
    return n->op == CUPEL_OP_EXP && graph->nodes[n->args[0]].op == CUPEL_OP_SUB &&
           cupel_trait_of(graph, n->args[0]).below_maximum;
}

static cupel_shadow_pattern total(const cupel_graph *graph, const cupel_node *n) {
    int product, x;
    if (is_squares(graph, n, &product, &x))
        return (cupel_shadow_pattern){.idea = CUPEL_IDEA_SQUARES, .inner = product, .source = x};
    const int term = cupel_shadow_behind(graph, n->args[0]);
    if (is_real_product(&graph->nodes[term]))
        return (cupel_shadow_pattern){.idea = CUPEL_IDEA_FUSED_SUM, .inner = term};
    if (n->rescalable && is_folded(graph, term))
        return (cupel_shadow_pattern){.idea = CUPEL_IDEA_RUNNING_MAXIMUM,
                                      .inner = term,
                                      .source = graph->nodes[graph->nodes[term].args[0]].args[0]};
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
