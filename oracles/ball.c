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
                        .carry = 1,
                        .depth = zero ? INFINITY : fmax(low, 0),
                        .peak = fmax(1, size),
                        .trough = zero || !isfinite(value) ? 1 : fmin(1, fmax(low, 0)),
                        .divisors = 1,
                        .classes = classes,
                        .reason = reason};
}

cupel_ball cupel_ball_leaf(const cupel_working *w, cupel_value_kind kind, double value, bool exact) {
    double radius = 0;
    uint8_t classes = cupel_class_of(value);
    uint8_t reason = CUPEL_REASON_JUDGED;
    if (kind == CUPEL_VALUE_REAL && isfinite(value) && !(exact && cupel_working_holds(w, value))) {
        radius = fmax(w->unit * fabs(value), w->eta) * (1 + 0x1p-40);
        if (w->flush && fabs(value) - radius < w->normal) radius = fmax(radius, fabs(value));
        if (fabs(value) >= w->largest && !w->safe) reason = CUPEL_REASON_OVERFLOW;
    }
    if (kind != CUPEL_VALUE_REAL && !(fabs(value) <= w->integers)) reason = CUPEL_REASON_UNABLE;
    if (value == 0 && exact) classes |= cupel_zero_sign_of(value);
    cupel_ball leaf = cupel_ball_plain(value, radius, classes, reason);
    leaf.direct = true;
    return leaf;
}

cupel_ball cupel_ball_close(const cupel_working *w, const cupel_trait *t, cupel_ball b, double top) {
    const uint8_t own = cupel_class_of(b.value);
    b.classes |= own;
    if (own != CUPEL_CLASS_FINITE) {
        b.radius = b.classes & CUPEL_CLASS_FINITE ? INFINITY : 0;
        b.spread = b.radius;
        b.magnitude = 0;
        b.grain = 0;
    } else if (b.radius > 0) {
        b.radius = cupel_ball_inflated(b.radius, b.value);
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
    b.floor = fmin(b.floor, 0);
    b.ceiling = fmax(b.ceiling, 0);
    b.spread = fmax(b.spread, fabs(b.value));
    b.grain = 0;
    b.least = 0;
    b.depth = 0;
    return b;
}

/* Does element `row` of the maximum belong to a row that holds element `index` of x? */
static bool row_holds(const cupel_graph *graph, const cupel_node *maximum, int64_t row, int x,
                      int64_t index) {
    const cupel_node *argument = &graph->nodes[maximum->args[0]];
    const int64_t n = argument->shape[argument->rank - 1];
    if (maximum->args[0] == x) return index / n == row;
    const int64_t wanted = cupel_graph_element_behind(graph, &x, index);
    for (int64_t t = 0; t < n; t++) {
        int base = maximum->args[0];
        if (cupel_graph_element_behind(graph, &base, row * n + t) == wanted && base == x) return true;
    }
    return false;
}

/* Is `maximum` a view of amax(x), so broadcast that each element of x meets the maximum of its own row? A
 * square tensor may meet the maxima of other rows. Indices are affine, so a few elements tell: the corners
 * and some between. */
static bool is_own_maximum(const cupel_graph *graph, int x, int maximum) {
    const cupel_node *reduced = &graph->nodes[cupel_graph_behind_views(graph, maximum)];
    const int64_t count = graph->nodes[x].count;
    if (reduced->op != CUPEL_OP_AMAX || count == 0) return false;
    if (cupel_graph_behind_views(graph, reduced->args[0]) != cupel_graph_behind_views(graph, x)) return false;
    const int64_t samples[] = {0,         count - 1,     count / 2, count / 3,
                               count / 5, count * 3 / 4, count / 7, count - 1 - count / 9};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        int base = maximum;
        const int64_t row = cupel_graph_element_behind(graph, &base, samples[i]);
        if (!row_holds(graph, reduced, row, x, samples[i])) return false;
    }
    return true;
}

/* Is this sum one over a whole row of exp(x - amax(x))? Then one of its terms is exp(0). */
static bool is_softmax_sum(const cupel_graph *graph, const cupel_node *sum) {
    const cupel_node *term = &graph->nodes[cupel_graph_behind_views(graph, sum->args[0])];
    if (term->op != CUPEL_OP_EXP && term->op != CUPEL_OP_EXP2) return false;
    const cupel_node *shifted = &graph->nodes[cupel_graph_behind_views(graph, term->args[0])];
    if (shifted->op != CUPEL_OP_SUB || !is_own_maximum(graph, shifted->args[0], shifted->args[1]))
        return false;
    const cupel_node *maximum = &graph->nodes[cupel_graph_behind_views(graph, shifted->args[1])];
    const cupel_node *argument = &graph->nodes[maximum->args[0]], *summed = &graph->nodes[sum->args[0]];
    const int64_t n = summed->shape[summed->rank - 1];
    if (n != argument->shape[argument->rank - 1] || sum->count == 0) return false;
    const int64_t rows[] = {0, sum->count / 2, sum->count - 1};
    for (int i = 0; i < 3; i++) {
        int64_t first = -1, before = -1;
        for (int64_t t = 0; t < n; t++) {
            int node = sum->args[0];
            int64_t at = cupel_graph_element_behind(graph, &node, rows[i] * n + t);
            node = graph->nodes[node].args[0];
            at = cupel_graph_element_behind(graph, &node, at);
            if (at == before) return false; /* one element repeated is no row */
            before = at;
            int top = graph->nodes[node].args[1];
            const int64_t row = cupel_graph_element_behind(graph, &top, at);
            if (t > 0 && row != first) return false;
            first = row;
        }
    }
    return true;
}

/* A literal or a parameter, an integer too. */
static bool is_constant(const cupel_graph *graph, int node) {
    int at = cupel_graph_behind_views(graph, node);
    if (graph->nodes[at].op == CUPEL_OP_TOREAL)
        at = cupel_graph_behind_views(graph, graph->nodes[at].args[0]);
    return graph->nodes[at].op == CUPEL_OP_CONSTANT;
}

/* sqrt(x), or x ** 0.5, some of whose elements are not judged. */
static bool is_root(const cupel_graph *graph, int node) {
    int at = cupel_graph_behind_views(graph, node);
    if (graph->nodes[at].op == CUPEL_OP_EXCLUDE)
        at = cupel_graph_behind_views(graph, graph->nodes[at].args[0]);
    return graph->nodes[at].op == CUPEL_OP_SQRT;
}

cupel_trait cupel_trait_of(const cupel_graph *graph, int index) {
    const cupel_node *n = &graph->nodes[index];
    cupel_trait t = {.overflow = fmax(n->terms, 4),
                     .in_statistic = n->in_statistic,
                     .rescalable = n->rescalable,
                     .joins = n->joins,
                     .width = n->width};
    switch (n->op) {
    case CUPEL_OP_MUL: t.square = n->args[0] == n->args[1]; break;
    case CUPEL_OP_SUB: t.below_maximum = is_own_maximum(graph, n->args[0], n->args[1]); break;
    case CUPEL_OP_EXP:
    case CUPEL_OP_EXP2:
        t.folded = graph->nodes[cupel_graph_behind_views(graph, n->args[0])].op == CUPEL_OP_SUB;
        break;
    case CUPEL_OP_DIV:
        t.root_divisor = is_root(graph, n->args[1]);
        t.constant_divisor = is_constant(graph, n->args[1]);
        break;
    case CUPEL_OP_SUM: t.softmax_sum = n->rescalable && is_softmax_sum(graph, n); break;
    default: break;
    }
    return t;
}
