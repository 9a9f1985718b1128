/* Sorting along the last axis. */
#include <stdlib.h>

#include "bounded.h"

static int ascending(const void *p, const void *q) {
    const double a = *(const double *)p, b = *(const double *)q;
    return a < b ? -1 : a > b;
}

/* Exact finite elements: the values themselves in order. */
static void sort_plain(const cupel_tensor *x, cupel_tensor *t, int64_t begin, int64_t n) {
    memcpy(t->value + begin, x->value + begin, (size_t)n * sizeof *t->value);
    qsort(t->value + begin, (size_t)n, sizeof *t->value, ascending);
}

static cupel_code by_rules(cupel_bounded *b, int node, int64_t begin, int64_t n, cupel_ball *row,
                           cupel_ball *sorted) {
    const cupel_node *order = &b->graph->nodes[node];
    const cupel_value_kind kind = b->graph->nodes[order->args[0]].kind;
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    for (int64_t i = 0; i < n; i++) row[i] = cupel_tensor_load(x, begin + i);
    const bool done = order->op == CUPEL_OP_SORT
                          ? cupel_ball_sort(&b->w, kind, row, n, sorted)
                          : cupel_ball_argsort(&b->w, kind, row, n, order->integer != 0, sorted);
    if (!done) return cupel_fail(b->err, CUPEL_MEMORY, "no memory for a row of %lld elements", (long long)n);
    for (int64_t i = 0; i < n; i++)
        CUPEL_TRY(cupel_tensor_store(b, &b->tensors[node], begin + i, &sorted[i]));
    return CUPEL_OK;
}

cupel_code cupel_bounded_order(cupel_bounded *b, int node) {
    const cupel_node *order = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node], *x = cupel_bounded_arg(b, node, 0);
    if (t->count == 0) return CUPEL_OK;
    const int64_t n = order->shape[order->rank - 1];
    const bool sorts = order->op == CUPEL_OP_SORT, keeps = cupel_tensor_keeps(b, x);
    if (sorts) t->floor = x->floor, t->ceiling = x->ceiling;
    cupel_ball *row = malloc(2 * (size_t)n * sizeof *row);
    if (!row) return cupel_fail(b->err, CUPEL_MEMORY, "no memory for a row of %lld elements", (long long)n);
    cupel_code code = CUPEL_OK;
    for (int64_t begin = 0; begin < t->count && code == CUPEL_OK; begin += n) {
        if (sorts && keeps && !x->radius && cupel_tensor_is_plain(x, begin, n))
            sort_plain(x, t, begin, n);
        else
            code = by_rules(b, node, begin, n, row, row + n);
    }
    free(row);
    return code;
}
