/* Functions of one argument. */
#include "shadow_impl.h"

static int64_t integer_value(cupel_op op, int64_t x) {
    const uint64_t bits = (uint64_t)x;
    switch (op) {
    case CUPEL_OP_NEG: return (int64_t)(0 - bits);
    case CUPEL_OP_ABS: return x < 0 ? (int64_t)(0 - bits) : x;
    case CUPEL_OP_SIGN: return (x > 0) - (x < 0);
    case CUPEL_OP_BITNOT: return ~x;
    default: return x; /* floor and its kind */
    }
}

/* exp(a - b) as exp2(a log2 e - b log2 e), the product with b rounded first. */
static double folded(cupel_shadow *s, double a, double b) {
    const double scale = cupel_shadow_round(s, 1.4426950408889634);
    const double top = cupel_shadow_round(s, b * scale);
    const double x = s->plan.fused ? cupel_shadow_fma(s, a, scale, -top)
                                   : cupel_shadow_round(s, cupel_shadow_round(s, a * scale) - top);
    return cupel_shadow_function(s, CUPEL_OP_EXP2, x);
}

static void exponentials(cupel_shadow *s, int node) {
    const cupel_node *difference = &s->graph->nodes[s->patterns[node].inner];
    const double *x = cupel_shadow_arg(s, node, 0)->x, *a = s->tensors[difference->args[0]].x,
                 *b = s->tensors[difference->args[1]].x;
    const cupel_shadow_tensor *t = &s->tensors[node];
    for (int64_t i = 0; i < t->count; i++)
        t->x[i] = isfinite(x[i]) && fabs(a[i]) < 1e30 ? folded(s, a[i], b[i])
                                                      : cupel_shadow_function(s, CUPEL_OP_EXP, x[i]);
}

cupel_code cupel_shadow_unary(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node], *from = cupel_shadow_arg(s, node, 0);
    const bool integers = s->graph->nodes[n->args[0]].kind == CUPEL_VALUE_INT;
    if (s->patterns[node].idea == CUPEL_IDEA_FOLDED && s->plan.folded) {
        exponentials(s, node);
        return CUPEL_OK;
    }
    for (int64_t i = 0; i < t->count; i++) {
        if (n->kind == CUPEL_VALUE_INT)
            t->n[i] = integer_value(n->op, from->n[i]);
        else if (integers)
            t->x[i] = cupel_shadow_function(s, n->op, (double)from->n[i]);
        else
            t->x[i] = cupel_shadow_function(s, n->op, from->x[i]);
    }
    return CUPEL_OK;
}
