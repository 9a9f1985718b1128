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

/* Where the row of the left operand begins, and the column of the right one, that make element i. */
static void locate(const cupel_shadow *s, int node, int64_t i, int64_t *row, int64_t *column) {
    const cupel_node *n = &s->graph->nodes[node];
    const int64_t rows = n->shape[n->rank - 2], columns = n->shape[n->rank - 1];
    const int64_t length = cupel_shadow_row(s, n->args[0]);
    *row = i / columns * length;
    *column = i / (rows * columns) * length * columns + i % columns;
}

const double *cupel_shadow_factors(cupel_shadow *s, int product, int64_t i) {
    int64_t row, column;
    locate(s, product, i, &row, &column);
    const int64_t length = cupel_shadow_row(s, s->graph->nodes[product].args[0]);
    const int64_t columns = cupel_shadow_row(s, product);
    const double *b = cupel_shadow_arg(s, product, 1)->x + column;
    for (int64_t k = 0; k < length; k++) s->right[k] = b[k * columns];
    return cupel_shadow_arg(s, product, 0)->x + row;
}

static double real_element(cupel_shadow *s, int node, int64_t i) {
    const int64_t length = cupel_shadow_row(s, s->graph->nodes[node].args[0]);
    const double *a = cupel_shadow_factors(s, node, i);
    return cupel_shadow_dot(s, cupel_shadow_left(s, a, length), cupel_shadow_right(s, s->right, length),
                            length);
}

static int64_t integer_element(const cupel_shadow *s, int node, int64_t i) {
    int64_t row, column;
    locate(s, node, i, &row, &column);
    const int64_t length = cupel_shadow_row(s, s->graph->nodes[node].args[0]),
                  columns = cupel_shadow_row(s, node);
    const int64_t *a = cupel_shadow_arg(s, node, 0)->n + row, *b = cupel_shadow_arg(s, node, 1)->n + column;
    uint64_t total = 0;
    for (int64_t k = 0; k < cupel_shadow_seen(s, length); k++)
        total += (uint64_t)a[k] * (uint64_t)b[k * columns];
    return (int64_t)total;
}

cupel_code cupel_shadow_product(cupel_shadow *s, int node) {
    const cupel_shadow_tensor *t = &s->tensors[node];
    const bool integers = s->graph->nodes[node].kind == CUPEL_VALUE_INT;
    for (int64_t i = 0; i < t->count; i++) {
        if (integers)
            t->n[i] = integer_element(s, node, i);
        else
            t->x[i] = real_element(s, node, i);
    }
    return CUPEL_OK;
}
