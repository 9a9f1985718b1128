/* Choices and casts; leaves, which have nothing to hand on. */
#include "gradient_rules.h"

void cupel_gradient_leaf(cupel_sweep *s, int node, int dy) {
    (void)s, (void)node, (void)dy;
}

/* Under `kinks: any` a comparison of values that wrt moves is a kink where both are equal: either branch. */
static int kink_of(const cupel_sweep *s, int condition) {
    const cupel_node *n = &s->b->nodes[condition];
    if (!s->kinks_any || (n->op != CUPEL_OP_LT && n->op != CUPEL_OP_LE)) return -1;
    const int x = n->args[0], y = n->args[1];
    if (!cupel_sweep_wants(s, x) && !cupel_sweep_wants(s, y)) return -1;
    return equal_(s->b, x, y);
}

static void give_branches(cupel_sweep *s, int condition, int yes, int no, int dy) {
    cupel_builder *b = s->b;
    if (yes == no) { /* asked for its reasons alone */
        cupel_sweep_give(s, yes, dy);
        return;
    }
    const int kink = kink_of(s, condition);
    for (int which = 0; which < 2; which++) {
        const int branch = which ? no : yes;
        if (!cupel_sweep_wants(s, branch)) continue;
        int share = cupel_gradient_masked(s, which ? not_(b, condition) : condition, dy);
        if (kink >= 0) {
            share = cupel_emit_between(b, share, dy, kink);
            share = cupel_emit_between(b, share, number_(b, 0.0), kink);
        }
        cupel_sweep_give(s, branch, share);
    }
}

/* Two ways of computing one value (the condition always holds) have one derivative; at a kink there is none.
 */
static void give_between(cupel_sweep *s, int value, int condition, int dy) {
    const cupel_builder *b = s->b;
    int source = condition;
    while (b->nodes[source].op == CUPEL_OP_VIEW) source = b->nodes[source].args[0];
    const bool always = b->nodes[source].op == CUPEL_OP_CONSTANT;
    cupel_sweep_give(s, value, always ? dy : cupel_emit_exclude(s->b, dy, condition));
}

void cupel_gradient_select(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const cupel_op op = b->nodes[node].op;
    const int *args = b->nodes[node].args;
    switch (op) {
    case CUPEL_OP_WHERE: give_branches(s, args[0], args[1], args[2], dy); break;
    case CUPEL_OP_EXCLUDE: cupel_sweep_give(s, args[0], cupel_emit_exclude(b, dy, args[1])); break;
    case CUPEL_OP_LOOSEN: cupel_sweep_give(s, args[0], dy); break;
    case CUPEL_OP_CAST: cupel_sweep_give(s, args[0], dy); break; /* PyTorch's `to` hands the gradient on */
    case CUPEL_OP_BETWEEN: give_between(s, args[0], args[2], dy); break;
    default: cupel_sweep_refuse(s, node); break;
    }
}
