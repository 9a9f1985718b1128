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

typedef struct place {
    double value;
    int64_t index;
} place;

static int by_value(const void *p, const void *q) {
    const place *a = p, *b = q;
    const int order = ascending(&a->value, &b->value);
    return order ? order : a->index < b->index ? -1 : a->index > b->index;
}

/* Positions of exact finite elements; among equals as they stood, or left open. */
static cupel_code argsort_plain(cupel_bounded *b, int node, int64_t begin, int64_t n, place *row) {
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    cupel_tensor *t = &b->tensors[node];
    const bool stable = b->graph->nodes[node].integer != 0;
    for (int64_t i = 0; i < n; i++) row[i] = (place){x->value[begin + i], i};
    qsort(row, (size_t)n, sizeof *row, by_value);
    for (int64_t k = 0; k < n; k++) {
        const bool tied =
            (k > 0 && row[k - 1].value == row[k].value) || (k + 1 < n && row[k + 1].value == row[k].value);
        t->value[begin + k] = (double)row[k].index;
        if (stable || !tied) continue;
        CUPEL_TRY(cupel_tensor_need_reasons(b, t));
        t->reasons[begin + k] = CUPEL_REASON_CONVENTION;
    }
    return CUPEL_OK;
}

static cupel_code out_of_memory(const cupel_bounded *b, int64_t n) {
    return cupel_fail(b->err, CUPEL_MEMORY, "no memory for a row of %lld elements", (long long)n);
}

/* row: room for 2 n elements. */
static cupel_code rules_of_row(cupel_bounded *b, int node, int64_t begin, int64_t n, cupel_ball *row) {
    const cupel_node *order = &b->graph->nodes[node];
    const cupel_value_kind kind = b->graph->nodes[order->args[0]].kind;
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    for (int64_t i = 0; i < n; i++) row[i] = cupel_tensor_load(x, begin + i);
    const bool done = order->op == CUPEL_OP_SORT
                          ? cupel_ball_sort(&b->w, kind, row, n, row + n)
                          : cupel_ball_argsort(&b->w, kind, row, n, order->integer != 0, row + n);
    if (!done) return out_of_memory(b, n);
    for (int64_t i = 0; i < n; i++)
        CUPEL_TRY(cupel_tensor_store(b, &b->tensors[node], begin + i, &row[n + i]));
    return CUPEL_OK;
}

static cupel_code by_rules(cupel_bounded *b, int node, int64_t begin, int64_t n) {
    cupel_ball *row = malloc(2 * (size_t)n * sizeof *row);
    const cupel_code code = row ? rules_of_row(b, node, begin, n, row) : out_of_memory(b, n);
    free(row);
    return code;
}

/* Rows of plain numbers need no rules, whose state is large. */
cupel_code cupel_bounded_order(cupel_bounded *b, int node) {
    const cupel_node *order = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node], *x = cupel_bounded_arg(b, node, 0);
    if (t->count == 0) return CUPEL_OK;
    const int64_t n = order->shape[order->rank - 1];
    const bool sorts = order->op == CUPEL_OP_SORT, plain = cupel_tensor_keeps(b, x) && !x->radius;
    place *places = sorts ? NULL : malloc((size_t)n * sizeof *places);
    if (!sorts && !places) return out_of_memory(b, n);
    if (sorts) t->floor = x->floor, t->ceiling = x->ceiling;
    cupel_code code = CUPEL_OK;
    for (int64_t begin = 0; begin < t->count && code == CUPEL_OK; begin += n) {
        if (!plain || !cupel_tensor_is_plain(x, begin, n))
            code = by_rules(b, node, begin, n);
        else if (sorts)
            sort_plain(x, t, begin, n);
        else
            code = argsort_plain(b, node, begin, n, places);
    }
    free(places);
    return code;
}
