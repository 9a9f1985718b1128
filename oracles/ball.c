#include "ball.h"

#include <string.h>

/* The lowest set bit of a double as a power of two; infinity for 0, whose multiples are all. */
static double grain_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t fraction = bits & UINT64_C(0xfffffffffffff);
    const int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0x7ff) return 0;
    if (exponent == 0) return fraction ? 0x1p-1074 : INFINITY; /* subnormal doubles: a lower bound */
    const int zeros = fraction ? __builtin_ctzll(fraction) : 52;
    return ldexp(1, exponent - 1023 - 52 + zeros);
}

cupel_ball cupel_ball_plain(double value, double radius, uint8_t classes, uint8_t reason) {
    const double size = isfinite(value) ? fabs(value) + radius : 0;
    const double low = isfinite(value) ? fabs(value) - radius : INFINITY;
    const bool zero = value == 0 && radius == 0;
    return (cupel_ball){.value = value,
                        .radius = radius,
                        .floor = -INFINITY,
                        .ceiling = INFINITY,
                        .magnitude = size,
                        .spread = radius,
                        .terms = 1,
                        .grain = radius == 0 ? grain_of(value) : 0,
                        .least = zero ? INFINITY : fmax(low, 0),
                        .peak = fmax(1, size),
                        .trough = zero || !isfinite(value) ? 1 : fmin(1, fmax(low, 0)),
                        .classes = classes,
                        .reason = reason};
}

cupel_ball cupel_ball_leaf(const cupel_working *w, cupel_value_kind kind, double value, bool exact) {
    double radius = 0;
    uint8_t classes = cupel_class_of(value);
    uint8_t reason = CUPEL_REASON_JUDGED;
    if (kind == CUPEL_VALUE_REAL && isfinite(value) && !(exact && cupel_working_holds(w, value))) {
        radius = fmax(w->unit * fabs(value), w->smallest / 2) * (1 + 0x1p-40);
        if (fabs(value) >= w->largest && !w->safe) reason = CUPEL_REASON_OVERFLOW;
    }
    if (value == 0 && exact) classes |= cupel_zero_sign_of(value);
    cupel_ball leaf = cupel_ball_plain(value, radius, classes, reason);
    leaf.direct = true;
    return leaf;
}

/* The roundings of doubles on the way to a radius: far below the working precision's, but not nothing. */
static const double inflation = 1 + 0x1p-48;

cupel_ball cupel_ball_close(const cupel_working *w, const cupel_trait *t, cupel_ball b, double top) {
    const uint8_t own = cupel_class_of(b.value);
    b.classes |= own;
    if (own != CUPEL_CLASS_FINITE) {
        b.radius = b.classes & CUPEL_CLASS_FINITE ? INFINITY : 0;
        b.spread = b.radius;
        b.magnitude = 0;
        b.grain = 0;
    } else if (b.radius > 0) {
        b.radius = b.radius * inflation + fabs(b.value) * 0x1p-52;
    }
    if (isnan(b.radius)) b.radius = INFINITY;
    if (w->flush && own == CUPEL_CLASS_FINITE && b.value != 0 && fabs(b.value) - b.radius < w->normal)
        b.radius = fmax(b.radius, fabs(b.value));
    if (b.reason == CUPEL_REASON_JUDGED && !w->safe && (b.classes & CUPEL_CLASS_FINITE)) {
        const double size = fmax(top, own == CUPEL_CLASS_FINITE ? fabs(b.value) : 0) * t->overflow;
        if (!(size < w->largest)) {
            b.reason = CUPEL_REASON_OVERFLOW;
        } else if (!((size + b.radius * t->overflow) < w->largest)) {
            b.reason = isinf(b.radius) ? CUPEL_REASON_UNBOUNDED : CUPEL_REASON_OVERFLOW;
        }
    }
    return b;
}

cupel_ball cupel_ball_operand(const cupel_working *w, const cupel_ball *a) {
    cupel_ball b = *a;
    if (!w->flush || !isfinite(b.value) || b.value == 0 || !(fabs(b.value) - b.radius < w->normal)) return b;
    b.radius = fmax(b.radius, fabs(b.value));
    b.spread = fmax(b.spread, fabs(b.value));
    b.grain = 0;
    b.least = 0;
    return b;
}

/* The node behind views that keep its elements. */
static int behind_views(const cupel_graph *graph, int node) {
    while (graph->nodes[node].op == CUPEL_OP_VIEW || graph->nodes[node].op == CUPEL_OP_RESHAPE)
        node = graph->nodes[node].args[0];
    return node;
}

/* Is `maximum` a view of amax over the last axis of x, broadcast back along that axis? */
static bool is_own_maximum(const cupel_graph *graph, int x, int maximum) {
    const cupel_node *reduced = &graph->nodes[behind_views(graph, maximum)];
    if (reduced->op != CUPEL_OP_AMAX) return false;
    return reduced->args[0] == x || behind_views(graph, reduced->args[0]) == behind_views(graph, x);
}

cupel_trait cupel_trait_of(const cupel_graph *graph, int index) {
    const cupel_node *n = &graph->nodes[index];
    cupel_trait t = {
        .overflow = fmax(n->terms, 4), .in_statistic = n->in_statistic, .rescalable = n->rescalable};
    switch (n->op) {
    case CUPEL_OP_MUL: t.square = n->args[0] == n->args[1]; break;
    case CUPEL_OP_SUB: t.below_maximum = is_own_maximum(graph, n->args[0], n->args[1]); break;
    case CUPEL_OP_EXP:
    case CUPEL_OP_EXP2: t.folded = graph->nodes[behind_views(graph, n->args[0])].op == CUPEL_OP_SUB; break;
    case CUPEL_OP_DIV:
        t.root_divisor = graph->nodes[behind_views(graph, n->args[1])].op == CUPEL_OP_SQRT;
        break;
    case CUPEL_OP_SUM: {
        const cupel_node *term = &graph->nodes[behind_views(graph, n->args[0])];
        if (!n->rescalable || (term->op != CUPEL_OP_EXP && term->op != CUPEL_OP_EXP2)) break;
        const cupel_node *shifted = &graph->nodes[behind_views(graph, term->args[0])];
        t.softmax_sum =
            shifted->op == CUPEL_OP_SUB && is_own_maximum(graph, shifted->args[0], shifted->args[1]);
        break;
    }
    default: break;
    }
    return t;
}
