/* SCATTER_ADD: terms are added one by one, forwards or backwards, to what was there. */
#include <string.h>

#include "shadow_impl.h"

cupel_code cupel_shadow_scatter(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node];
    const cupel_shadow_tensor *indices = cupel_shadow_arg(s, node, 1), *source = cupel_shadow_arg(s, node, 2);
    const int64_t row = cupel_shadow_row(s, node), terms = cupel_shadow_row(s, n->args[1]);
    const int64_t seen = cupel_shadow_seen(s, terms);
    memcpy(t->data, cupel_shadow_arg(s, node, 0)->data, (size_t)t->count * 8);
    for (int64_t r = 0; r < t->count / row; r++) {
        for (int64_t i = 0; i < seen; i++) {
            const int64_t at = r * terms + (s->plan.order == CUPEL_SHADOW_REVERSED ? seen - 1 - i : i);
            const int64_t to = indices->n[at];
            if (to < 0 || to >= row) continue; /* not judged */
            if (n->kind == CUPEL_VALUE_INT)
                t->n[r * row + to] = (int64_t)((uint64_t)t->n[r * row + to] + (uint64_t)source->n[at]);
            else
                t->x[r * row + to] = cupel_shadow_step(s, t->x[r * row + to], source->x[at], NULL);
        }
    }
    return CUPEL_OK;
}
