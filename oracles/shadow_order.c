/* SORT and ARGSORT along the last axis: ascending, NaN last, stable. */
#include <stdlib.h>
#include <string.h>

#include "shadow_impl.h"

typedef struct place {
    double x;
    int64_t n, index;
} place;

static int by_value(const place *p, const place *q) {
    if (isnan(p->x) || isnan(q->x)) return isnan(p->x) - isnan(q->x);
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->n > q->n) - (p->n < q->n);
}

static int first_ties(const void *a, const void *b) {
    const place *p = a, *q = b;
    const int order = by_value(p, q);
    return order ? order : (p->index > q->index) - (p->index < q->index);
}

static int last_ties(const void *a, const void *b) {
    const place *p = a, *q = b;
    const int order = by_value(p, q);
    return order ? order : (p->index < q->index) - (p->index > q->index);
}

cupel_code cupel_shadow_order(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node], *from = cupel_shadow_arg(s, node, 0);
    const bool integers = s->graph->nodes[n->args[0]].kind == CUPEL_VALUE_INT;
    const int64_t row = cupel_shadow_row(s, node);
    place *places = malloc((size_t)(row + 1) * sizeof *places);
    if (!places) return cupel_fail(s->err, CUPEL_MEMORY, "no memory for %lld places", (long long)row);
    for (int64_t begin = 0; begin < t->count; begin += row) {
        for (int64_t i = 0; i < row; i++)
            places[i] = (place){
                .x = integers ? 0 : from->x[begin + i], .n = integers ? from->n[begin + i] : 0, .index = i};
        qsort(places, (size_t)row, sizeof *places,
              s->plan.fault == CUPEL_SHADOW_LAST_TIE ? last_ties : first_ties);
        for (int64_t i = 0; i < row; i++) {
            if (n->op == CUPEL_OP_ARGSORT)
                t->n[begin + i] = places[i].index;
            else
                memcpy((char *)t->data + (begin + i) * 8,
                       (const char *)from->data + (begin + places[i].index) * 8, 8);
        }
    }
    free(places);
    return CUPEL_OK;
}
