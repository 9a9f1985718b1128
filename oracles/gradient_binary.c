/* Derivatives of functions of two arguments. */
#include "gradient_rules.h"

static int zero(cupel_builder *b) {
    return number_(b, 0.0);
}

static void give_product(cupel_sweep *s, int x, int y, int dy) {
    cupel_builder *b = s->b;
    if (x == y) { /* a square: 2 x dy, as every kernel has it, not a sum of two */
        cupel_sweep_give(s, x, mul_(b, mul_(b, number_(b, 2.0), x), dy));
        return;
    }
    if (cupel_sweep_wants(s, x)) cupel_sweep_give(s, x, cupel_gradient_guarded(s, mul_(b, dy, y), dy));
    if (cupel_sweep_wants(s, y)) cupel_sweep_give(s, y, cupel_gradient_guarded(s, mul_(b, dy, x), dy));
}

/* -dy (x / y) / y by the divisor; kernels also divide by y * y. */
static void give_quotient(cupel_sweep *s, int node, int x, int y, int dy) {
    cupel_builder *b = s->b;
    if (cupel_sweep_wants(s, x)) cupel_sweep_give(s, x, cupel_gradient_guarded(s, div_(b, dy, y), dy));
    if (!cupel_sweep_wants(s, y)) return;
    int share = neg_(b, div_(b, mul_(b, dy, node), y));
    cupel_sweep_give(s, y, cupel_gradient_guarded(s, share, dy));
}

/* By the base p x^(p-1), 0 where p is 0; by the exponent x^p log(x), 0 where x is 0 and p is not negative (as
 * pow_backward and pow_backward_exponent of PyTorch). */
static void give_power(cupel_sweep *s, int node, int x, int p, int dy) {
    cupel_builder *b = s->b;
    if (cupel_sweep_wants(s, x)) {
        int constant = equal_(b, p, zero(b));
        int power = cupel_emit_binary(b, CUPEL_OP_POW, x, sub_(b, p, number_(b, 1.0)));
        int share = cupel_gradient_guarded(s, mul_(b, dy, mul_(b, p, power)), dy);
        int open = and_(b, constant, not_(b, cupel_emit_unary(b, CUPEL_OP_ISFINITE, dy)));
        cupel_sweep_give(s, x, cupel_emit_exclude(b, where_(b, constant, zero(b), share), open));
    }
    if (cupel_sweep_wants(s, p)) {
        int flat = and_(b, equal_(b, x, zero(b)), less_equal_(b, zero(b), p));
        int share = cupel_gradient_guarded(s, mul_(b, dy, mul_(b, node, log_(b, x))), dy);
        int open = and_(b, flat, not_(b, cupel_emit_unary(b, CUPEL_OP_ISFINITE, dy)));
        cupel_sweep_give(s, p, cupel_emit_exclude(b, where_(b, flat, zero(b), share), open));
    }
}

/* x - y trunc(x / y), floor for the remainder; at the jumps PyTorch's value is the same formula's. */
static void give_remainder(cupel_sweep *s, cupel_op op, int x, int y, int dy) {
    cupel_builder *b = s->b;
    cupel_sweep_give(s, x, dy);
    if (!cupel_sweep_wants(s, y)) return;
    int quotient = cupel_emit_unary(b, op == CUPEL_OP_FMOD ? CUPEL_OP_TRUNC : CUPEL_OP_FLOOR, div_(b, x, y));
    cupel_sweep_give(s, y, cupel_gradient_guarded(s, neg_(b, mul_(b, dy, quotient)), dy));
}

/* atan2(y, x): x and -y over x^2 + y^2 */
static void give_angle(cupel_sweep *s, int y, int x, int dy) {
    cupel_builder *b = s->b;
    int size = add_(b, mul_(b, x, x), mul_(b, y, y));
    if (cupel_sweep_wants(s, y))
        cupel_sweep_give(s, y, cupel_gradient_guarded(s, div_(b, mul_(b, dy, x), size), dy));
    if (cupel_sweep_wants(s, x))
        cupel_sweep_give(s, x, cupel_gradient_guarded(s, neg_(b, div_(b, mul_(b, dy, y), size)), dy));
}

/* maximum, minimum: the winner takes all, ties half each, and beside a NaN both take all. */
static void give_extremum(cupel_sweep *s, cupel_op op, int x, int y, int dy) {
    cupel_builder *b = s->b;
    const bool largest = op == CUPEL_OP_MAXIMUM;
    if (x == y) { /* of one value with itself */
        cupel_sweep_give(s, x, dy);
        return;
    }
    int tie = equal_(b, x, y), half = mul_(b, dy, number_(b, 0.5));
    int mine = where_(b, tie, half, dy);
    if (s->kinks_any) {
        mine = cupel_emit_between(b, mine, dy, tie);
        mine = cupel_emit_between(b, mine, zero(b), tie);
    }
    int x_loses = largest ? less_(b, x, y) : less_(b, y, x),
        y_loses = largest ? less_(b, y, x) : less_(b, x, y);
    if (cupel_sweep_wants(s, x)) cupel_sweep_give(s, x, cupel_gradient_masked(s, not_(b, x_loses), mine));
    if (cupel_sweep_wants(s, y)) cupel_sweep_give(s, y, cupel_gradient_masked(s, not_(b, y_loses), mine));
}

/* fmax, fmin: the first on ties, and the number beside a NaN. */
static void give_number_extremum(cupel_sweep *s, cupel_op op, int x, int y, int dy) {
    cupel_builder *b = s->b;
    int wins = op == CUPEL_OP_FMAX ? less_equal_(b, y, x) : less_equal_(b, x, y);
    int first = or_(b, wins, isnan_(b, y)), tie = equal_(b, x, y);
    if (cupel_sweep_wants(s, x))
        cupel_sweep_give(s, x, cupel_gradient_kink(s, cupel_gradient_masked(s, first, dy), zero(b), tie));
    if (cupel_sweep_wants(s, y))
        cupel_sweep_give(s, y, cupel_gradient_kink(s, cupel_gradient_masked(s, not_(b, first), dy), dy, tie));
}

void cupel_gradient_binary(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const cupel_op op = b->nodes[node].op;
    const int x = b->nodes[node].args[0], y = b->nodes[node].args[1];
    switch (op) {
    case CUPEL_OP_ADD:
        cupel_sweep_give(s, x, dy);
        cupel_sweep_give(s, y, dy);
        break;
    case CUPEL_OP_SUB:
        cupel_sweep_give(s, x, dy);
        if (cupel_sweep_wants(s, y)) cupel_sweep_give(s, y, neg_(b, dy));
        break;
    case CUPEL_OP_MUL: give_product(s, x, y, dy); break;
    case CUPEL_OP_DIV: give_quotient(s, node, x, y, dy); break;
    case CUPEL_OP_POW: give_power(s, node, x, y, dy); break;
    case CUPEL_OP_FMOD:
    case CUPEL_OP_REMAINDER: give_remainder(s, op, x, y, dy); break;
    case CUPEL_OP_ATAN2: give_angle(s, x, y, dy); break;
    case CUPEL_OP_MINIMUM:
    case CUPEL_OP_MAXIMUM: give_extremum(s, op, x, y, dy); break;
    case CUPEL_OP_FMIN:
    case CUPEL_OP_FMAX: give_number_extremum(s, op, x, y, dy); break;
    default: cupel_sweep_refuse(s, node); break;
    }
}
