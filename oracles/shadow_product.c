/* Matrix products: each element is a sum of products in the plan's order. */
#include "shadow_impl.h"

static double real_element(cupel_shadow *s, const double *a, const double *b, int64_t length,
                           int64_t columns) {
    for (int64_t k = 0; k < length; k++) s->right[k] = b[k * columns];
    if (s->plan.fault != CUPEL_SHADOW_TF32_PRODUCTS) return cupel_shadow_sum(s, a, s->right, length);
    for (int64_t k = 0; k < length; k++) {
        s->left[k] = cupel_round(CUPEL_TF32, a[k]);
        s->right[k] = cupel_round(CUPEL_TF32, s->right[k]);
    }
    return cupel_shadow_sum(s, s->left, s->right, length);
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
