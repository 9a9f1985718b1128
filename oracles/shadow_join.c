/* c + sum(x), c - matmul(a, b): kernels also start the accumulator with c. */
#include "shadow_impl.h"

/* The argument of an ADD or SUB that is a sum over an axis; -1 where none is. */
static int joined_argument(const cupel_graph *graph, const cupel_node *n) {
    if (n->kind != CUPEL_VALUE_REAL || (n->op != CUPEL_OP_ADD && n->op != CUPEL_OP_SUB)) return -1;
    for (int k = 0; k < 2; k++) {
        const cupel_op op = graph->nodes[n->args[k]].op;
        if (op == CUPEL_OP_MATMUL || op == CUPEL_OP_SUM) return k;
    }
    return -1;
}

int cupel_shadow_join(const cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    if (!s->plan.joined || s->plan.fault != CUPEL_SHADOW_NO_FAULT) return -1;
    const int k = joined_argument(s->graph, n);
    if (k < 0 || s->patterns[n->args[k]].idea != CUPEL_IDEA_NONE) return -1;
    const cupel_node *sum = &s->graph->nodes[n->args[k]];
    return s->graph->nodes[sum->args[0]].count > 0 ? n->args[k] : -1;
}

/* Element i of the SUM on top of start. */
static double sum_onto(cupel_shadow *s, int sum, int64_t i, double start, double sign) {
    const int64_t row = cupel_shadow_row(s, s->graph->nodes[sum].args[0]);
    const double *x = cupel_shadow_arg(s, sum, 0)->x + i * row;
    for (int64_t k = 0; k < row; k++) start = cupel_shadow_step(s, start, sign * x[k], NULL);
    return start;
}

/* Element i of the MATMUL on top of start. */
static double product_onto(cupel_shadow *s, int product, int64_t i, double start, double sign) {
    const int64_t row = cupel_shadow_row(s, s->graph->nodes[product].args[0]);
    const double *x = cupel_shadow_factors(s, product, i);
    for (int64_t k = 0; k < row; k++) s->left[k] = sign * x[k];
    return cupel_shadow_dot_onto(s, start, s->left, s->right, row);
}

void cupel_shadow_start_with(cupel_shadow *s, int node, int sum) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node];
    const bool first = n->args[0] == sum, product = s->graph->nodes[sum].op == CUPEL_OP_MATMUL;
    const double minus = n->op == CUPEL_OP_SUB ? -1 : 1, sign = first ? 1 : minus, sign_c = first ? minus : 1;
    const double *c = cupel_shadow_arg(s, node, first)->x;
    for (int64_t i = 0; i < t->count; i++)
        t->x[i] =
            product ? product_onto(s, sum, i, sign_c * c[i], sign) : sum_onto(s, sum, i, sign_c * c[i], sign);
}
