/* Derivatives of functions of one argument, as PyTorch's derivatives.yaml writes them: from the result where
 * a kernel keeps it (exp, sqrt, tanh), else from the argument. */
#include "gradient_rules.h"

static int square(cupel_builder *b, int x) {
    return mul_(b, x, x);
}
static int sin_(cupel_builder *b, int x) {
    return cupel_emit_unary(b, CUPEL_OP_SIN, x);
}
static int cos_(cupel_builder *b, int x) {
    return cupel_emit_unary(b, CUPEL_OP_COS, x);
}
static int one(cupel_builder *b) {
    return number_(b, 1.0);
}

int cupel_gradient_exp_or(cupel_builder *b, int x, int less_one) {
    return cupel_emit_between(b, exp_(b, x), add_(b, less_one, one(b)), cupel_emit_truth(b, true));
}

static const char *const two_over_root_pi = "1.1283791670955125738961589031215451716881012586579977";
static const char *const ln_2 = "0.69314718055994530941723212145817656807550013436025";
static const char *const ln_10 = "2.3025850929940456840179914546843642076011014886287";

/* Kernels have dy (1 - y y) or dy (1 - y)(1 + y): the second rounds once more among subnormal results, by
 * which it leaves what the first may give. */
static int tanh_slope(cupel_builder *b, int y, int dy) {
    int square_form = mul_(b, dy, sub_(b, one(b), square(b, y)));
    int factors = mul_(b, mul_(b, dy, sub_(b, one(b), y)), add_(b, one(b), y));
    return cupel_emit_between(b, square_form, factors, cupel_emit_truth(b, true));
}

/* dy f'(x) for a function whose derivative is finite wherever x is. */
static int smooth(cupel_builder *b, cupel_op op, int x, int y, int dy) {
    switch (op) {
    case CUPEL_OP_EXP: return mul_(b, dy, y);
    case CUPEL_OP_EXP2: return mul_(b, mul_(b, dy, y), cupel_emit_literal(b, ln_2));
    case CUPEL_OP_EXPM1: return mul_(b, dy, cupel_gradient_exp_or(b, x, y));
    case CUPEL_OP_SIN: return mul_(b, dy, cos_(b, x));
    case CUPEL_OP_COS: return mul_(b, dy, neg_(b, sin_(b, x)));
    case CUPEL_OP_TAN: return mul_(b, dy, add_(b, one(b), square(b, y)));
    case CUPEL_OP_ATAN: return div_(b, dy, add_(b, one(b), square(b, x)));
    case CUPEL_OP_SINH: return mul_(b, dy, cupel_emit_unary(b, CUPEL_OP_COSH, x));
    case CUPEL_OP_COSH: return mul_(b, dy, cupel_emit_unary(b, CUPEL_OP_SINH, x));
    case CUPEL_OP_TANH: return tanh_slope(b, y, dy);
    case CUPEL_OP_ERF:
    case CUPEL_OP_ERFC: {
        int bell = mul_(b, cupel_emit_literal(b, two_over_root_pi), exp_(b, neg_(b, square(b, x))));
        return mul_(b, dy, op == CUPEL_OP_ERF ? bell : neg_(b, bell));
    }
    default: return -1;
    }
}

/* The same for functions with a pole or an edge of their domain. */
static int edged(cupel_builder *b, cupel_op op, int x, int y, int dy) {
    int minus_half = number_(b, -0.5);
    switch (op) {
    case CUPEL_OP_SQRT: return div_(b, dy, mul_(b, number_(b, 2.0), y));
    case CUPEL_OP_RSQRT: return mul_(b, mul_(b, minus_half, dy), mul_(b, mul_(b, y, y), y));
    case CUPEL_OP_LOG: return div_(b, dy, x);
    case CUPEL_OP_LOG2: return div_(b, dy, mul_(b, x, cupel_emit_literal(b, ln_2)));
    case CUPEL_OP_LOG10: return div_(b, dy, mul_(b, x, cupel_emit_literal(b, ln_10)));
    case CUPEL_OP_LOG1P: return div_(b, dy, add_(b, x, one(b)));
    case CUPEL_OP_ASIN: return mul_(b, dy, rsqrt_(b, sub_(b, one(b), square(b, x))));
    case CUPEL_OP_ACOS: return mul_(b, neg_(b, dy), rsqrt_(b, sub_(b, one(b), square(b, x))));
    default: return -1;
    }
}

/* |x|: sign(x), which is 0 at 0; the one-sided derivatives are -1 and 1. An infinite upstream at 0 is NaN
 * times a sign, and 0 by a choice. */
static int magnitude(cupel_sweep *s, int x, int dy) {
    cupel_builder *b = s->b;
    int at_zero = equal_(b, x, number_(b, 0.0));
    int value = mul_(b, dy, cupel_emit_unary(b, CUPEL_OP_SIGN, x));
    if (s->kinks_any) {
        value = cupel_emit_between(b, value, dy, at_zero);
        value = cupel_emit_between(b, value, neg_(b, dy), at_zero);
    }
    return cupel_emit_exclude(b, value,
                              and_(b, at_zero, not_(b, cupel_emit_unary(b, CUPEL_OP_ISFINITE, dy))));
}

void cupel_gradient_unary(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const cupel_op op = b->nodes[node].op;
    const int x = b->nodes[node].args[0];
    int share;
    switch (op) {
    case CUPEL_OP_NEG: share = neg_(b, dy); break;
    case CUPEL_OP_ABS: share = magnitude(s, x, dy); break;
    case CUPEL_OP_SIGN:
    case CUPEL_OP_FLOOR:
    case CUPEL_OP_CEIL:
    case CUPEL_OP_ROUND:
    case CUPEL_OP_TRUNC: return; /* steps: 0 everywhere, at the jumps too */
    default:
        share = smooth(b, op, x, node, dy);
        if (share < 0 && b->code == CUPEL_OK) {
            share = edged(b, op, x, node, dy);
            if (share < 0 && b->code == CUPEL_OK) {
                cupel_sweep_refuse(s, node);
                return;
            }
        }
        /* where another branch was taken the upstream is 0, and infinities and domains do not count */
        share = cupel_gradient_guarded(s, share, dy);
        break;
    }
    cupel_sweep_give(s, x, share);
}
