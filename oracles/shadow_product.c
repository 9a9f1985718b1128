/* Matrix products: each element is a sum of products in the plan's order. */
#include "shadow_impl.h"

/* To the nearest number of the type, ties away from zero. */
static double rounded_away(cupel_dtype type, double x) {
    if (!isfinite(x) || cupel_round(type, x) == x) return x;
    const double inner = cupel_shadow_truncated(type, x);
    const double outer = x < 0 ? cupel_round_down(type, x) : cupel_round_up(type, x);
    return fabs(x - inner) < fabs(outer - x) ? inner : outer;
}

static double narrowed(const cupel_shadow *s, double x) {
    double (*const rounded)(cupel_dtype, double) = s->plan.ties_away ? rounded_away : cupel_round;
    switch (s->plan.fault) {
    case CUPEL_SHADOW_TF32_PRODUCTS: return rounded(CUPEL_TF32, x);
    case CUPEL_SHADOW_BF16_PRODUCTS: return rounded(CUPEL_BF16, x);
    case CUPEL_SHADOW_F16_PRODUCTS: return rounded(CUPEL_F16, x);
    case CUPEL_SHADOW_TF32_CUT: return cupel_shadow_truncated(CUPEL_TF32, x);
    case CUPEL_SHADOW_BF16_CUT: return cupel_shadow_truncated(CUPEL_BF16, x);
    default: return x;
    }
}

static const double *operands(const cupel_shadow *s, const double *from, int64_t n, bool keep, double *room) {
    if (keep || !(CUPEL_SHADOW_OPERAND_FAULTS >> s->plan.fault & 1)) return from;
    for (int64_t i = 0; i < n; i++) room[i] = narrowed(s, from[i]);
    return room;
}

const double *cupel_shadow_left(const cupel_shadow *s, const double *from, int64_t n) {
    return operands(s, from, n, s->plan.keep_left, s->left);
}

const double *cupel_shadow_right(const cupel_shadow *s, const double *from, int64_t n) {
    return operands(s, from, n, s->plan.keep_right, s->right);
}

static double real_element(cupel_shadow *s, const double *a, const double *b, int64_t length,
                           int64_t columns) {
    for (int64_t k = 0; k < length; k++) s->right[k] = b[k * columns];
    return cupel_shadow_dot(s, cupel_shadow_left(s, a, length), cupel_shadow_right(s, s->right, length),
                            length);
}

static int64_t integer_element(const cupel_shadow *s, const int64_t *a, const int64_t *b, int64_t length,
                               int64_t columns) {
    uint64_t total = 0;
    for (int64_t k = 0; k < cupel_shadow_seen(s, length); k++)
        total += (uint64_t)a[k] * (uint64_t)b[k * columns];
    return (int64_t)total;
}

cupel_code cupel_shadow_product(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node], *a = cupel_shadow_arg(s, node, 0),
                              *b = cupel_shadow_arg(s, node, 1);
    const int64_t rows = n->shape[n->rank - 2], columns = n->shape[n->rank - 1];
    const int64_t length = cupel_shadow_row(s, n->args[0]), matrix = rows * columns;
    for (int64_t i = 0; i < t->count; i++) {
        const int64_t batch = i / matrix, row = i % matrix / columns, column = i % columns;
        const int64_t at = (batch * rows + row) * length, from = batch * length * columns + column;
        if (n->kind == CUPEL_VALUE_INT)
            t->n[i] = integer_element(s, a->n + at, b->n + from, length, columns);
        else
            t->x[i] = real_element(s, a->x + at, b->x + from, length, columns);
    }
    return CUPEL_OK;
}
